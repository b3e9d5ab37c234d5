// What is left of the bounds of one tick: operations, wall clock, and waiting for locks.
//
// The first candidate of a tick is taken whatever the budgets say, so that every tick makes progress. A spent lock
// budget never ends a tick: it only stops waiting. Thread-safety: one thread at a time.
#ifndef CARETAKER_MAINTENANCE_TICK_BUDGET_H_
#define CARETAKER_MAINTENANCE_TICK_BUDGET_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "maintenance/host_control.h"
#include "maintenance/maintenance_limits.h"

namespace caretaker::maintenance {

class TickBudget {
 public:
  // What a tick's time is cut at, some 36 years: whatever a clock says, sums and differences do not overflow.
  static constexpr int64_t kElapsedNsMax = int64_t{1} << 60;
  // A metastore call is given at least this long, so that a tick over its budget can finish the table that it is at.
  static constexpr int64_t kMetaStoreCallNsMin = 1'000'000'000;

  // Borrows `clock` and `limits`; the tick begins now.
  TickBudget(Clock* clock, const MaintenanceLimits* limits)
      : clock_(clock), limits_(limits), started_ns_(clock->NowNs()) {}

  // Nanoseconds since the tick began, 0..kElapsedNsMax. Never goes back, whatever the host's clock does.
  int64_t ElapsedNs() {
    int64_t since_ns = 0;
    if (__builtin_sub_overflow(clock_->NowNs(), started_ns_, &since_ns)) return elapsed_ns_;
    return elapsed_ns_ = std::max(elapsed_ns_, std::min(since_ns, kElapsedNsMax));
  }

  // The clock's own time at the last ElapsedNs, without asking it again.
  int64_t LastNowNs() const {
    int64_t now_ns = 0;
    return __builtin_add_overflow(started_ns_, elapsed_ns_, &now_ns) ? started_ns_ : now_ns;
  }

  // Nanoseconds left of the tick, at least 0; absent: the tick has no such bound.
  std::optional<int64_t> TimeLeftNs() {
    const int64_t budget_ns = limits_->value(Setting::kTickBudgetMs) * kNsPerMs;
    if (budget_ns == 0) return std::nullopt;
    return std::max<int64_t>(0, budget_ns - ElapsedNs());
  }
  bool TimeSpent() { return TimeLeftNs() == 0; }
  int64_t OverrunNs() {
    const int64_t budget_ns = limits_->value(Setting::kTickBudgetMs) * kNsPerMs;
    return budget_ns == 0 ? 0 : std::max<int64_t>(0, ElapsedNs() - budget_ns);
  }

  std::optional<int64_t> MetaStoreCallNs() {
    std::optional<int64_t> left = TimeLeftNs();
    if (left.has_value()) left = std::max(*left, kMetaStoreCallNsMin);
    return left;
  }

  // The deadline of one operation. A tick may outlast its own budget by one of these.
  std::optional<int64_t> OperationNs() const {
    const int64_t timeout_ns = limits_->value(Setting::kTableTimeoutMs) * kNsPerMs;
    if (timeout_ns == 0) return std::nullopt;
    return timeout_ns;
  }

  // How long the next lock may be waited for; 0: try.
  int64_t LockWaitNs() {
    const int64_t wait_ns = std::min(limits_->value(Setting::kLockWaitMs) * kNsPerMs,
                                     limits_->value(Setting::kLockBudgetMs) * kNsPerMs - lock_wait_ns_);
    return std::max<int64_t>(0, std::min(wait_ns, TimeLeftNs().value_or(wait_ns)));
  }
  void ChargeLockWait(int64_t ns) { lock_wait_ns_ += ns; }
  int64_t lock_wait_ns() const { return lock_wait_ns_; }

  bool OperationsSpent() const { return operations_ >= limits_->max_operations(); }
  void ChargeOperation() { ++operations_; }

 private:
  static constexpr int64_t kNsPerMs = 1'000'000;

  Clock* const clock_;
  const MaintenanceLimits* const limits_;
  const int64_t started_ns_;
  int64_t elapsed_ns_ = 0;
  int64_t lock_wait_ns_ = 0;
  uint64_t operations_ = 0;
};

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_TICK_BUDGET_H_
