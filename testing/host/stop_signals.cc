#include "testing/host/stop_signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace caretaker::reference_host {
namespace {

sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGUSR1);
  return signals;
}

}  // namespace

void StopSignals::Block() {
  const sigset_t signals = Signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

absl::StatusOr<std::unique_ptr<StopSignals>> StopSignals::Start(StopSwitch* stop,
                                                                std::function<void(absl::string_view)> say,
                                                                std::chrono::milliseconds patience) {
  const sigset_t signals = Signals();
  const int signals_fd = signalfd(-1, &signals, SFD_CLOEXEC);
  const int end_fd = eventfd(0, EFD_CLOEXEC);
  if (signals_fd < 0 || end_fd < 0) {
    const std::string words = std::strerror(errno);
    for (const int fd : {signals_fd, end_fd}) {
      if (fd >= 0) close(fd);
    }
    return absl::ResourceExhaustedError(absl::StrCat("signals: can not be received: ", words));
  }
  return std::unique_ptr<StopSignals>(new StopSignals(stop, std::move(say), patience, signals_fd, end_fd));
}

StopSignals::StopSignals(StopSwitch* stop, std::function<void(absl::string_view)> say,
                         std::chrono::milliseconds patience, int signals_fd, int end_fd)
    : stop_(*stop),
      say_(std::move(say)),
      patience_(patience),
      signals_fd_(signals_fd),
      end_fd_(end_fd),
      thread_([this] { Receive(); }) {}

StopSignals::~StopSignals() {
  eventfd_write(end_fd_, 1);
  thread_.join();
  close(signals_fd_);
  close(end_fd_);
}

StopSignals::Report::Report(StopSignals* signals, std::function<void()> give) : signals_(*signals) {
  const std::lock_guard<std::mutex> lock(signals_.mutex_);
  signals_.report_ = std::move(give);
}

StopSignals::Report::~Report() {
  const std::lock_guard<std::mutex> lock(signals_.mutex_);
  signals_.report_ = nullptr;
}

void StopSignals::GiveReport() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (report_) {
    report_();
  } else {
    say_(absl::StrCat("nothing to report yet: ", phase_.load()));
  }
}

void StopSignals::Receive() {
  bool signalled = false;
  int timeout_ms = -1;  // Until a signal came there is nothing to be late with.
  for (;;) {
    std::array<pollfd, 2> waited{{{signals_fd_, POLLIN, 0}, {end_fd_, POLLIN, 0}}};
    const int ready = poll(waited.data(), waited.size(), timeout_ms);
    if (ready < 0) continue;  // EINTR, by a signal that is not ours.
    if (ready == 0) {
      timeout_ms = -1;
      say_(absl::StrCat("still stopping after ", patience_.count(), " ms: ", phase_.load(),
                        "; a second signal ends the process at once"));
    } else if (waited[1].revents != 0) {
      return;
    } else {
      signalfd_siginfo info;
      if (read(signals_fd_, &info, sizeof(info)) != sizeof(info)) continue;
      if (info.ssi_signo == SIGUSR1) {
        GiveReport();
        continue;
      }
      if (signalled) _exit(128 + static_cast<int>(info.ssi_signo));
      signalled = true;
      timeout_ms = static_cast<int>(patience_.count());
      stop_.Stop();
      say_("stops at the next table; a second signal ends the process at once");
    }
  }
}

}  // namespace caretaker::reference_host
