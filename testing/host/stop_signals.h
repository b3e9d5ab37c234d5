// SIGTERM, SIGINT and SIGUSR1, received by a thread of their own: nothing happens inside a signal handler.
//
// The first signal turns the stop switch, which is said. What then takes longer than a second is said as well,
// once: it is something that RocksDB does not interrupt, or the machine is slow. A second signal ends the process at
// once, with 128 + its number as exit status: RocksDB is made for that, its log has what was committed.
//
// SIGUSR1 asks for the report; it is given on that thread as well.
//
// Thread-safety: any thread.
#ifndef CARETAKER_TESTING_HOST_STOP_SIGNALS_H_
#define CARETAKER_TESTING_HOST_STOP_SIGNALS_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "testing/host/stop_switch.h"

namespace caretaker::reference_host {

class StopSignals {
 public:
  // Holds the signals back from this thread and from all that it starts. The first thing that main does: a
  // thread that was started before would still be ended by them. What comes before Start waits for it.
  static void Block();

  // Starts the thread, on which `say` is called. `stop` is borrowed. REQUIRES: Block was called. ResourceExhausted: no
  // file descriptor is left.
  static absl::StatusOr<std::unique_ptr<StopSignals>> Start(
      StopSwitch* stop, std::function<void(absl::string_view)> say,
      std::chrono::milliseconds patience = std::chrono::seconds(1));

  // Ends the thread; later signals wait for ever.
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // What SIGUSR1 does, as long as this lives. `give` is called on the signals' thread, and not any more once the object
  // is gone; it does not use the signals. Until there is one SIGUSR1 is answered with what the host does.
  class Report {
   public:
    Report(StopSignals* signals, std::function<void()> give);
    ~Report();
    Report(const Report&) = delete;
    Report& operator=(const Report&) = delete;

   private:
    StopSignals& signals_;
  };

  // What the host does now, for that line: a string literal such as "opening the database".
  void set_phase(const char* phase) { phase_ = phase; }

 private:
  StopSignals(StopSwitch* stop, std::function<void(absl::string_view)> say, std::chrono::milliseconds patience,
              int signals_fd, int end_fd);
  void Receive();
  void GiveReport();

  StopSwitch& stop_;
  const std::function<void(absl::string_view)> say_;
  const std::chrono::milliseconds patience_;
  const int signals_fd_;
  const int end_fd_;  // Readable: the thread is to end.
  std::mutex mutex_;
  std::function<void()> report_;  // Guarded by mutex_.
  std::atomic<const char*> phase_{"starting"};
  std::thread thread_;  // The last member: it uses the others.
};

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_STOP_SIGNALS_H_
