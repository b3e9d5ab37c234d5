// What a tick is at, and which tables were visited lately: for a report that answers while an operation runs.
//
// Thread-safety: the functions that a tick calls on one thread at a time; Running and Recent on any thread, also during
// a tick. None waits for more than a copy of kRecentMax short keys.
#ifndef CARETAKER_MAINTENANCE_VISIT_LOG_H_
#define CARETAKER_MAINTENANCE_VISIT_LOG_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "maintenance/outcome.h"

namespace caretaker::maintenance {

enum class Phase : uint8_t { kIdle, kScan, kLock, kRead, kOperation, kPublication };

absl::string_view PhaseName(Phase phase);

// Times are the host's monotonic clock's, in nanoseconds.
struct RunningVisit {
  Phase phase = Phase::kIdle;
  int64_t since_ns = 0;
  std::string key;  // At most kKeySizeMax bytes of it; empty while no table is visited.
};

struct RecentVisit {
  std::string key;  // As above.
  Outcome outcome = Outcome::kMaintained;
  uint64_t cycle = 0;
  int64_t at_ns = 0;
};

class VisitLog {
 public:
  static constexpr size_t kRecentMax = 64;
  static constexpr size_t kKeySizeMax = 96;

  // Makes its memory, so that a tick needs none.
  VisitLog();

  // The tick goes on to `phase`, of the table that is visited or of none.
  void Enter(Phase phase, int64_t now_ns) {
    since_ns_.store(now_ns, std::memory_order_relaxed);
    phase_.store(phase, std::memory_order_relaxed);
  }
  // A visit begins, and ends in an outcome, or without one (kIdle by Enter).
  void Begin(absl::string_view key, int64_t now_ns);
  void Finish(absl::string_view key, Outcome outcome, uint64_t cycle, int64_t now_ns);
  // The tick has ended.
  void Rest(int64_t now_ns);

  RunningVisit Running() const;
  // The newest first.
  std::vector<RecentVisit> Recent() const;

 private:
  std::atomic<Phase> phase_{Phase::kIdle};
  std::atomic<int64_t> since_ns_{0};
  mutable std::mutex mutex_;
  // Guarded by mutex_, as what follows.
  std::string key_;
  std::array<RecentVisit, kRecentMax> recent_;
  uint64_t finished_ = 0;
};

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_VISIT_LOG_H_
