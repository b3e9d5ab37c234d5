#include "testing/host/stop_switch.h"

#include <utility>

namespace caretaker::reference_host {

void StopSwitch::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
    for (const std::function<void()>& action : actions_) action();
  }
  changed_.notify_all();
}

bool StopSwitch::WaitFor(std::chrono::milliseconds time) {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_for(lock, time, [this] { return stopped_.load(); });
}

StopSwitch::Action::Action(StopSwitch* stop, std::function<void()> action) : stop_(*stop) {
  const std::lock_guard<std::mutex> lock(stop_.mutex_);
  if (stop_.stopped_) action();
  place_ = stop_.actions_.insert(stop_.actions_.end(), std::move(action));
}

StopSwitch::Action::~Action() {
  const std::lock_guard<std::mutex> lock(stop_.mutex_);
  stop_.actions_.erase(place_);
}

absl::Status StopSwitch::IsCancelled(bool* cancelled) {
  *cancelled = stopped_;
  return absl::OkStatus();
}

absl::Status StopSwitch::MayAct(bool* may_act, std::optional<uint64_t>*) {
  *may_act = true;
  return absl::OkStatus();
}

}  // namespace caretaker::reference_host
