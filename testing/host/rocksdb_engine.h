// The reference host's engine: maintains a table by really compacting its rows, when enough of them is garbage.
//
// Judge first, compact then: a compaction rewrites what it touches whether or not that is of use, and would do so again
// in every cycle. CompactRange works on whole files, so tables that share a file are cleaned together.
//
// The rules of plugin/maintenance_plugin.h: [E-1] a table that is maintained already has no garbage, and is unchanged.
// [E-2] a compaction drops only what no reader of the table can see, so no version loses anything. [E-3] a compacted
// table has the version after the one given.
#ifndef CARETAKER_TESTING_HOST_ROCKSDB_ENGINE_H_
#define CARETAKER_TESTING_HOST_ROCKSDB_ENGINE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "maintenance/engine.h"
#include "rocksdb/db.h"
#include "testing/host/garbage_judge.h"
#include "testing/host/operation_watchdog.h"
#include "testing/host/table_range.h"

namespace caretaker::reference_host {

struct RocksDbEngineOptions {
  // A table is compacted when at least so much of what its judgement met is garbage. 1..100.
  uint64_t garbage_threshold_percent = 50;
  // See GarbageJudge.
  uint64_t walked_entries_max = GarbageJudge::kWalkedEntriesDefault;
};

// Thread-safety: Maintain on one thread at a time; everything else on any.
class RocksDbEngine : public maintenance::Engine {
 public:
  // Borrows `db` and `data`, the family that holds the rows. Automatic compactions are expected to be off in it, so
  // that an operation waits for none.
  RocksDbEngine(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* data, const RocksDbEngineOptions& options);

  // As maintenance::Engine says. Blocks while RocksDB reads and compacts. A deadline or Cancel ends it within about a
  // millisecond, but for three phases: the flush of the memtable that a compaction begins with, waiting behind another
  // compaction, and a step of a judgement, which skips 10,000 entries at most.
  //
  // Errors: DeadlineExceeded, Cancelled: the table is as it was, or partly compacted; no row is lost. Unavailable,
  // ResourceExhausted: the machine or the database is in trouble, not the table. Unimplemented: the registration names
  // another engine, which makes its own versions. InvalidArgument: the location names no
  // table. FailedPrecondition: there is garbage, but no version after the one given. DataLoss: damaged files.
  absl::Status Maintain(const maintenance::OperationCall& call, const maintenance::TableGeneration& generation,
                        maintenance::OperationResult* result) override;

  // What a registration's `engine` has to say.
  static constexpr absl::string_view kEngineName = "rocksdb";

  // Cancels the operation that runs and every later one. Returns at once.
  void Cancel() { watchdog_.Cancel(); }

  // Is the operation that runs asked to end?
  bool ending_operation() { return *watchdog_.flag(); }

 private:
  absl::Status MaintainInTime(const maintenance::TableGeneration& generation, maintenance::OperationResult* result);
  rocksdb::Status Compact(const TableRange& range);

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const data_;
  const RocksDbEngineOptions options_;
  const GarbageJudge judge_;
  OperationWatchdog watchdog_;
};

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_ROCKSDB_ENGINE_H_
