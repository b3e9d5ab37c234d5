#include "plugin/host/table_lock_map.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"

namespace caretaker::host {

using maintenance::LockOutcome;

absl::Status TableLockMap::Lock(absl::string_view table_namespace, absl::string_view table_name, int64_t wait_ns,
                                LockOutcome* outcome, uint64_t* handle) {
  // A namespace holds no slash, so this is one name for one table.
  const std::string name = absl::StrCat(table_namespace, "/", table_name);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(std::max<int64_t>(0, wait_ns));
  std::unique_lock<std::mutex> lock(mutex_);
  const auto entry = names_.try_emplace(name).first;
  std::list<uint64_t>& line = entry->second.line;
  const uint64_t mine = ++last_handle_;
  line.push_back(mine);
  const auto is_mine = [&] { return line.front() == mine; };
  if (!is_mine() && wait_ns > 0) changed_.wait_until(lock, deadline, [&] { return is_mine() || cancelled_; });
  if (is_mine()) {
    held_.emplace(mine, name);
    *handle = mine;
    *outcome = LockOutcome::kAcquired;
    return absl::OkStatus();
  }
  line.remove(mine);  // Another one is in front, so the name stays.
  *outcome = cancelled_ ? LockOutcome::kCancelled : LockOutcome::kBusy;
  return absl::OkStatus();
}

absl::Status TableLockMap::Unlock(uint64_t handle) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto held = held_.find(handle);
    if (held == held_.end()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "unlock: handle ", handle, " is not held, allowed is one from Lock, once; unlock what was locked"));
    }
    const auto entry = names_.find(held->second);
    entry->second.line.pop_front();
    if (entry->second.line.empty()) names_.erase(entry);
    held_.erase(held);
  }
  changed_.notify_all();
  return absl::OkStatus();
}

void TableLockMap::CancelWaits() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
}

size_t TableLockMap::size() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return names_.size();
}

size_t TableLockMap::waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  size_t count = 0;
  for (const auto& [name, entry] : names_) count += entry.line.size();
  return count - held_.size();
}

}  // namespace caretaker::host
