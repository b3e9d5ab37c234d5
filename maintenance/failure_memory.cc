#include "maintenance/failure_memory.h"

#include <algorithm>
#include <utility>

namespace caretaker::maintenance {

bool FailureMemory::PassesOver(absl::string_view key, uint64_t value_fingerprint, uint64_t cycle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (entries_.empty()) return false;
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  if (found->second.value_fingerprint != value_fingerprint) {
    Erase(found);
    return false;
  }
  found->second.met_cycle = cycle;
  return cycle < found->second.due_cycle;
}

bool FailureMemory::WouldPassOver(absl::string_view key, uint64_t value_fingerprint, uint64_t cycle) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(key);
  return found != entries_.end() && found->second.value_fingerprint == value_fingerprint &&
         cycle < found->second.due_cycle;
}

uint64_t FailureMemory::Failed(absl::string_view key, uint64_t value_fingerprint, uint64_t cycle, Outcome reason,
                               absl::string_view message) {
  if (backoff_cycles_max_ == 0) return 0;
  const std::lock_guard<std::mutex> lock(mutex_);
  auto found = entries_.find(key);
  uint32_t streak = 1;
  if (found != entries_.end()) {
    // Another generation begins anew: what failed was not this one.
    if (found->second.value_fingerprint == value_fingerprint) streak = found->second.streak + 1;
    Erase(found);
  }
  // 1, 2, 4, ...: the shift stays below the width, as the limit is far below 2^31.
  const uint32_t sits_out = streak > 31 ? backoff_cycles_max_ : std::min(1u << (streak - 1), backoff_cycles_max_);
  Entry entry{
      value_fingerprint, cycle + sits_out + 1, cycle, streak, reason, std::string(message.substr(0, kMessageSizeMax))};
  found = entries_.emplace(std::string(key), std::move(entry)).first;
  bytes_ += Charge(*found);
  try {
    by_streak_.emplace(streak, found->first);
  } catch (...) {
    Erase(found);  // Out of memory: an entry that is not in the order could never leave.
    throw;
  }
  return Shrink();
}

void FailureMemory::Succeeded(absl::string_view key) { Forget(key); }

void FailureMemory::EndCycle(uint64_t cycle) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->second.met_cycle != cycle) Erase(entry);
    entry = next;
  }
}

bool FailureMemory::Forget(absl::string_view key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (entries_.empty()) return false;
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  Erase(found);
  return true;
}

size_t FailureMemory::ForgetAll() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const size_t count = entries_.size();
  by_streak_.clear();
  entries_.clear();
  bytes_ = 0;
  return count;
}

size_t FailureMemory::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

size_t FailureMemory::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

std::vector<BackedOffTable> FailureMemory::Worst(size_t count_max) const {
  std::vector<BackedOffTable> tables;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto next = by_streak_.rbegin(); next != by_streak_.rend() && tables.size() < count_max; ++next) {
    const auto found = entries_.find(next->second);
    const Entry& entry = found->second;
    tables.push_back({found->first, entry.reason, entry.message, entry.streak, entry.due_cycle});
  }
  return tables;
}

void FailureMemory::Erase(Entries::iterator entry) {
  bytes_ -= Charge(*entry);
  by_streak_.erase({entry->second.streak, entry->first});
  entries_.erase(entry);
}

uint64_t FailureMemory::Shrink() {
  uint64_t left = 0;
  for (; bytes_ > kBytesMax; ++left) Erase(entries_.find(by_streak_.begin()->second));
  return left;
}

}  // namespace caretaker::maintenance
