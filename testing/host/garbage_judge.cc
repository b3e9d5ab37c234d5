// A judgement takes these steps:
// 1. Walk the range, ignoring range deletions: all entries there are, up to a key where the bound may end it.
// 2. Walk what step 1 covered once more, as a reader would, to count the live rows: the other entries are garbage.
#include "testing/host/garbage_judge.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "registry/table_ref.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "testing/host/rocksdb_status.h"

namespace caretaker::reference_host {
namespace {

// What this thread's iterators skipped since it was made. Counting is RocksDB's default; a host may have turned it off.
class SkippedEntries {
 public:
  SkippedEntries() : level_(rocksdb::GetPerfLevel()) {
    if (level_ < rocksdb::kEnableCount) rocksdb::SetPerfLevel(rocksdb::kEnableCount);
    deletions_ = Perf().internal_delete_skipped_count;
    keys_ = Perf().internal_key_skipped_count;
  }
  ~SkippedEntries() {
    if (level_ < rocksdb::kEnableCount) rocksdb::SetPerfLevel(level_);
  }
  SkippedEntries(const SkippedEntries&) = delete;
  SkippedEntries& operator=(const SkippedEntries&) = delete;

  // Without the `live` rows that were left behind.
  uint64_t Count(uint64_t live) const {
    const uint64_t keys = Perf().internal_key_skipped_count - keys_;
    return Perf().internal_delete_skipped_count - deletions_ + (keys > live ? keys - live : 0);
  }

 private:
  static const rocksdb::PerfContext& Perf() { return *rocksdb::get_perf_context(); }

  const rocksdb::PerfLevel level_;
  uint64_t deletions_;
  uint64_t keys_;
};

}  // namespace

absl::StatusOr<Garbage> GarbageJudge::Judge(const TableRange& range, const std::atomic<bool>& ending) const {
  const absl::StatusOr<Walk> all = WalkOver(range, /*ignore_range_deletions=*/true, ending);
  if (!all.ok()) return all.status();
  const TableRange walked{range.begin, all->stopped_at.empty() ? range.end : all->stopped_at};
  const absl::StatusOr<Walk> visible = WalkOver(walked, /*ignore_range_deletions=*/false, ending);
  if (!visible.ok()) return visible.status();
  const uint64_t entries = all->live + all->skipped;
  return Garbage{visible->live, entries > visible->live ? entries - visible->live : 0};
}

absl::StatusOr<GarbageJudge::Walk> GarbageJudge::WalkOver(const TableRange& range, bool ignore_range_deletions,
                                                          const std::atomic<bool>& ending) const {
  const rocksdb::Slice upper_bound(range.end);
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.iterate_upper_bound = &upper_bound;
  options.ignore_range_deletions = ignore_range_deletions;
  options.max_skippable_internal_keys = std::min(walked_entries_max_, kSkippedPerStepMax);

  Walk walk;
  const SkippedEntries skipped;
  const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(options, family_));
  std::string next = range.begin;
  do {
    for (rows->Seek(next); rows->Valid() && !ending; rows->Next()) {
      if (walk.live + skipped.Count(walk.live) >= walked_entries_max_) {
        walk.stopped_at = rows->key().ToString();
        break;
      }
      ++walk.live;
    }
    if (ending) return absl::AbortedError("");
    if (!rows->status().IsIncomplete()) break;
    // One step skipped as much as it may. The iterator has no key then, but knows where it is.
    const rocksdb::Status told = rows->GetProperty("rocksdb.iterator.internal-key", &next);
    if (!told.ok()) return FromRocksDb(told, absl::StrCat("rows under ", registry::Printable(range.begin)));
    if (walk.live + skipped.Count(walk.live) >= walked_entries_max_) walk.stopped_at = next;
    next.push_back('\0');
  } while (walk.stopped_at.empty());
  walk.skipped = skipped.Count(walk.live);
  if (!rows->status().ok() && !rows->status().IsIncomplete()) {
    return FromRocksDb(rows->status(), absl::StrCat("rows under ", registry::Printable(range.begin)));
  }
  return walk;
}

}  // namespace caretaker::reference_host
