#include "testing/host/tick_loop.h"

#include <algorithm>

namespace caretaker::reference_host {
namespace {

// The scan's own status says nothing about the next scan.
bool EveryTickWouldFail(const absl::Status& status, const maintenance_tick_context& tick) {
  if (tick.tick_number != 0) return false;
  return absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status) || absl::IsUnimplemented(status);
}

std::chrono::milliseconds WaitAfter(const maintenance_tick_context& tick) {
  const std::chrono::milliseconds longest(kWaitMax);
  const std::chrono::milliseconds asked(std::clamp<int64_t>(tick.call_again_ms, 0, longest.count()));
  const std::chrono::nanoseconds taken(std::max<int64_t>(0, tick.duration_ns));
  return std::max(std::chrono::milliseconds(0), asked - std::chrono::duration_cast<std::chrono::milliseconds>(taken));
}

}  // namespace

TickLoopEnd RunTicks(const TickLoopOptions& options, const TickLoopCalls& calls) {
  uint64_t cycles = 0;
  int failed_in_a_row = 0;
  bool stopped = calls.wait(std::chrono::milliseconds(0));
  while (!stopped) {
    maintenance_tick_context tick;
    const absl::Status status = calls.tick(&tick);
    calls.told(status, tick);
    if (status.ok()) {
      failed_in_a_row = 0;
      if (tick.cycle_completed != 0) ++cycles;
    } else {
      ++failed_in_a_row;
      if (EveryTickWouldFail(status, tick)) return {cycles, status};
      if (options.cycles > 0 && failed_in_a_row >= kFailedTicksMax) return {cycles, status};
    }
    if (options.cycles > 0 && cycles >= options.cycles) break;
    stopped = calls.wait(status.ok() ? WaitAfter(tick) : options.interval);
  }
  return {cycles, absl::OkStatus()};
}

}  // namespace caretaker::reference_host
