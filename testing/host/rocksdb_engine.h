// The reference host's engine: maintains a table by really compacting its rows, when enough of them is garbage.
//
// A table's rows are the keys under `<location>/` in the column family `data`. Properties of files mislead, so garbage
// is found by walking that range with RocksDB's perf context, bounded in entries: deletions and older versions that the
// walk had to skip, as a part of all it met. Compaction takes place in the files that hold the range; what has no
// garbage is left alone.
#ifndef CARETAKER_TESTING_HOST_ROCKSDB_ENGINE_H_
#define CARETAKER_TESTING_HOST_ROCKSDB_ENGINE_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "maintenance/engine.h"
#include "rocksdb/db.h"

namespace caretaker::reference_host {

// What a bounded walk over a table's range met.
struct Garbage {
  uint64_t live = 0;
  uint64_t skipped = 0;  // Deletions and older versions.
  // 0..100; 0 for an empty range.
  uint64_t percent() const { return live + skipped == 0 ? 0 : skipped * 100 / (live + skipped); }
};

// Thread-safety: Maintain on one thread at a time, Stop on any.
class RocksDbEngine : public maintenance::Engine {
 public:
  // Internal entries that a walk looks at before it judges by what it met.
  static constexpr uint64_t kWalkedEntriesMax = 20000;

  // `db` and `data` are borrowed. A table is compacted when at least `threshold_percent` (1..100) of it is garbage.
  RocksDbEngine(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* data, uint64_t threshold_percent);
  ~RocksDbEngine() override;

  // As maintenance::Engine says. DeadlineExceeded and Cancelled come within milliseconds, except while RocksDB flushes
  // or waits behind another compaction.
  absl::Status Maintain(const maintenance::OperationCall& call, const maintenance::TableGeneration& generation,
                        maintenance::OperationResult* result) override;

  absl::StatusOr<Garbage> Judge(const std::string& location) const;

  // Cancels the operation that runs and every later one.
  void Stop();

 private:
  absl::Status Compact(const std::string& location, std::optional<int64_t> remaining_ns);
  // The watchdog's thread: RocksDB has no deadlines, so this cancels what is over its time.
  void Watch();

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const data_;
  const uint64_t threshold_percent_;

  std::atomic<bool> cancelled_{false};  // RocksDB looks at this one.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;  // Guarded by mutex_, as what follows.
  bool timed_out_ = false;
  bool stopped_ = false;
  bool ending_ = false;
  std::thread watchdog_;
};

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_ROCKSDB_ENGINE_H_
