// A real RocksDB in memory, with hooks where it meets its files: for tests that want a failing log, or something to
// happen between a read and a commit.
#ifndef CARETAKER_TESTING_FAKES_MEMORY_ROCKSDB_H_
#define CARETAKER_TESTING_FAKES_MEMORY_ROCKSDB_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "rocksdb/env.h"
#include "rocksdb/io_status.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"

namespace caretaker::testing {

// Called on whichever thread RocksDB does it on; set them while nothing else uses the database.
struct RocksDbFileHooks {
  // Before bytes go to the write-ahead log, and before it is synced. A status that is not OK takes their place.
  std::function<rocksdb::IOStatus()> on_log_append;
  std::function<rocksdb::IOStatus()> on_log_sync;
  // Before a table file is read. Whoever reads sees what was visible before the hook.
  std::function<rocksdb::IOStatus()> on_table_read;

  std::atomic<int> log_appends{0};
  std::atomic<int> log_syncs{0};
};

// Automatic compactions are off and there is no block cache, so that what is where is the test's choice. Every failure
// of RocksDB itself ends the test binary.
//
// Thread-safety: as RocksDB's own, but for Reopen and the hooks.
class MemoryRocksDb {
 public:
  struct Options {
    rocksdb::OccValidationPolicy policy = rocksdb::OccValidationPolicy::kValidateSerial;
    std::function<void(rocksdb::Options* options)> adjust;
  };

  MemoryRocksDb() : MemoryRocksDb(Options()) {}
  explicit MemoryRocksDb(const Options& options);
  ~MemoryRocksDb();
  MemoryRocksDb(const MemoryRocksDb&) = delete;
  MemoryRocksDb& operator=(const MemoryRocksDb&) = delete;

  // Closes the database and opens it again from its files and its log. What db() and family() gave is void.
  void Reopen();
  void Flush();

  // Straight to the base database, past every transaction.
  void Put(absl::string_view key, absl::string_view value);
  void Delete(absl::string_view key);
  // The value of a key that is there.
  std::string Read(absl::string_view key);

  rocksdb::OptimisticTransactionDB* db() { return db_.get(); }
  rocksdb::ColumnFamilyHandle* family() { return db_->DefaultColumnFamily(); }
  RocksDbFileHooks& hooks() { return *hooks_; }

 private:
  void Open();

  const Options options_;
  const std::shared_ptr<RocksDbFileHooks> hooks_;
  std::unique_ptr<rocksdb::Env> memory_env_;
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<rocksdb::OptimisticTransactionDB> db_;
};

}  // namespace caretaker::testing

#endif  // CARETAKER_TESTING_FAKES_MEMORY_ROCKSDB_H_
