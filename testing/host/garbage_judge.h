// How much of a table is garbage: entries that a compaction would drop.
//
// The properties of files do not tell: they count whole files, which tables share, and know nothing of a memtable. What
// tells is to walk the table's own range and to let RocksDB's perf context count what the walk had to skip:
//
//   garbage = deletions skipped + (keys skipped - live rows)
//
// where going on from a live row counts as a skipped key. A range deletion hides rows without skipping them one by one:
// so one walk ignores range deletions and meets all entries, and another one over the same counts the live rows.
#ifndef CARETAKER_TESTING_HOST_GARBAGE_JUDGE_H_
#define CARETAKER_TESTING_HOST_GARBAGE_JUDGE_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "rocksdb/db.h"
#include "testing/host/table_range.h"

namespace caretaker::reference_host {

// What a walk over a table met.
struct Garbage {
  uint64_t live = 0;
  uint64_t skipped = 0;  // Deletions, and rows that they or newer rows hide.
  // Of all entries that were met, 0..100, rounded down; 0 for a table without entries.
  uint64_t percent() const { return live + skipped == 0 ? 0 : skipped * 100 / (live + skipped); }
};

// Thread-safety: any thread, several at once.
class GarbageJudge {
 public:
  static constexpr uint64_t kWalkedEntriesDefault = 20'000;
  static constexpr uint64_t kWalkedEntriesMax = 100'000'000;

  // How many entries one step of RocksDB's iterator may skip before the walk looks around.
  static constexpr uint64_t kSkippedPerStepMax = 10'000;

  // `db` and `family` are borrowed. A walk ends after `walked_entries_max` (1..kWalkedEntriesMax) entries, live or
  // skipped, so that a table with more of them is judged by its first ones. A judgement costs 0.2 to 1.2 ms per 1,000
  // entries walked.
  GarbageJudge(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, uint64_t walked_entries_max)
      : db_(db), family_(family), walked_entries_max_(walked_entries_max) {}

  // Walks `range` twice, unflushed entries included; each walk meets at most walked_entries_max + kSkippedPerStepMax
  // entries. May block for reads from files; pins nothing afterwards. Aborted: `*ending` was raised, which is looked at
  // at every row and every kSkippedPerStepMax skipped entries. Unavailable, ResourceExhausted: the machine's trouble,
  // not the table's. DataLoss: a block is damaged.
  absl::StatusOr<Garbage> Judge(const TableRange& range, const std::atomic<bool>& ending) const;

 private:
  struct Walk {
    uint64_t live = 0;
    uint64_t skipped = 0;
    std::string stopped_at;  // The key at which the bound ended the walk; empty when it came to the end.
  };
  absl::StatusOr<Walk> WalkOver(const TableRange& range, bool ignore_range_deletions,
                                const std::atomic<bool>& ending) const;

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const family_;
  const uint64_t walked_entries_max_;
};

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_GARBAGE_JUDGE_H_
