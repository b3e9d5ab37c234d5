#include "testing/host/drill.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "registry/table_ref.h"

namespace caretaker::reference_host {
namespace {

using maintenance::Outcome;
using registry::CompareAndSetOutcome;
using registry::MetaStoreCall;

constexpr Outcome kPossible[] = {
    Outcome::kConflict,   Outcome::kPublishUnknown, Outcome::kPublishFailed,  Outcome::kGone,
    Outcome::kDropping,   Outcome::kCorrupt,        Outcome::kLockBusy,       Outcome::kLockFailed,
    Outcome::kReadFailed, Outcome::kEngineFailed,   Outcome::kEngineTimedOut, Outcome::kInterrupted,
    Outcome::kFenced,
};

absl::Status Drilled(absl::StatusCode code) { return absl::Status(code, "a drill (--fault)"); }

// Of a table that is to fail in its publication the engine says that it has a new version, or there would be none.
bool IsOfPublication(Outcome outcome) {
  return outcome == Outcome::kConflict || outcome == Outcome::kPublishUnknown || outcome == Outcome::kPublishFailed ||
         outcome == Outcome::kFenced;
}

class DrilledMetaStore final : public registry::MetaStore {
 public:
  DrilledMetaStore(registry::MetaStore* store, const Drill* drill) : store_(*store), drill_(*drill) {}

  absl::Status ScanPage(const MetaStoreCall& call, absl::string_view prefix, absl::string_view continuation,
                        uint32_t limit, registry::PageSink& sink) override {
    return store_.ScanPage(call, prefix, continuation, limit, sink);
  }

  absl::Status Get(const MetaStoreCall& call, absl::string_view key, registry::ValueSink& sink) override {
    if (!absl::StartsWith(key, registry::kDropMarkerPrefix)) {
      if (drill_.Has(key, Outcome::kGone)) return absl::NotFoundError("");
      if (drill_.Has(key, Outcome::kReadFailed)) return Drilled(absl::StatusCode::kUnavailable);
      if (drill_.Has(key, Outcome::kCorrupt)) return sink.Value("a drill (--fault)");
    } else if (drill_.Has(absl::StrCat(registry::kTablePrefix, key.substr(registry::kDropMarkerPrefix.size())),
                          Outcome::kDropping)) {
      return sink.Value("");
    }
    return store_.Get(call, key, sink);
  }

  absl::Status CompareAndSet(const MetaStoreCall& call, absl::string_view key, absl::string_view expected,
                             absl::string_view desired, CompareAndSetOutcome* outcome) override {
    const Drill::Fault* const fault = drill_.Find(key);
    if (fault == nullptr || !IsOfPublication(fault->outcome)) {
      return store_.CompareAndSet(call, key, expected, desired, outcome);
    }
    if (fault->outcome == Outcome::kPublishFailed) return Drilled(absl::StatusCode::kUnavailable);
    *outcome = fault->outcome == Outcome::kConflict ? CompareAndSetOutcome::kMismatch
               : fault->outcome == Outcome::kFenced ? CompareAndSetOutcome::kFenced
                                                    : CompareAndSetOutcome::kIndeterminate;
    return absl::OkStatus();
  }

 private:
  registry::MetaStore& store_;
  const Drill& drill_;
};

class DrilledLocks final : public maintenance::TableLocks {
 public:
  DrilledLocks(maintenance::TableLocks* locks, const Drill* drill) : locks_(*locks), drill_(*drill) {}

  absl::Status Lock(absl::string_view table_namespace, absl::string_view table_name, int64_t wait_ns,
                    maintenance::LockOutcome* outcome, uint64_t* handle) override {
    const std::string key = registry::TableKey({table_namespace, table_name});
    if (drill_.Has(key, Outcome::kLockFailed)) return Drilled(absl::StatusCode::kUnavailable);
    if (!drill_.Has(key, Outcome::kLockBusy)) return locks_.Lock(table_namespace, table_name, wait_ns, outcome, handle);
    *outcome = maintenance::LockOutcome::kBusy;
    return absl::OkStatus();
  }
  absl::Status Unlock(uint64_t handle) override { return locks_.Unlock(handle); }

 private:
  maintenance::TableLocks& locks_;
  const Drill& drill_;
};

class DrilledEngine final : public maintenance::Engine {
 public:
  DrilledEngine(maintenance::Engine* engine, const Drill* drill) : engine_(*engine), drill_(*drill) {}

  absl::Status Maintain(const maintenance::OperationCall& call, const maintenance::TableGeneration& generation,
                        maintenance::OperationResult* result) override {
    const Drill::Fault* const fault =
        drill_.Find(registry::TableKey({generation.table_namespace, generation.table_name}));
    if (fault == nullptr) return engine_.Maintain(call, generation, result);
    if (fault->outcome == Outcome::kEngineFailed) return Drilled(absl::StatusCode::kInternal);
    if (fault->outcome == Outcome::kEngineTimedOut) return Drilled(absl::StatusCode::kDeadlineExceeded);
    if (fault->outcome == Outcome::kInterrupted) return Drilled(absl::StatusCode::kCancelled);
    if (!IsOfPublication(fault->outcome) || generation.version == UINT64_MAX) {
      return engine_.Maintain(call, generation, result);
    }
    result->new_version = generation.version + 1;
    return absl::OkStatus();
  }

 private:
  maintenance::Engine& engine_;
  const Drill& drill_;
};

}  // namespace

absl::StatusOr<Drill> Drill::Parse(absl::string_view text) {
  Drill drill;
  for (const absl::string_view word : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(word, absl::MaxSplits('@', 1));
    const auto* const found = std::find_if(std::begin(kPossible), std::end(kPossible), [&](Outcome outcome) {
      return maintenance::OutcomeName(outcome) == parts.first;
    });
    if (found == std::end(kPossible)) {
      std::string names;
      for (const Outcome outcome : kPossible) absl::StrAppend(&names, " ", maintenance::OutcomeName(outcome));
      return absl::InvalidArgumentError(absl::StrCat("--fault: ", registry::Printable(parts.first),
                                                     " is no outcome that a drill has, allowed are", names,
                                                     "; write OUTCOME or OUTCOME@TEXT"));
    }
    drill.faults_.push_back({*found, std::string(parts.second)});
    if (drill.faults_.size() > kFaultsMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("--fault: too many, allowed ", kFaultsMax, "; say with @TEXT which tables are meant"));
    }
  }
  return drill;
}

const Drill::Fault* Drill::Find(absl::string_view key) const {
  for (const Fault& fault : faults_) {
    if (absl::StrContains(key, fault.text)) return &fault;
  }
  return nullptr;
}

bool Drill::Has(absl::string_view key, Outcome outcome) const {
  const Fault* const fault = Find(key);
  return fault != nullptr && fault->outcome == outcome;
}

std::unique_ptr<registry::MetaStore> Drill::Wrap(registry::MetaStore* store) const {
  return std::make_unique<DrilledMetaStore>(store, this);
}
std::unique_ptr<maintenance::TableLocks> Drill::Wrap(maintenance::TableLocks* locks) const {
  return std::make_unique<DrilledLocks>(locks, this);
}
std::unique_ptr<maintenance::Engine> Drill::Wrap(maintenance::Engine* engine) const {
  return std::make_unique<DrilledEngine>(engine, this);
}

}  // namespace caretaker::reference_host
