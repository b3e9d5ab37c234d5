// What the host may say during a tick: stop, you may no longer act, what time it is.
#ifndef CARETAKER_MAINTENANCE_HOST_CONTROL_H_
#define CARETAKER_MAINTENANCE_HOST_CONTROL_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"

namespace caretaker::maintenance {

class HostControl {
 public:
  virtual ~HostControl() = default;

  // Does the host want the tick to stop? An error counts as yes. Cheap, does not block.
  virtual absl::Status IsCancelled(bool* cancelled) = 0;

  // May this host still act on the registry? With yes, `*fence_token` may be set to what proves it. An error counts as
  // no. Cheap, does not block.
  virtual absl::Status MayAct(bool* may_act, std::optional<uint64_t>* fence_token) = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds of a monotonic clock with any origin. Any thread.
  virtual int64_t NowNs() = 0;
};

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_HOST_CONTROL_H_
