#include "plugin/host/table_lock_map.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"

namespace caretaker::host {

using maintenance::LockOutcome;

namespace {

// Longer waits are cut, so that no sum of times overflows.
constexpr std::chrono::hours kWaitMax(24 * 365);

std::chrono::steady_clock::time_point Deadline(int64_t wait_ns) {
  const std::chrono::nanoseconds wait(std::max<int64_t>(0, wait_ns));
  return std::chrono::steady_clock::now() + std::min<std::chrono::nanoseconds>(wait, kWaitMax);
}

}  // namespace

// A caller's place in the line of one name; leaves it unless it was kept. Used under the map's mutex.
class TableLockMap::Place {
 public:
  Place(TableLockMap* map, const std::string& name)
      : map_(*map), entry_(map_.names_.try_emplace(name).first), handle_(++map_.last_handle_) {}
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    if (kept_) return;
    line().remove(handle_);
    if (line().empty()) map_.names_.erase(entry_);
  }

  void Enter() { line().push_back(handle_); }
  bool IsFirst() const { return entry_->second.line.front() == handle_; }
  void Keep() { kept_ = true; }
  uint64_t handle() const { return handle_; }

 private:
  std::list<uint64_t>& line() { return entry_->second.line; }

  TableLockMap& map_;
  const std::map<std::string, Name>::iterator entry_;
  const uint64_t handle_;
  bool kept_ = false;
};

absl::Status TableLockMap::Lock(absl::string_view table_namespace, absl::string_view table_name, int64_t wait_ns,
                                LockOutcome* outcome, uint64_t* handle) {
  // A namespace holds no slash, so this is one name for one table.
  const std::string name = absl::StrCat(table_namespace, "/", table_name);
  const auto deadline = Deadline(wait_ns);
  std::unique_lock<std::mutex> lock(mutex_);
  Place place(this, name);
  // All memory is taken before the lock is: whoever holds it can give it back.
  std::map<uint64_t, std::string> holding;
  holding.emplace(place.handle(), name);
  place.Enter();
  if (!place.IsFirst() && wait_ns > 0) {
    changed_.wait_until(lock, deadline, [&] { return place.IsFirst() || cancelled_; });
  }
  if (!place.IsFirst()) {
    *outcome = cancelled_ ? LockOutcome::kCancelled : LockOutcome::kBusy;
    return absl::OkStatus();
  }
  held_.merge(holding);
  place.Keep();
  *handle = place.handle();
  *outcome = LockOutcome::kAcquired;
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
