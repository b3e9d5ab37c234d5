// A registry of many tables in a RocksDB on disk, settled as compaction leaves it, for benchmarks.
//
// Every registration is another one, of about 400 bytes in 10 fields: a loop over one value would train the branch
// predictor. The block cache holds 64 MiB, so that it takes in ten thousand tables, but not a million.
// Thread-safety: as RocksDB's own.
#ifndef CARETAKER_TESTING_BENCHMARKS_LARGE_REGISTRY_H_
#define CARETAKER_TESTING_BENCHMARKS_LARGE_REGISTRY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "registry/rocksdb_metastore.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"

namespace caretaker::benchmarks {

class LargeRegistry {
 public:
  // Opens the registry of `tables` tables in `folder`, and makes it where there is none; a million take some 10 s.
  // What is there is used as it is: whoever counts on its tables counts them. With an empty `folder` it is made in a
  // temporary one, which is removed with this object. Unavailable: it can not be made or opened; messages say where.
  static absl::StatusOr<std::unique_ptr<LargeRegistry>> Open(const std::string& folder, uint64_t tables);

  ~LargeRegistry();
  LargeRegistry(const LargeRegistry&) = delete;
  LargeRegistry& operator=(const LargeRegistry&) = delete;

  rocksdb::DB* db() const { return db_.get(); }
  registry::RocksDbMetaStore* metastore() const { return metastore_.get(); }

 private:
  LargeRegistry() = default;

  std::string temporary_folder_;  // Empty: what was made stays.
  std::unique_ptr<rocksdb::OptimisticTransactionDB> db_;
  std::unique_ptr<registry::RocksDbMetaStore> metastore_;
};

}  // namespace caretaker::benchmarks

#endif  // CARETAKER_TESTING_BENCHMARKS_LARGE_REGISTRY_H_
