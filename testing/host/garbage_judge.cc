// A judgement takes these steps:
// 1. Walk the range. Without range deletions that is the answer.
// 2. Otherwise walk it again, ignoring range deletions: all entries there are, up to a key where the bound may end it.
// 3. Walk what step 2 covered once more to count its live rows: the other entries are garbage.
#include "testing/host/garbage_judge.h"

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
    range_deletions_ = Perf().internal_range_del_reseek_count;
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
  bool RangeDeletions() const { return Perf().internal_range_del_reseek_count != range_deletions_; }

 private:
  static const rocksdb::PerfContext& Perf() { return *rocksdb::get_perf_context(); }

  const rocksdb::PerfLevel level_;
  uint64_t deletions_;
  uint64_t keys_;
  uint64_t range_deletions_;
};

}  // namespace

absl::StatusOr<Garbage> GarbageJudge::Judge(const TableRange& range) const {
  absl::StatusOr<Walk> visible = WalkOver(range, /*ignore_range_deletions=*/false);
  if (!visible.ok()) return visible.status();
  if (!visible->met_range_deletion) return Garbage{visible->live, visible->skipped};

  const absl::StatusOr<Walk> all = WalkOver(range, /*ignore_range_deletions=*/true);
  if (!all.ok()) return all.status();
  if (!all->stopped_at.empty()) {
    visible = WalkOver({range.begin, all->stopped_at}, /*ignore_range_deletions=*/false);
    if (!visible.ok()) return visible.status();
  }
  const uint64_t entries = all->live + all->skipped;
  return Garbage{visible->live, entries > visible->live ? entries - visible->live : 0};
}

absl::StatusOr<GarbageJudge::Walk> GarbageJudge::WalkOver(const TableRange& range, bool ignore_range_deletions) const {
  const rocksdb::Slice upper_bound(range.end);
  rocksdb::ReadOptions options;
  options.total_order_seek = true;
  options.iterate_upper_bound = &upper_bound;
  options.ignore_range_deletions = ignore_range_deletions;
  options.max_skippable_internal_keys = walked_entries_max_;

  Walk walk;
  const SkippedEntries skipped;
  const std::unique_ptr<rocksdb::Iterator> rows(db_->NewIterator(options, family_));
  for (rows->Seek(range.begin); rows->Valid(); rows->Next()) {
    if (walk.live + skipped.Count(walk.live) >= walked_entries_max_) {
      walk.stopped_at = rows->key().ToString();
      break;
    }
    ++walk.live;
  }
  walk.skipped = skipped.Count(walk.live);
  walk.met_range_deletion = skipped.RangeDeletions();
  // Incomplete: one step skipped as much as a walk may see. The iterator has no key then, but knows where it is.
  if (rows->status().IsIncomplete()) {
    const rocksdb::Status told = rows->GetProperty("rocksdb.iterator.internal-key", &walk.stopped_at);
    if (told.ok()) return walk;
  }
  if (!rows->status().ok()) {
    return FromRocksDb(rows->status(), absl::StrCat("rows under ", registry::Printable(range.begin)));
  }
  return walk;
}

}  // namespace caretaker::reference_host
