// The host's wish to stop: one switch that everything that waits or works looks at, or is told by.
//
// Thread-safety: any thread.
#ifndef CARETAKER_TESTING_HOST_STOP_SWITCH_H_
#define CARETAKER_TESTING_HOST_STOP_SWITCH_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>

#include "absl/status/status.h"
#include "maintenance/host_control.h"

namespace caretaker::reference_host {

class StopSwitch : public maintenance::HostControl {
 public:
  StopSwitch() = default;
  StopSwitch(const StopSwitch&) = delete;
  StopSwitch& operator=(const StopSwitch&) = delete;

  // Turns the switch, for good: runs the actions on this thread, and wakes every WaitFor. Later calls do nothing.
  void Stop();

  bool stopped() const { return stopped_; }

  // Waits until `time` is over or the switch is turned, and returns stopped().
  bool WaitFor(std::chrono::milliseconds time);

  // What Stop runs, as long as this lives: once, and here and now where the switch is turned already. `action` is
  // called under the switch's mutex: it is short, does not block, and does not use the switch.
  class Action {
   public:
    Action(StopSwitch* stop, std::function<void()> action);
    ~Action();
    Action(const Action&) = delete;
    Action& operator=(const Action&) = delete;

   private:
    StopSwitch& stop_;
    std::list<std::function<void()>>::iterator place_;
  };

  // maintenance::HostControl: the tick ends at its next table.
  absl::Status IsCancelled(bool* cancelled) override;
  // Always yes, without a token: a RocksDB has one process that writes it, and this is it.
  absl::Status MayAct(bool* may_act, std::optional<uint64_t>* fence_token) override;

 private:
  std::atomic<bool> stopped_{false};  // Written under mutex_.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<std::function<void()>> actions_;  // Guarded by mutex_.
};

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_STOP_SWITCH_H_
