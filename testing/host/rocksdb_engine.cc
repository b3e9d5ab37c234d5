#include "testing/host/rocksdb_engine.h"

#include <limits>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "registry/table_ref.h"
#include "testing/host/rocksdb_status.h"

namespace caretaker::reference_host {
namespace {

std::string Subject(absl::string_view what, const maintenance::TableGeneration& generation) {
  return absl::StrCat(what, " ", registry::Printable(generation.location));
}

}  // namespace

RocksDbEngine::RocksDbEngine(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* data, const RocksDbEngineOptions& options)
    : db_(db), data_(data), options_(options), judge_(db, data, options.walked_entries_max) {}

absl::Status RocksDbEngine::Maintain(const maintenance::OperationCall& call,
                                     const maintenance::TableGeneration& generation,
                                     maintenance::OperationResult* result) {
  watchdog_.Begin(call.remaining_ns);
  const absl::Status maintained = MaintainInTime(generation, result);
  const OperationWatchdog::Verdict verdict = watchdog_.End();
  // Aborted is how MaintainInTime says that the flag ended it. What was done in spite of the flag is done.
  if (!absl::IsAborted(maintained)) return maintained;
  switch (verdict) {
    case OperationWatchdog::Verdict::kCancelled:
      return absl::CancelledError(absl::StrCat(Subject("maintenance of", generation), ": the host is stopping"));
    case OperationWatchdog::Verdict::kTimedOut:
      return absl::DeadlineExceededError(absl::StrCat(
          Subject("maintenance of", generation), ": not done in ", call.remaining_ns.value_or(0) / 1'000'000,
          " ms, which is all that the table timeout allows; raise it, or look for what slows the disk"));
    case OperationWatchdog::Verdict::kInTime:
      break;
  }
  return absl::UnavailableError(
      absl::StrCat(Subject("compaction of", generation), ": manual compactions are turned off in this database"));
}

absl::Status RocksDbEngine::MaintainInTime(const maintenance::TableGeneration& generation,
                                           maintenance::OperationResult* result) {
  if (generation.engine != kEngineName) {
    return absl::UnimplementedError(absl::StrCat("engine: ", registry::Printable(generation.engine), " seen, allowed ",
                                                 kEngineName, "; leave the table to a host that has its engine"));
  }
  const absl::StatusOr<TableRange> range = RangeOfTable(generation.location);
  if (!range.ok()) return range.status();
  const absl::StatusOr<Garbage> garbage = judge_.Judge(*range, *watchdog_.flag());
  if (!garbage.ok()) return garbage.status();
  if (garbage->percent() < options_.garbage_threshold_percent) {
    result->new_version.reset();
    return absl::OkStatus();
  }
  if (generation.version == std::numeric_limits<uint64_t>::max()) {
    return absl::FailedPreconditionError(absl::StrCat(Subject("version of", generation), ": there is none after ",
                                                      generation.version,
                                                      ", and a compacted table needs one; create the table anew"));
  }
  const rocksdb::Status compacted = Compact(*range);
  if (compacted.IsManualCompactionPaused()) return absl::AbortedError("");
  if (!compacted.ok()) return FromRocksDb(compacted, Subject("compaction of", generation));
  result->new_version = generation.version + 1;
  return absl::OkStatus();
}

rocksdb::Status RocksDbEngine::Compact(const TableRange& range) {
  const rocksdb::Slice begin(range.begin);
  const rocksdb::Slice end(range.end);
  rocksdb::CompactRangeOptions options;
  // The registry's own compactions go on meanwhile.
  options.exclusive_manual_compaction = false;
  // The default leaves garbage in the bottommost level, where most of a table is.
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  options.canceled = watchdog_.flag();
  return db_->CompactRange(options, data_, &begin, &end);
}

}  // namespace caretaker::reference_host
