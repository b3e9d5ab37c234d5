// The reference host's RocksDB: the registry in the default column family, table rows in the family `data`.
#ifndef CARETAKER_TESTING_HOST_DATABASE_H_
#define CARETAKER_TESTING_HOST_DATABASE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"

namespace caretaker::reference_host {

// How the family `data` is opened, and its files are written.
rocksdb::Options DataOptions();

// An open database; closes it. Thread-safety: as RocksDB's own.
class Database {
 public:
  // Opens what is there. Nothing is created, and families other than the two are left alone: they are open, as RocksDB
  // wants it, but not compacted. Blocks while RocksDB replays its log.
  //
  // The family `data` gets no automatic compactions (maintenance is the plugin's decision, and must not wait for one of
  // RocksDB's own) and a small write buffer (the flush before a compaction cannot be interrupted). A process has at
  // most kOpenFilesMax of the files open.
  //
  // NotFound: there is no database at `path`. FailedPrecondition: it lacks the family `data`. Unavailable: it can not
  // be read or written, or another process has it open. ResourceExhausted: less than kFreeBytesMin is free on its disk.
  // DataLoss: it is damaged. Messages name the path, and what to do. After the first four nothing was written.
  static absl::StatusOr<std::unique_ptr<Database>> Open(const std::string& path);

  // Makes an empty database with both families, and opens it. AlreadyExists: there is something at `path`, and it was
  // not touched. After another error there is nothing at `path`. Unavailable: it can not be made there.
  static absl::StatusOr<std::unique_ptr<Database>> Create(const std::string& path);

  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::OptimisticTransactionDB* db() const { return db_.get(); }
  rocksdb::ColumnFamilyHandle* registry() const { return registry_; }
  rocksdb::ColumnFamilyHandle* data() const { return data_; }

  // FailedPrecondition: RocksDB has given up writing, because of a full disk for example, and says why; only opening
  // the database again helps. Returns at once.
  absl::Status WriteError() const;

  // Of both families' live files; without the log, and files that wait for their deletion. Returns at once.
  uint64_t BytesOnDisk() const;

  // About as many as the keys of the registry's family: dropped ones may count, too. Returns at once.
  uint64_t EstimatedRegistrations() const;

  // Live files of both families. Returns at once.
  uint64_t FileCount() const;

  // Internal entries of both families, in files and memtables: rows, deletions, and what they hide. Exact, from each
  // file's properties: it opens every file, 0.1 ms each, and asks `is_stopped` (may be empty) before each. Cancelled:
  // it said so. Unavailable, DataLoss: a file can not be read; the message names it.
  absl::StatusOr<uint64_t> CountEntries(const std::function<bool()>& is_stopped = nullptr) const;

  // A fresh machine allows a process 1,024 open files; a sample database has more.
  static constexpr int kOpenFilesMax = 512;
  // RocksDB writes a manifest and flushes its log when it opens; some of its versions end the process when they can
  // not.
  static constexpr uint64_t kFreeBytesMin = uint64_t{16} << 20;

 private:
  class ErrorListener;

  Database() = default;

  std::string path_;
  std::shared_ptr<ErrorListener> listener_;
  std::unique_ptr<rocksdb::OptimisticTransactionDB> db_;
  rocksdb::ColumnFamilyHandle* registry_ = nullptr;
  rocksdb::ColumnFamilyHandle* data_ = nullptr;
};

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_DATABASE_H_
