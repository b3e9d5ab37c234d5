#include "testing/benchmarks/large_registry.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "rocksdb/cache.h"
#include "rocksdb/table.h"

namespace caretaker::benchmarks {
namespace {

constexpr size_t kBlockCacheBytes = size_t{64} << 20;
constexpr uint64_t kNamespaces = 10;
constexpr int kSchemaBytes = 24;

absl::Status Failure(const std::string& path, const std::string& why) {
  return absl::UnavailableError(absl::StrCat("registry ", path, ": can not be made or opened: ", why));
}

uint64_t Below(uint64_t bound, std::mt19937_64* random) { return (*random)() % bound; }

std::string Text(uint64_t size, std::mt19937_64* random) {
  std::string text(size, ' ');
  for (char& letter : text) letter = static_cast<char>('a' + Below(26, random));
  return text;
}

// The fields are in one writer's order; lengths and contents differ from table to table. One random number a statement:
// compilers differ in the order in which they evaluate arguments.
std::string Registration(uint64_t table, std::mt19937_64* random) {
  std::string value = absl::StrFormat(R"({"location":"tables/%016x","engine":"rocksdb","current_version":)", table);
  absl::StrAppend(&value, Below(100'000, random));
  absl::StrAppend(&value, R"(,"incarnation_id":")", Text(32, random));
  const uint64_t owner_size = 5 + Below(15, random);
  absl::StrAppend(&value, R"(","owner":")", Text(owner_size, random));
  absl::StrAppend(&value, R"(","format":")", Below(2, random) == 0 ? "arrow" : "parquet");
  absl::StrAppend(&value, R"(","created_at_ms":)", 1'600'000'000'000 + Below(100'000'000'000, random));
  absl::StrAppend(&value, R"(,"row_count":)", Below(1'000'000'000, random));
  const uint64_t comment_size = 20 + Below(80, random);
  absl::StrAppend(&value, R"(,"comment":")", Text(comment_size, random));
  absl::StrAppend(&value, R"(","schema_ipc":[255)");
  for (int i = 1; i < kSchemaBytes; ++i) absl::StrAppend(&value, ",", Below(256, random));
  return absl::StrCat(value, "]}");
}

rocksdb::Options Options() {
  rocksdb::BlockBasedTableOptions blocks;
  blocks.block_cache = rocksdb::NewLRUCache(kBlockCacheBytes);
  rocksdb::Options options;
  options.create_if_missing = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
  return options;
}

rocksdb::Status Fill(rocksdb::DB* db, uint64_t tables) {
  // A registry that was not made whole is no use, so a log of it is not, either.
  rocksdb::WriteOptions unlogged;
  unlogged.disableWAL = true;
  std::mt19937_64 random;  // With its default seed: the same registry in every process.
  rocksdb::Status status;
  for (uint64_t table = 0; status.ok() && table < tables; ++table) {
    status = db->Put(unlogged, absl::StrFormat("tbl/benchmark%d/table%08d", table % kNamespaces, table),
                     Registration(table, &random));
  }
  if (status.ok()) status = db->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr);
  return status;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LargeRegistry>> LargeRegistry::Open(const std::string& folder, uint64_t tables) {
  std::unique_ptr<LargeRegistry> opened(new LargeRegistry());
  std::error_code error;
  std::string path = folder;
  if (path.empty()) {
    path = std::filesystem::temp_directory_path(error) / "large_registry_XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return Failure(path, std::generic_category().message(errno));
    opened->temporary_folder_ = path;
  }
  const bool there = std::filesystem::exists(absl::StrCat(path, "/CURRENT"), error);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::OptimisticTransactionDB* db = nullptr;
  rocksdb::Status status =
      rocksdb::OptimisticTransactionDB::Open(Options(), registry::RocksDbMetaStore::TransactionOptions(), path,
                                             {{rocksdb::kDefaultColumnFamilyName, Options()}}, &handles, &db);
  opened->db_.reset(db);
  // The database keeps one of its own for this family.
  if (status.ok()) status = db->DestroyColumnFamilyHandle(handles.front());
  if (status.ok() && !there) status = Fill(db, tables);
  if (!status.ok()) return Failure(path, status.ToString());
  absl::StatusOr<std::unique_ptr<registry::RocksDbMetaStore>> metastore =
      registry::RocksDbMetaStore::Create(db, db->DefaultColumnFamily());
  if (!metastore.ok()) return metastore.status();
  opened->metastore_ = *std::move(metastore);
  return opened;
}

LargeRegistry::~LargeRegistry() {
  metastore_.reset();
  db_.reset();
  std::error_code error;
  if (!temporary_folder_.empty()) std::filesystem::remove_all(temporary_folder_, error);
}

}  // namespace caretaker::benchmarks
