// What a walk over the registry amounts to, cycle by cycle, and whether it still goes on.
//
// A cycle ends where the prefix does. It is short when it visited less than half the tables of the last complete one: a
// metastore that loses keys looks like that. It is restarted when the metastore did not accept its continuation. The
// walk is stalled when kStalledTicks ticks in a row ended without an outcome and without a new continuation, though
// neither cancel nor the fence held them back and the cycle did not end.
//
// Thread-safety: one thread at a time.
#ifndef CARETAKER_MAINTENANCE_CYCLE_ACCOUNTING_H_
#define CARETAKER_MAINTENANCE_CYCLE_ACCOUNTING_H_

#include <cstdint>
#include <optional>

namespace caretaker::maintenance {

// Times are the host's monotonic clock's, in nanoseconds.
struct CycleStatus {
  uint64_t number = 1;                // Of the cycle that the next tick works in.
  uint64_t visited = 0;               // Tables that ended in an outcome in it.
  std::optional<int64_t> started_ns;  // When its first tick began; absent before that.
  uint64_t completed = 0;             // Cycles completed so far.
  uint64_t last_visited = 0;          // Tables visited in the last complete cycle.
  int64_t last_duration_ns = 0;       // From the begin of its first tick to the end of its last one.
  uint64_t short_cycles = 0;
  uint64_t restarted = 0;
  uint64_t ticks_without_progress = 0;  // In a row, up to now.
};

class CycleAccounting {
 public:
  static constexpr uint64_t kStalledTicks = 3;

  const CycleStatus& status() const { return status_; }

  void TickBegins(int64_t now_ns) {
    if (!status_.started_ns.has_value()) status_.started_ns = now_ns;
  }

  struct TickEnd {
    uint64_t visited = 0;  // Outcomes of the tick.
    bool continuation_moved = false;
    bool held_back = false;  // By cancel or the fence.
    bool restarted = false;
    bool completed = false;  // The last table before the end of the prefix is finished.
  };

  // Accounts for a tick that has ended. Returns whether it ended a short cycle.
  bool TickEnds(const TickEnd& tick, int64_t now_ns);

  // How many ticks in a row made no progress, when they are enough to be stalled; otherwise 0.
  uint64_t StalledTicks() const {
    return status_.ticks_without_progress >= kStalledTicks ? status_.ticks_without_progress : 0;
  }

 private:
  void NextCycle() {
    ++status_.number;
    status_.visited = 0;
    status_.started_ns.reset();
  }

  CycleStatus status_;
};

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_CYCLE_ACCOUNTING_H_
