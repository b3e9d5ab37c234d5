// The rest of a host, in memory and in virtual time: clock, table locks, engine, control. Nothing here waits.
#ifndef CARETAKER_TESTING_FAKES_FAKE_HOST_H_
#define CARETAKER_TESTING_FAKES_FAKE_HOST_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "maintenance/engine.h"
#include "maintenance/host_control.h"
#include "maintenance/table_locks.h"

namespace caretaker::testing {

// A clock that moves only when a test moves it.
class FakeClock : public maintenance::Clock {
 public:
  int64_t NowNs() override { return now_ns; }
  void AdvanceMs(int64_t ms) { now_ns += ms * 1'000'000; }

  int64_t now_ns = 1'000'000'000;
};

// Table locks in one thread. A lock that the test holds is busy after the whole wait has passed on the clock, unless
// the test's hook releases it first.
class FakeTableLocks : public maintenance::TableLocks {
 public:
  explicit FakeTableLocks(FakeClock* clock) : clock_(clock) {}

  absl::Status Lock(absl::string_view table_namespace, absl::string_view table_name, int64_t wait_ns,
                    maintenance::LockOutcome* outcome, uint64_t* handle) override {
    const std::string table = absl::StrCat(table_namespace, "/", table_name);
    attempts.push_back({table, wait_ns});
    if (on_lock) on_lock(table);
    if (const auto failing = failures.find(table); failing != failures.end()) return failing->second;
    *outcome = maintenance::LockOutcome::kAcquired;
    if (cancelling) {
      *outcome = maintenance::LockOutcome::kCancelled;
    } else if (held.count(table) != 0) {
      clock_->now_ns += wait_ns;
      *outcome = maintenance::LockOutcome::kBusy;
    } else {
      held.insert(table);
      *handle = ++last_handle_;
      open_[*handle] = table;
    }
    return absl::OkStatus();
  }

  absl::Status Unlock(uint64_t handle) override {
    const auto found = open_.find(handle);
    if (found == open_.end())
      return absl::FailedPreconditionError(absl::StrCat("unlock: handle ", handle, " is not held"));
    held.erase(found->second);
    open_.erase(found);
    ++unlocks;
    return absl::OkStatus();
  }

  // Locks that are held by whoever got a handle from Lock.
  size_t open() const { return open_.size(); }

  struct Attempt {
    std::string table;
    int64_t wait_ns;
  };
  std::vector<Attempt> attempts;
  uint64_t unlocks = 0;
  std::set<std::string> held;  // "<namespace>/<name>"; a test adds what another party holds.
  std::map<std::string, absl::Status> failures;
  bool cancelling = false;
  std::function<void(const std::string& table)> on_lock;  // Before the lock is looked at.

 private:
  FakeClock* const clock_;
  uint64_t last_handle_ = 0;
  std::map<uint64_t, std::string> open_;
};

// An engine that keeps what it was given, and changes every table to the next version unless told otherwise.
class FakeEngine : public maintenance::Engine {
 public:
  struct Operation {
    std::string table;
    std::string location;
    std::string incarnation;
    uint64_t version;
    std::string value;
    maintenance::OperationCall call;
  };

  absl::Status Maintain(const maintenance::OperationCall& call, const maintenance::TableGeneration& generation,
                        maintenance::OperationResult* result) override {
    const std::string table = absl::StrCat(generation.table_namespace, "/", generation.table_name);
    operations.push_back({table, std::string(generation.location), std::string(generation.incarnation.value_or("")),
                          generation.version, std::string(generation.value), call});
    if (on_maintain) on_maintain(operations.back());
    if (const auto failing = failures.find(table); failing != failures.end()) return failing->second;
    if (changes) result->new_version = new_version.value_or(generation.version + 1);
    return absl::OkStatus();
  }

  std::vector<std::string> tables() const {
    std::vector<std::string> names;
    for (const Operation& operation : operations) names.push_back(operation.table);
    return names;
  }

  std::vector<Operation> operations;
  std::map<std::string, absl::Status> failures;
  bool changes = true;
  std::optional<uint64_t> new_version;
  std::function<void(const Operation&)> on_maintain;
};

// Answers "go on" until a test says otherwise, by state or from the n-th question on (from 1).
class FakeControl : public maintenance::HostControl {
 public:
  absl::Status IsCancelled(bool* cancelled) override {
    *cancelled = ++cancel_questions >= cancelled_from;
    return cancel_answer;
  }
  absl::Status MayAct(bool* may_act, std::optional<uint64_t>* fence_token_out) override {
    *may_act = ++act_questions < fenced_from;
    *fence_token_out = fence_token;
    return act_answer;
  }

  uint64_t cancel_questions = 0;
  uint64_t act_questions = 0;
  uint64_t cancelled_from = UINT64_MAX;
  uint64_t fenced_from = UINT64_MAX;
  std::optional<uint64_t> fence_token;
  absl::Status cancel_answer;
  absl::Status act_answer;
};

}  // namespace caretaker::testing

#endif  // CARETAKER_TESTING_FAKES_FAKE_HOST_H_
