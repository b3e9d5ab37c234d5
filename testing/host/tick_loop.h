// The host's scheduler: calls ticks, waits as long as they ask for, and ends when it should.
//
// Thread-safety: one thread, which is the ticks'.
#ifndef CARETAKER_TESTING_HOST_TICK_LOOP_H_
#define CARETAKER_TESTING_HOST_TICK_LOOP_H_

#include <chrono>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "plugin/maintenance_plugin.h"

namespace caretaker::reference_host {

struct TickLoopOptions {
  // Ends after so many whole cycles; 0: goes on until it is stopped. A cycle whose end is reached after its beginning
  // was lost (the plugin restarted it) is not whole, and not counted.
  uint64_t cycles = 0;
  // The plugin's: how long to wait after a tick that failed.
  std::chrono::milliseconds interval{0};
};

// What the loop works with; none may be empty.
struct TickLoopCalls {
  // One tick; writes every member of the context.
  std::function<absl::Status(maintenance_tick_context*)> tick;
  // Is told the result of each tick.
  std::function<void(const absl::Status&, const maintenance_tick_context&)> told;
  // Waits until the time is over or the host is to stop; true when it is to stop.
  std::function<bool(std::chrono::milliseconds)> wait;
};

// With a number of cycles to do, this many failed ticks in a row end the loop: nobody may be there to stop it.
inline constexpr int kFailedTicksMax = 10;

// A tick that asks to be called again later than this is called again after it.
inline constexpr std::chrono::hours kWaitMax(24);

struct TickLoopEnd {
  uint64_t cycles = 0;  // Whole ones.
  absl::Status status;  // Why it gave up, if it did.
};

// Runs ticks until the host is to stop or the cycles are done. The first tick begins at once. Each next one begins
// `call_again_ms` after the one before it began, or at once where that one took longer; what was missed is not made up
// for. After a failed tick the interval is waited.
//
// A failed tick does not end the loop, but for a status that every later tick would have as well: InvalidArgument,
// FailedPrecondition, Unimplemented of the plugin's own (tick_number is 0 then). Or, as kFailedTicksMax says, the last
// tick's status.
TickLoopEnd RunTicks(const TickLoopOptions& options, const TickLoopCalls& calls);

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_TICK_LOOP_H_
