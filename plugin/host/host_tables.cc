#include "plugin/host/host_tables.h"

#include <exception>
#include <new>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/boundary.h"

namespace caretaker::host {
namespace {

using boundary::ToBytes;
using boundary::ToView;

HostObjects& Objects(void* context) { return *static_cast<HostObjects*>(context); }

// Without memory of its own: there may be none.
int32_t WriteException(int32_t code, const char* what, maintenance_error* plugin_error) {
  boundary::WriteError(code, what, plugin_error);
  return code;
}

// Runs the C++ behind one function; nothing but a status leaves it.
template <typename Body>
int32_t Serve(maintenance_error* plugin_error, const Body& body) noexcept {
  try {
    const absl::Status status = body();
    boundary::WriteError(status, plugin_error);
    return boundary::ToCode(status);
  } catch (const std::bad_alloc&) {
    return WriteException(MAINTENANCE_RESOURCE_EXHAUSTED, "out of memory in the host", plugin_error);
  } catch (const std::exception& exception) {
    return WriteException(MAINTENANCE_INTERNAL, exception.what(), plugin_error);
  } catch (...) {
    return WriteException(MAINTENANCE_INTERNAL, "an exception in the host that is no std::exception", plugin_error);
  }
}

std::optional<int64_t> RemainingNs(const maintenance_call& call) {
  if (call.remaining_ns == MAINTENANCE_NO_LIMIT) return std::nullopt;
  return call.remaining_ns;
}

std::optional<uint64_t> FenceToken(const maintenance_call& call) {
  if (call.has_fence_token == 0) return std::nullopt;
  return call.fence_token;
}

registry::MetaStoreCall ToCall(const maintenance_call* call) { return {RemainingNs(*call), FenceToken(*call)}; }

class PluginPageSink final : public registry::PageSink {
 public:
  explicit PluginPageSink(const maintenance_page_sink* sink) : sink_(*sink) {}

  registry::PageEntryAnswer Entry(absl::string_view key, absl::string_view value) override {
    switch (sink_.entry(sink_.context, ToBytes(key), ToBytes(value))) {
      case MAINTENANCE_ENTRY_TAKEN:
        return registry::PageEntryAnswer::kTaken;
      case MAINTENANCE_ENTRY_TAKEN_AND_STOP:
        return registry::PageEntryAnswer::kTakenAndStop;
      default:
        return registry::PageEntryAnswer::kRefused;
    }
  }
  void ContinueAfter(absl::string_view continuation) override {
    sink_.continue_after(sink_.context, ToBytes(continuation));
  }
  void EndOfPrefix() override { sink_.end_of_prefix(sink_.context); }

 private:
  const maintenance_page_sink& sink_;
};

class PluginValueSink final : public registry::ValueSink {
 public:
  explicit PluginValueSink(const maintenance_bytes_sink* sink) : sink_(*sink) {}

  absl::Status Value(absl::string_view value) override {
    return boundary::ToStatus(sink_.bytes(sink_.context, ToBytes(value)), nullptr);
  }

 private:
  const maintenance_bytes_sink& sink_;
};

int32_t ScanPage(void* context, const maintenance_call* call, maintenance_bytes prefix, maintenance_bytes continuation,
                 uint32_t limit, const maintenance_page_sink* plugin_sink, maintenance_error* plugin_error) {
  return Serve(plugin_error, [&] {
    PluginPageSink sink(plugin_sink);
    return Objects(context).metastore->ScanPage(ToCall(call), ToView(prefix), ToView(continuation), limit, sink);
  });
}

int32_t Get(void* context, const maintenance_call* call, maintenance_bytes key,
            const maintenance_bytes_sink* plugin_sink, maintenance_error* plugin_error) {
  return Serve(plugin_error, [&] {
    PluginValueSink sink(plugin_sink);
    return Objects(context).metastore->Get(ToCall(call), ToView(key), sink);
  });
}

int32_t CompareAndSet(void* context, const maintenance_call* call, maintenance_bytes key, maintenance_bytes expected,
                      maintenance_bytes desired, int32_t* plugin_outcome, maintenance_error* plugin_error) {
  return Serve(plugin_error, [&] {
    registry::CompareAndSetOutcome outcome = registry::CompareAndSetOutcome::kIndeterminate;
    const absl::Status status = Objects(context).metastore->CompareAndSet(ToCall(call), ToView(key), ToView(expected),
                                                                          ToView(desired), &outcome);
    if (!status.ok()) return status;
    switch (outcome) {
      case registry::CompareAndSetOutcome::kSwapped:
        *plugin_outcome = MAINTENANCE_COMPARE_SWAPPED;
        break;
      case registry::CompareAndSetOutcome::kMismatch:
        *plugin_outcome = MAINTENANCE_COMPARE_MISMATCH;
        break;
      case registry::CompareAndSetOutcome::kFenced:
        *plugin_outcome = MAINTENANCE_COMPARE_FENCED;
        break;
      case registry::CompareAndSetOutcome::kIndeterminate:
        *plugin_outcome = MAINTENANCE_COMPARE_INDETERMINATE;
        break;
    }
    return status;
  });
}

int32_t Lock(void* context, const maintenance_call*, maintenance_bytes table_namespace, maintenance_bytes table_name,
             int64_t wait_ns, uint64_t* plugin_handle, int32_t* plugin_outcome, maintenance_error* plugin_error) {
  return Serve(plugin_error, [&] {
    maintenance::LockOutcome outcome = maintenance::LockOutcome::kBusy;
    const absl::Status status =
        Objects(context).locks->Lock(ToView(table_namespace), ToView(table_name), wait_ns, &outcome, plugin_handle);
    if (!status.ok()) return status;
    switch (outcome) {
      case maintenance::LockOutcome::kAcquired:
        *plugin_outcome = MAINTENANCE_LOCK_ACQUIRED;
        break;
      case maintenance::LockOutcome::kBusy:
        *plugin_outcome = MAINTENANCE_LOCK_BUSY;
        break;
      case maintenance::LockOutcome::kCancelled:
        *plugin_outcome = MAINTENANCE_LOCK_CANCELLED;
        break;
    }
    return status;
  });
}

void Unlock(void* context, uint64_t handle) {
  Serve(nullptr, [&] { return Objects(context).locks->Unlock(handle); });
}

int32_t Maintain(void* context, const maintenance_call* call, const maintenance_generation* generation,
                 maintenance_operation_result* plugin_result, maintenance_error* plugin_error) {
  return Serve(plugin_error, [&] {
    maintenance::TableGeneration table;
    table.table_namespace = ToView(generation->table_namespace);
    table.table_name = ToView(generation->table_name);
    table.location = ToView(generation->location);
    table.engine = ToView(generation->engine);
    if (generation->has_incarnation != 0) table.incarnation = ToView(generation->incarnation);
    table.version = generation->version;
    table.value = ToView(generation->value);
    maintenance::OperationResult result;
    const absl::Status status =
        Objects(context).engine->Maintain({RemainingNs(*call), FenceToken(*call)}, table, &result);
    if (!status.ok()) return status;
    plugin_result->version = result.new_version.value_or(0);
    plugin_result->outcome =
        result.new_version.has_value() ? MAINTENANCE_OPERATION_CHANGED : MAINTENANCE_OPERATION_UNCHANGED;
    return status;
  });
}

int32_t IsCancelled(void* context, int32_t* plugin_answer, maintenance_error* plugin_error) {
  return Serve(plugin_error, [&] {
    bool cancelled = false;
    const absl::Status status = Objects(context).control->IsCancelled(&cancelled);
    *plugin_answer = cancelled ? MAINTENANCE_ANSWER_YES : MAINTENANCE_ANSWER_NO;
    return status;
  });
}

int32_t MayAct(void* context, int32_t* plugin_answer, uint64_t* plugin_fence_token, maintenance_error* plugin_error) {
  return Serve(plugin_error, [&] {
    bool may_act = false;
    std::optional<uint64_t> fence_token;
    const absl::Status status = Objects(context).control->MayAct(&may_act, &fence_token);
    *plugin_fence_token = fence_token.value_or(0);
    *plugin_answer = may_act ? MAINTENANCE_ANSWER_YES : MAINTENANCE_ANSWER_NO;
    return status;
  });
}

void Event(void* context, const maintenance_event* event) {
  Serve(nullptr, [&] {
    Objects(context).log->Event(*event);
    return absl::OkStatus();
  });
}

}  // namespace

HostTables::HostTables(const HostObjects& objects)
    : objects_(objects),
      metastore_(boundary::Sized<maintenance_metastore>()),
      locks_(boundary::Sized<maintenance_locks>()),
      engine_(boundary::Sized<maintenance_engine>()),
      control_(boundary::Sized<maintenance_control>()),
      log_(boundary::Sized<maintenance_log>()),
      host_(boundary::Sized<maintenance_host>()) {
  metastore_.context = locks_.context = engine_.context = control_.context = log_.context = &objects_;
  metastore_.scan_page = &ScanPage;
  metastore_.get = &Get;
  metastore_.compare_and_set = &CompareAndSet;
  locks_.lock = &Lock;
  locks_.unlock = &Unlock;
  engine_.maintain = &Maintain;
  control_.is_cancelled = &IsCancelled;
  control_.may_act = &MayAct;
  log_.event = &Event;
  // What is missing is refused by maintenance_create.
  if (objects_.metastore != nullptr) host_.metastore = &metastore_;
  if (objects_.locks != nullptr) host_.locks = &locks_;
  if (objects_.engine != nullptr) host_.engine = &engine_;
  if (objects_.control != nullptr) host_.control = &control_;
  if (objects_.log != nullptr) host_.log = &log_;
}

}  // namespace caretaker::host
