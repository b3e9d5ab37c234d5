#include "testing/benchmarks/registry_database.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "registry/rocksdb_metastore.h"
#include "rocksdb/cache.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"

namespace caretaker::benchmarks {
namespace {

rocksdb::Options MakeOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kBlockCacheBytes);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

// As the origin writes them, with the fields of a real catalog around those that the plugin reads.
std::string Value(uint64_t i) {
  std::string value = absl::StrFormat(
      R"({"location":"warehouse/%08d/data","engine":"rocksdb","current_version":%d,"incarnation_id":"%016x",)"
      R"("owner":"team-%d","created_at":%d,"format":"columnar","comment":"%s","retention_days":%d,"schema_ipc":[)",
      i * 7919, i * i + 1, i * 0x9E3779B97F4A7C15u, i % 97, 1'700'000'000 + i, std::string(i % 41, 'c'), i % 365);
  for (uint64_t byte = i; value.size() < kValueBytes - 4; byte = byte * 31 + 7)
    absl::StrAppend(&value, byte % 256, ",");
  return absl::StrCat(value, i % 256, "]}");
}

absl::Status ToStatus(const rocksdb::Status& status) {
  return status.ok() ? absl::OkStatus() : absl::UnavailableError(absl::StrCat("database: ", status.ToString()));
}

absl::Status WriteTables(const rocksdb::Options& options, uint64_t tables, const std::string& path) {
  std::vector<std::string> values;
  values.reserve(kDifferentValues);
  for (uint64_t i = 0; i < kDifferentValues; ++i) values.push_back(Value(i));
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  rocksdb::Status status = writer.Open(path);
  for (uint64_t i = 0; status.ok() && i < tables; ++i) {
    status = writer.Put(RegistryDatabase::Key(i), values[i % kDifferentValues]);
  }
  return ToStatus(status.ok() ? writer.Finish() : status);
}

}  // namespace

std::string RegistryDatabase::Key(uint64_t table) {
  return absl::StrFormat("tbl/ns%05d/table%09d", table / 1000, table);
}

absl::StatusOr<std::unique_ptr<RegistryDatabase>> RegistryDatabase::Create(uint64_t tables) {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "registry_database_XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat("folder ", path, ": can not be made; set TMPDIR to a folder with room"));
  }
  std::unique_ptr<RegistryDatabase> made(new RegistryDatabase());
  made->path_ = path;
  made->tables_ = tables;
  const rocksdb::Options options = MakeOptions();
  const std::string file = path + "/tables.sst";
  if (absl::Status written = WriteTables(options, tables, file); !written.ok()) return written;
  rocksdb::OptimisticTransactionDB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const rocksdb::Status opened =
      rocksdb::OptimisticTransactionDB::Open(options, registry::RocksDbMetaStore::TransactionOptions(), path + "/db",
                                             {{rocksdb::kDefaultColumnFamilyName, options}}, &handles, &db);
  if (!opened.ok()) return ToStatus(opened);
  made->db_.reset(db);
  for (rocksdb::ColumnFamilyHandle* const handle : handles) db->DestroyColumnFamilyHandle(handle);
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  if (absl::Status ingested = ToStatus(db->IngestExternalFile({file}, ingest)); !ingested.ok()) return ingested;
  return made;
}

RegistryDatabase::~RegistryDatabase() {
  db_.reset();
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace caretaker::benchmarks
