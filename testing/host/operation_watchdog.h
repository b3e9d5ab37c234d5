// Ends operations that are over their time, or that the host cancels.
//
// RocksDB has no deadline for a compaction, only a flag that it looks at between entries. The watchdog's thread raises
// the flag when the operation's time is up; Cancel raises it at once, and for good.
//
// Thread-safety: Begin and End on one thread at a time, in turns; everything else on any thread.
#ifndef CARETAKER_TESTING_HOST_OPERATION_WATCHDOG_H_
#define CARETAKER_TESTING_HOST_OPERATION_WATCHDOG_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

namespace caretaker::reference_host {

class OperationWatchdog {
 public:
  enum class Verdict {
    kInTime,
    kTimedOut,
    kCancelled,  // Also when the time was up as well.
  };

  OperationWatchdog();
  // Joins the thread. REQUIRES: no operation runs.
  ~OperationWatchdog();
  OperationWatchdog(const OperationWatchdog&) = delete;
  OperationWatchdog& operator=(const OperationWatchdog&) = delete;

  // An operation begins, which may take `remaining_ns` nanoseconds from now (0 or less: none at all; absent: any time).
  // Lowers the flag, unless Cancel was called.
  void Begin(std::optional<int64_t> remaining_ns);

  // The operation has returned. Why the flag was raised, if it was.
  Verdict End();

  // Cancels the operation that runs, and every later one. Returns at once.
  void Cancel();

  // Up: the operation that runs is to end. For CompactRangeOptions::canceled; valid as long as this is.
  std::atomic<bool>* flag() { return &flag_; }

 private:
  void Watch();

  std::atomic<bool> flag_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;  // Guarded by mutex_, as what follows.
  bool timed_out_ = false;
  bool cancelled_ = false;
  bool ending_ = false;
  std::thread thread_;  // The last member: it uses the others.
};

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_OPERATION_WATCHDOG_H_
