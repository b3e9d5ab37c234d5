// A RocksDB with a registry of many tables, for measurements: made in seconds, removed at the end.
#ifndef CARETAKER_TESTING_BENCHMARKS_REGISTRY_DATABASE_H_
#define CARETAKER_TESTING_BENCHMARKS_REGISTRY_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"

namespace caretaker::benchmarks {

// Registry values are about so large, in ten fields, and there are so many different ones: a loop over one value would
// only train the branch predictor.
inline constexpr size_t kValueBytes = 400;
inline constexpr uint64_t kDifferentValues = 10'000;
inline constexpr size_t kBlockCacheBytes = size_t{64} << 20;

// Thread-safety: as RocksDB's own.
class RegistryDatabase {
 public:
  // Makes a database with `tables` registrations (1..10^9) in a new folder under the temporary one, each in its place
  // on the bottom level. An error is RocksDB's, or the disk's.
  static absl::StatusOr<std::unique_ptr<RegistryDatabase>> Create(uint64_t tables);
  // Removes it.
  ~RegistryDatabase();
  RegistryDatabase(const RegistryDatabase&) = delete;
  RegistryDatabase& operator=(const RegistryDatabase&) = delete;

  rocksdb::OptimisticTransactionDB* db() const { return db_.get(); }
  uint64_t tables() const { return tables_; }
  // The key of a table, of 0..tables-1; keys are in this order.
  static std::string Key(uint64_t table);

 private:
  RegistryDatabase() = default;

  std::string path_;
  uint64_t tables_ = 0;
  std::unique_ptr<rocksdb::OptimisticTransactionDB> db_;
};

}  // namespace caretaker::benchmarks

#endif  // CARETAKER_TESTING_BENCHMARKS_REGISTRY_DATABASE_H_
