#include "maintenance/cycle_accounting.h"

#include <algorithm>

namespace caretaker::maintenance {

bool CycleAccounting::TickEnds(const TickEnd& tick, int64_t now_ns) {
  status_.visited += tick.visited;
  if (tick.visited > 0 || tick.continuation_moved || tick.completed) {
    status_.ticks_without_progress = 0;
  } else if (!tick.held_back) {
    ++status_.ticks_without_progress;
  }
  if (tick.restarted) {
    ++status_.restarted;
    NextCycle();
    return false;
  }
  if (!tick.completed) return false;
  // Halves without rounding: 2 of 4 are not less than half. Before the first complete one nothing is.
  const bool is_short =
      status_.visited < status_.last_visited && status_.visited < status_.last_visited - status_.visited;
  ++status_.completed;
  status_.short_cycles += is_short ? 1 : 0;
  status_.last_visited = status_.visited;
  // A host's clock may stand still, or leap.
  int64_t taken_ns = 0;
  if (__builtin_sub_overflow(now_ns, status_.started_ns.value_or(now_ns), &taken_ns)) taken_ns = 0;
  status_.last_duration_ns = std::max<int64_t>(0, taken_ns);
  NextCycle();
  return is_short;
}

}  // namespace caretaker::maintenance
