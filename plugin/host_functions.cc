#include "plugin/host_functions.h"

#include <chrono>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/boundary.h"
#include "plugin/host_call.h"
#include "registry/contract_violation.h"

namespace caretaker::plugin {
namespace {

using boundary::Sized;
using boundary::ToBytes;
using boundary::ToView;

maintenance_call ToCall(const std::optional<int64_t>& remaining_ns, const std::optional<uint64_t>& fence_token) {
  auto call = Sized<maintenance_call>();
  call.remaining_ns = remaining_ns.value_or(MAINTENANCE_NO_LIMIT);
  call.fence_token = fence_token.value_or(0);
  call.has_fence_token = fence_token.has_value() ? 1 : 0;
  return call;
}

maintenance_call ToCall(const registry::MetaStoreCall& call) { return ToCall(call.remaining_ns, call.fence_token); }

// Copies an optional table; false when it is given and too small.
template <typename Table>
bool CopyOptional(const Table* from, Table* to) {
  *to = Table();
  return from == nullptr || boundary::ReadStruct(from, sizeof(Table), to);
}

}  // namespace

absl::Status HostTables::CopyFrom(const maintenance_host* host) {
  maintenance_host tables;
  if (!boundary::ReadStruct(host, sizeof(maintenance_host), &tables)) {
    return absl::InvalidArgumentError("host: NULL or smaller than maintenance_host; give the host's tables");
  }
  const auto missing = [](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("host.", what, ": missing or too small; set it, and its struct_size to sizeof"));
  };
  if (!boundary::ReadStruct(tables.metastore, sizeof(metastore), &metastore)) return missing("metastore");
  if (metastore.scan_page == nullptr) return missing("metastore.scan_page");
  if (metastore.get == nullptr) return missing("metastore.get");
  if (!boundary::ReadStruct(tables.locks, sizeof(locks), &locks)) return missing("locks");
  if (locks.lock == nullptr) return missing("locks.lock");
  if (locks.unlock == nullptr) return missing("locks.unlock");
  if (!boundary::ReadStruct(tables.engine, sizeof(engine), &engine)) return missing("engine");
  if (engine.maintain == nullptr) return missing("engine.maintain");
  if (!CopyOptional(tables.control, &control)) return missing("control");
  if (!CopyOptional(tables.clock, &clock)) return missing("clock");
  if (tables.clock != nullptr && clock.now_ns == nullptr) return missing("clock.now_ns");
  if (!CopyOptional(tables.log, &log)) return missing("log");
  if (tables.log != nullptr && log.event == nullptr) return missing("log.event");
  if (!CopyOptional(tables.codec, &codec)) return missing("codec");
  if (tables.codec != nullptr && codec.decode == nullptr) return missing("codec.decode");
  if (tables.codec != nullptr && codec.encode_version == nullptr) return missing("codec.encode_version");
  return absl::OkStatus();
}

// ---------------------------------------------------------------- sinks

// The C functions that the host calls back.
struct MetaStoreSinks {
  static int32_t Entry(void* context, maintenance_bytes key, maintenance_bytes value) {
    auto* const self = static_cast<HostMetaStore*>(context);
    if (!self->gate_.Enter() || self->page_sink_ == nullptr) return MAINTENANCE_ENTRY_REFUSED;
    if (!self->Check(key) || !self->Check(value)) return MAINTENANCE_ENTRY_REFUSED;
    try {
      switch (self->page_sink_->Entry(ToView(key), ToView(value))) {
        case registry::PageEntryAnswer::kTaken:
          return MAINTENANCE_ENTRY_TAKEN;
        case registry::PageEntryAnswer::kTakenAndStop:
          return MAINTENANCE_ENTRY_TAKEN_AND_STOP;
        case registry::PageEntryAnswer::kRefused:
          break;
      }
    } catch (...) {
      self->sink_out_of_memory_ = true;
    }
    return MAINTENANCE_ENTRY_REFUSED;
  }

  static void ContinueAfter(void* context, maintenance_bytes continuation) {
    auto* const self = static_cast<HostMetaStore*>(context);
    if (!self->gate_.Enter() || self->page_sink_ == nullptr || !self->Check(continuation)) return;
    try {
      self->page_sink_->ContinueAfter(ToView(continuation));
    } catch (...) {
      self->sink_out_of_memory_ = true;
    }
  }

  static void EndOfPrefix(void* context) {
    auto* const self = static_cast<HostMetaStore*>(context);
    if (!self->gate_.Enter() || self->page_sink_ == nullptr) return;
    try {
      self->page_sink_->EndOfPrefix();
    } catch (...) {
      self->sink_out_of_memory_ = true;
    }
  }

  static int32_t Value(void* context, maintenance_bytes value) {
    auto* const self = static_cast<HostMetaStore*>(context);
    if (!self->gate_.Enter() || self->value_sink_ == nullptr) return MAINTENANCE_INTERNAL;
    if (!self->Check(value)) return MAINTENANCE_INVALID_ARGUMENT;
    try {
      return boundary::ToCode(self->value_sink_->Value(ToView(value)));
    } catch (...) {
      self->sink_out_of_memory_ = true;
    }
    return MAINTENANCE_RESOURCE_EXHAUSTED;
  }
};

// ---------------------------------------------------------------- metastore

bool HostMetaStore::Check(maintenance_bytes bytes) {
  if (boundary::IsValid(bytes)) return true;
  gate_.Note(SinkMisuse::kBytesWithoutData);
  return false;
}

absl::Status HostMetaStore::ScanPage(const registry::MetaStoreCall& call, absl::string_view prefix,
                                     absl::string_view continuation, uint32_t limit, registry::PageSink& sink) {
  auto plugin_sink = Sized<maintenance_page_sink>();
  plugin_sink.context = this;
  plugin_sink.entry = &MetaStoreSinks::Entry;
  plugin_sink.continue_after = &MetaStoreSinks::ContinueAfter;
  plugin_sink.end_of_prefix = &MetaStoreSinks::EndOfPrefix;
  const maintenance_call host_call = ToCall(call);
  page_sink_ = &sink;
  sink_out_of_memory_ = false;
  const absl::Status scanned = [&] {
    const OpenGate open(&gate_);
    return CallHost("scan_page", [&](maintenance_error* error) {
      return host_.scan_page(host_.context, &host_call, ToBytes(prefix), ToBytes(continuation), limit, &plugin_sink,
                             error);
    });
  }();
  page_sink_ = nullptr;
  if (sink_out_of_memory_) throw std::bad_alloc();
  const absl::Status misused = gate_.TakeViolation("scan_page");
  return misused.ok() ? scanned : misused;
}

absl::Status HostMetaStore::Get(const registry::MetaStoreCall& call, absl::string_view key, registry::ValueSink& sink) {
  auto plugin_sink = Sized<maintenance_bytes_sink>();
  plugin_sink.context = this;
  plugin_sink.bytes = &MetaStoreSinks::Value;
  const maintenance_call host_call = ToCall(call);
  value_sink_ = &sink;
  sink_out_of_memory_ = false;
  const absl::Status read = [&] {
    const OpenGate open(&gate_);
    return CallHost("get", [&](maintenance_error* error) {
      return host_.get(host_.context, &host_call, ToBytes(key), &plugin_sink, error);
    });
  }();
  value_sink_ = nullptr;
  if (sink_out_of_memory_) throw std::bad_alloc();
  const absl::Status misused = gate_.TakeViolation("get");
  return misused.ok() ? read : misused;
}

absl::Status HostMetaStore::CompareAndSet(const registry::MetaStoreCall& call, absl::string_view key,
                                          absl::string_view expected, absl::string_view desired,
                                          registry::CompareAndSetOutcome* outcome) {
  const maintenance_call host_call = ToCall(call);
  int32_t answer = MAINTENANCE_COMPARE_UNSET;
  const absl::Status written = CallHost("compare_and_set", [&](maintenance_error* error) {
    return host_.compare_and_set(host_.context, &host_call, ToBytes(key), ToBytes(expected), ToBytes(desired), &answer,
                                 error);
  });
  if (!written.ok()) return written;
  switch (answer) {
    case MAINTENANCE_COMPARE_SWAPPED:
      *outcome = registry::CompareAndSetOutcome::kSwapped;
      return absl::OkStatus();
    case MAINTENANCE_COMPARE_MISMATCH:
      *outcome = registry::CompareAndSetOutcome::kMismatch;
      return absl::OkStatus();
    case MAINTENANCE_COMPARE_FENCED:
      *outcome = registry::CompareAndSetOutcome::kFenced;
      return absl::OkStatus();
    case MAINTENANCE_COMPARE_INDETERMINATE:
      *outcome = registry::CompareAndSetOutcome::kIndeterminate;
      return absl::OkStatus();
    default:
      return NoOutcome("compare_and_set", answer);
  }
}

// ---------------------------------------------------------------- locks and engine

absl::Status HostLocks::Lock(absl::string_view table_namespace, absl::string_view table_name, int64_t wait_ns,
                             maintenance::LockOutcome* outcome, uint64_t* handle) {
  const maintenance_call host_call = ToCall(wait_ns, std::nullopt);
  int32_t answer = MAINTENANCE_LOCK_UNSET;
  const absl::Status locked = CallHost("lock", [&](maintenance_error* error) {
    return host_.lock(host_.context, &host_call, ToBytes(table_namespace), ToBytes(table_name), wait_ns, handle,
                      &answer, error);
  });
  if (!locked.ok()) return locked;
  switch (answer) {
    case MAINTENANCE_LOCK_ACQUIRED:
      *outcome = maintenance::LockOutcome::kAcquired;
      return absl::OkStatus();
    case MAINTENANCE_LOCK_BUSY:
      *outcome = maintenance::LockOutcome::kBusy;
      return absl::OkStatus();
    case MAINTENANCE_LOCK_CANCELLED:
      *outcome = maintenance::LockOutcome::kCancelled;
      return absl::OkStatus();
    default:
      return NoOutcome("lock", answer);
  }
}

absl::Status HostLocks::Unlock(uint64_t handle) {
  return CallHost("unlock", [&](maintenance_error*) {
    host_.unlock(host_.context, handle);
    return MAINTENANCE_OK;
  });
}

absl::Status HostEngine::Maintain(const maintenance::OperationCall& call,
                                  const maintenance::TableGeneration& generation,
                                  maintenance::OperationResult* result) {
  const maintenance_call host_call = ToCall(call.remaining_ns, call.fence_token);
  auto host_generation = Sized<maintenance_generation>();
  host_generation.table_namespace = ToBytes(generation.table_namespace);
  host_generation.table_name = ToBytes(generation.table_name);
  host_generation.location = ToBytes(generation.location);
  host_generation.engine = ToBytes(generation.engine);
  host_generation.incarnation = ToBytes(generation.incarnation.value_or(absl::string_view()));
  host_generation.has_incarnation = generation.incarnation.has_value() ? 1 : 0;
  host_generation.value = ToBytes(generation.value);
  host_generation.version = generation.version;
  auto answer = Sized<maintenance_operation_result>();
  const absl::Status maintained = CallHost("maintain", [&](maintenance_error* error) {
    return host_.maintain(host_.context, &host_call, &host_generation, &answer, error);
  });
  if (!maintained.ok()) return maintained;
  switch (answer.outcome) {
    case MAINTENANCE_OPERATION_UNCHANGED:
      result->new_version.reset();
      return absl::OkStatus();
    case MAINTENANCE_OPERATION_CHANGED:
      result->new_version = answer.version;
      return absl::OkStatus();
    default:
      return NoOutcome("maintain", answer.outcome);
  }
}

// ---------------------------------------------------------------- control and clock

absl::Status HostControlFunctions::IsCancelled(bool* cancelled) {
  *cancelled = false;
  if (host_.is_cancelled == nullptr) return absl::OkStatus();
  int32_t answer = MAINTENANCE_ANSWER_UNSET;
  const absl::Status asked = CallHost(
      "is_cancelled", [&](maintenance_error* error) { return host_.is_cancelled(host_.context, &answer, error); });
  if (!asked.ok()) return asked;
  if (answer != MAINTENANCE_ANSWER_YES && answer != MAINTENANCE_ANSWER_NO) return NoOutcome("is_cancelled", answer);
  *cancelled = answer == MAINTENANCE_ANSWER_YES;
  return absl::OkStatus();
}

absl::Status HostControlFunctions::MayAct(bool* may_act, std::optional<uint64_t>* fence_token) {
  *may_act = true;
  if (host_.may_act == nullptr) return absl::OkStatus();
  int32_t answer = MAINTENANCE_ANSWER_UNSET;
  uint64_t host_token = 0;
  const absl::Status asked = CallHost(
      "may_act", [&](maintenance_error* error) { return host_.may_act(host_.context, &answer, &host_token, error); });
  *may_act = false;
  if (!asked.ok()) return asked;
  if (answer != MAINTENANCE_ANSWER_YES && answer != MAINTENANCE_ANSWER_NO) return NoOutcome("may_act", answer);
  *may_act = answer == MAINTENANCE_ANSWER_YES;
  // 0 stands for none: a host without leases has nothing to give.
  if (*may_act && host_token != 0) *fence_token = host_token;
  return absl::OkStatus();
}

int64_t HostClock::NowNs() {
  if (host_.now_ns == nullptr) {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  try {
    last_ns_.store(host_.now_ns(host_.context), std::memory_order_relaxed);
  } catch (...) {
    // Time stands still; the tick is bounded by its other limits.
  }
  return last_ns_.load(std::memory_order_relaxed);
}

}  // namespace caretaker::plugin
