// The reference host's RocksDB: the registry in the default column family, table rows in `data`.
#ifndef CARETAKER_TESTING_HOST_DATABASE_H_
#define CARETAKER_TESTING_HOST_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"

namespace caretaker::reference_host {

// What the database holds now, in both families.
struct DatabaseSize {
  uint64_t bytes = 0;    // Of live files.
  uint64_t entries = 0;  // Internal ones: rows, deletions and older versions, in files and memtables.
};

// An open database. Closes it. Thread-safety: as RocksDB.
class Database {
 public:
  // NotFound, FailedPrecondition, Unavailable: it is missing, lacks the family `data`, or can not be opened (locked by
  // another process, damaged); the message names the path. Nothing is created or written.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path);

  // Makes a database of `tables` tables with rows, three quarters of them with most rows deleted. AlreadyExists: there
  // is something at `path`; nothing was touched.
  static absl::Status Seed(const std::string& path, uint64_t tables);

  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::OptimisticTransactionDB* db() const { return db_.get(); }
  rocksdb::ColumnFamilyHandle* registry() const { return registry_; }
  rocksdb::ColumnFamilyHandle* data() const { return data_; }
  DatabaseSize Size() const;

 private:
  Database() = default;

  std::unique_ptr<rocksdb::OptimisticTransactionDB> db_;
  rocksdb::ColumnFamilyHandle* registry_ = nullptr;
  rocksdb::ColumnFamilyHandle* data_ = nullptr;
};

// RocksDB's status with `what` in front: no space is ResourceExhausted, other trouble of the machine Unavailable.
absl::Status FromRocksDb(const rocksdb::Status& status, const std::string& what);

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_DATABASE_H_
