#include "testing/host/operation_watchdog.h"

#include <algorithm>

namespace caretaker::reference_host {
namespace {

// So that adding it to the clock's time cannot overflow; no operation takes that long.
constexpr std::chrono::nanoseconds kTimeMax = std::chrono::hours(24 * 365);

}  // namespace

OperationWatchdog::OperationWatchdog() : thread_([this] { Watch(); }) {}

OperationWatchdog::~OperationWatchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void OperationWatchdog::Begin(std::optional<int64_t> remaining_ns) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    // Not left to the thread: an operation without time must not depend on which of the two is faster.
    timed_out_ = remaining_ns.has_value() && *remaining_ns <= 0;
    flag_ = timed_out_ || cancelled_;
    deadline_.reset();  // Of an operation that an exception ended.
    if (remaining_ns.has_value() && !timed_out_) {
      deadline_ = std::chrono::steady_clock::now() + std::min(std::chrono::nanoseconds(*remaining_ns), kTimeMax);
    }
  }
  changed_.notify_all();
}

OperationWatchdog::Verdict OperationWatchdog::End() {
  const std::lock_guard<std::mutex> lock(mutex_);
  deadline_.reset();
  if (cancelled_) return Verdict::kCancelled;
  return timed_out_ ? Verdict::kTimedOut : Verdict::kInTime;
}

void OperationWatchdog::Cancel() {
  const std::lock_guard<std::mutex> lock(mutex_);
  cancelled_ = true;
  flag_ = true;
}

void OperationWatchdog::Watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_) {
    if (!deadline_.has_value()) {
      changed_.wait(lock);
      continue;
    }
    // A copy: End takes the deadline away while this waits.
    const std::chrono::steady_clock::time_point deadline = *deadline_;
    if (std::chrono::steady_clock::now() < deadline) {
      changed_.wait_until(lock, deadline);
    } else {
      timed_out_ = true;
      flag_ = true;
      deadline_.reset();
    }
  }
}

}  // namespace caretaker::reference_host
