#include "maintenance/visit_log.h"

#include <algorithm>

namespace caretaker::maintenance {

absl::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kIdle:
      return "idle";
    case Phase::kScan:
      return "scan";
    case Phase::kLock:
      return "lock";
    case Phase::kRead:
      return "read";
    case Phase::kOperation:
      return "operation";
    case Phase::kPublication:
      return "publication";
  }
  return "unknown";
}

VisitLog::VisitLog() {
  key_.reserve(kKeySizeMax);
  for (RecentVisit& visit : recent_) visit.key.reserve(kKeySizeMax);
}

void VisitLog::Begin(absl::string_view key, int64_t now_ns) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    key_.assign(key.data(), std::min(key.size(), kKeySizeMax));
  }
  Enter(Phase::kLock, now_ns);
}

void VisitLog::Finish(absl::string_view key, Outcome outcome, uint64_t cycle, int64_t now_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  RecentVisit& visit = recent_[finished_++ % kRecentMax];
  visit.key.assign(key.data(), std::min(key.size(), kKeySizeMax));
  visit.outcome = outcome;
  visit.cycle = cycle;
  visit.at_ns = now_ns;
}

void VisitLog::Rest(int64_t now_ns) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    key_.clear();
  }
  Enter(Phase::kIdle, now_ns);
}

RunningVisit VisitLog::Running() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {phase_.load(std::memory_order_relaxed), since_ns_.load(std::memory_order_relaxed), key_};
}

std::vector<RecentVisit> VisitLog::Recent() const {
  std::vector<RecentVisit> visits;
  visits.reserve(kRecentMax);
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t kept = std::min<uint64_t>(finished_, kRecentMax);
  for (uint64_t back = 1; back <= kept; ++back) visits.push_back(recent_[(finished_ - back) % kRecentMax]);
  return visits;
}

}  // namespace caretaker::maintenance
