// What SIGTERM and SIGINT do to the reference host: the tick stops at its next table, waits for locks and the running
// operation end. The signals are waited for on a thread of their own, so that no work is done in a handler. A second
// signal ends the process at once.
#ifndef CARETAKER_TESTING_HOST_STOP_SIGNALS_H_
#define CARETAKER_TESTING_HOST_STOP_SIGNALS_H_

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "maintenance/host_control.h"
#include "plugin/host/table_lock_map.h"
#include "testing/host/rocksdb_engine.h"

namespace caretaker::reference_host {

// Thread-safety: any thread.
class StopSignals : public maintenance::HostControl {
 public:
  static constexpr int kSecondSignalExit = 130;
  // After this time from the signal the host is said to be still busy.
  static constexpr std::chrono::seconds kStopTime{1};

  // REQUIRES: the signals are blocked in every thread. Borrows both. `still_busy` is called on the waiting thread when
  // this is not destroyed within kStopTime of the signal.
  StopSignals(RocksDbEngine* engine, host::TableLockMap* locks, std::function<void()> still_busy)
      : engine_(engine), locks_(locks), still_busy_(std::move(still_busy)), waiter_([this] { Wait(); }) {}
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      finished_ = true;
    }
    changed_.notify_all();
    pthread_kill(waiter_.native_handle(), SIGUSR2);
    waiter_.join();
  }

  static sigset_t Blocked() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT, SIGUSR2}) sigaddset(&signals, signal);
    return signals;
  }

  absl::Status IsCancelled(bool* cancelled) override {
    *cancelled = stopped_;
    return absl::OkStatus();
  }
  absl::Status MayAct(bool* may_act, std::optional<uint64_t>*) override {
    *may_act = true;  // This RocksDB has one process that writes it.
    return absl::OkStatus();
  }

  bool stopped() const { return stopped_; }

  // Sleeps until the time is over or a signal came.
  void WaitFor(std::chrono::milliseconds time) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, time, [this] { return stopped_.load(); });
  }

 private:
  void Wait() {
    const sigset_t signals = Blocked();
    for (int signal = 0; sigwait(&signals, &signal) == 0 && signal != SIGUSR2;) {
      if (stopped_) _exit(kSecondSignalExit);
      std::unique_lock<std::mutex> lock(mutex_);
      stopped_ = true;
      engine_->Stop();
      locks_->CancelWaits();
      changed_.notify_all();
      if (changed_.wait_for(lock, kStopTime, [this] { return finished_; })) continue;
      lock.unlock();
      still_busy_();
    }
  }

  RocksDbEngine* const engine_;
  host::TableLockMap* const locks_;
  const std::function<void()> still_busy_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;  // Guarded by mutex_.
  std::thread waiter_;
};

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_STOP_SIGNALS_H_
