#include "testing/host/rocksdb_engine.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "rocksdb/perf_context.h"
#include "testing/host/database.h"

namespace caretaker::reference_host {

RocksDbEngine::RocksDbEngine(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* data, uint64_t threshold_percent)
    : db_(db), data_(data), threshold_percent_(threshold_percent), watchdog_([this] { Watch(); }) {}

RocksDbEngine::~RocksDbEngine() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  watchdog_.join();
}

absl::Status RocksDbEngine::Maintain(const maintenance::OperationCall& call,
                                     const maintenance::TableGeneration& generation,
                                     maintenance::OperationResult* result) {
  const std::string location(generation.location);
  if (location.empty()) {
    return absl::InvalidArgumentError("location: is empty, which would be every table; correct the registration");
  }
  const absl::StatusOr<Garbage> garbage = Judge(location);
  if (!garbage.ok()) return garbage.status();
  if (garbage->percent() < threshold_percent_) return absl::OkStatus();
  if (generation.version == std::numeric_limits<uint64_t>::max()) {
    return absl::FailedPreconditionError("version: is the last one there is; correct the registration");
  }
  if (absl::Status compacted = Compact(location, call.remaining_ns); !compacted.ok()) return compacted;
  result->new_version = generation.version + 1;
  return absl::OkStatus();
}

absl::StatusOr<Garbage> RocksDbEngine::Judge(const std::string& location) const {
  const std::string begin = location + "/";
  const std::string end = location + "0";  // The character after '/'.
  const rocksdb::Slice upper_bound(end);
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.iterate_upper_bound = &upper_bound;
  options.max_skippable_internal_keys = kWalkedEntriesMax;
  const rocksdb::PerfLevel level = rocksdb::GetPerfLevel();
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  const rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
  const uint64_t keys_before = perf.internal_key_skipped_count;
  const uint64_t deletes_before = perf.internal_delete_skipped_count;

  Garbage garbage;
  const auto skipped = [&] {
    // Going on from a live row counts as skipping it.
    const uint64_t keys = perf.internal_key_skipped_count - keys_before;
    return perf.internal_delete_skipped_count - deletes_before + (keys > garbage.live ? keys - garbage.live : 0);
  };
  const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(options, data_));
  for (rows->Seek(begin); rows->Valid() && garbage.live + skipped() < kWalkedEntriesMax; rows->Next()) ++garbage.live;
  garbage.skipped = skipped();
  rocksdb::SetPerfLevel(level);
  // Incomplete: so many deletions in a row that the walk is over.
  if (rows->status().ok() || rows->status().IsIncomplete()) return garbage;
  return FromRocksDb(rows->status(), absl::StrCat("rows of ", location));
}

absl::Status RocksDbEngine::Compact(const std::string& location, std::optional<int64_t> remaining_ns) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopped_) return absl::CancelledError("the host is stopping");
    // Time that is over already needs no watchdog.
    timed_out_ = remaining_ns.has_value() && *remaining_ns <= 0;
    cancelled_ = timed_out_;
    if (remaining_ns.has_value())
      deadline_ = std::chrono::steady_clock::now() + std::chrono::nanoseconds(*remaining_ns);
  }
  changed_.notify_all();
  const std::string begin = location + "/";
  const std::string end = location + "0";
  const rocksdb::Slice begin_slice(begin);
  const rocksdb::Slice end_slice(end);
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.canceled = &cancelled_;
  const rocksdb::Status compacted = db_->CompactRange(options, data_, &begin_slice, &end_slice);

  const std::lock_guard<std::mutex> lock(mutex_);
  deadline_.reset();
  if (compacted.ok()) return absl::OkStatus();
  const std::string what = absl::StrCat("compacting ", location);
  if (stopped_) return absl::CancelledError(absl::StrCat(what, ": the host is stopping"));
  if (timed_out_) return absl::DeadlineExceededError(absl::StrCat(what, ": not done within the table timeout"));
  return FromRocksDb(compacted, what);
}

void RocksDbEngine::Stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  stopped_ = true;
  cancelled_ = true;
}

void RocksDbEngine::Watch() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_) {
    if (!deadline_.has_value()) {
      changed_.wait(lock);
    } else if (changed_.wait_until(lock, *deadline_) == std::cv_status::timeout && deadline_.has_value() &&
               std::chrono::steady_clock::now() >= *deadline_) {
      timed_out_ = true;
      cancelled_ = true;
      deadline_.reset();
    }
  }
}

}  // namespace caretaker::reference_host
