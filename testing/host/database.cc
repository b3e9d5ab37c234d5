#include "testing/host/database.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "registry/rocksdb_metastore.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/utilities/table_properties_collectors.h"

namespace caretaker::reference_host {
namespace {

constexpr char kData[] = "data";
// A fresh machine allows a process 1,024 open files; a sample database has more.
constexpr int kOpenFilesMax = 512;
constexpr int kRowsPerTable = 200;
constexpr int kRowsKept = 20;
// Files that one ingestion takes.
constexpr size_t kFilesPerIngestion = 500;

rocksdb::ColumnFamilyOptions RegistryOptions() {
  rocksdb::ColumnFamilyOptions options;
  // Makes holes of dropped tables go away soon after they are flushed.
  options.table_properties_collector_factories = {rocksdb::NewCompactOnDeletionCollectorFactory(1000, 500)};
  return options;
}

rocksdb::ColumnFamilyOptions DataOptions() {
  rocksdb::ColumnFamilyOptions options;
  // Maintenance is the plugin's decision, and waits for no compaction of RocksDB's own.
  options.disable_auto_compactions = true;
  // A flush cannot be interrupted: keep it short.
  options.write_buffer_size = size_t{4} << 20;
  return options;
}

rocksdb::DBOptions DbOptions() {
  rocksdb::DBOptions options;
  options.max_open_files = kOpenFilesMax;
  return options;
}

std::string Location(uint64_t table) { return absl::StrFormat("tables/%08d", table); }
std::string RowKey(uint64_t table, int row) { return absl::StrFormat("%s/%06d", Location(table), row); }

// A registration as the origin writes it; incarnation and schema are there in some.
std::string Registration(uint64_t table) {
  std::string value =
      absl::StrCat(R"({"location":")", Location(table), R"(","engine":"rocksdb","current_version":)", table % 1000 + 1);
  if (table % 2 == 0) absl::StrAppend(&value, R"(,"incarnation_id":")", absl::StrFormat("%026d", table), "\"");
  if (table % 3 == 0) absl::StrAppend(&value, R"(,"schema_ipc":[255,255,255,255,16,1,0,0,)", table % 256, "]");
  return absl::StrCat(value, "}");
}

// One file of rows, or of deletions of most of them: only so does each table show its own garbage.
rocksdb::Status WriteFile(const rocksdb::Options& options, uint64_t table, bool deletions, const std::string& path) {
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options);
  rocksdb::Status status = writer.Open(path);
  for (int row = 0; status.ok() && row < (deletions ? kRowsPerTable - kRowsKept : kRowsPerTable); ++row) {
    status = deletions ? writer.Delete(RowKey(table, row)) : writer.Put(RowKey(table, row), std::string(100, 'r'));
  }
  return status.ok() ? writer.Finish() : status;
}

rocksdb::Status Ingest(Database* database, const std::string& folder, uint64_t tables, bool deletions) {
  const rocksdb::Options options(DbOptions(), DataOptions());
  rocksdb::IngestExternalFileOptions ingestion;
  ingestion.move_files = true;
  std::vector<std::string> files;
  rocksdb::Status status;
  for (uint64_t table = 0; status.ok() && table < tables; ++table) {
    if (!deletions || table % 4 != 0) {
      files.push_back(absl::StrCat(folder, "/", table, deletions ? ".deletions" : ".rows"));
      status = WriteFile(options, table, deletions, files.back());
    }
    if (status.ok() && !files.empty() && (files.size() == kFilesPerIngestion || table + 1 == tables)) {
      status = database->db()->IngestExternalFile(database->data(), files, ingestion);
      files.clear();
    }
  }
  return status;
}

uint64_t IntProperty(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, const std::string& name) {
  uint64_t value = 0;
  return db->GetIntProperty(family, name, &value) ? value : 0;
}

}  // namespace

absl::Status FromRocksDb(const rocksdb::Status& status, const std::string& what) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = absl::StrCat(what, ": ", status.ToString());
  if (status.IsNoSpace()) return absl::ResourceExhaustedError(message);
  if (status.IsIOError() || status.IsBusy() || status.IsTryAgain()) return absl::UnavailableError(message);
  if (status.IsCorruption()) return absl::DataLossError(message);
  return absl::InternalError(message);
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& path) {
  if (!std::filesystem::exists(path + "/CURRENT")) {
    return absl::NotFoundError(
        absl::StrCat("database ", path, ": is not there; give the path of one, or --seed_tables=N"));
  }
  std::vector<std::string> families;
  const rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(DbOptions(), path, &families);
  if (!listed.ok()) return FromRocksDb(listed, absl::StrCat("database ", path));
  if (std::find(families.begin(), families.end(), kData) == families.end()) {
    return absl::FailedPreconditionError(absl::StrCat("database ", path, ": has no column family ", kData,
                                                      "; make it with: ldb create_column_family ", kData));
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& family : families) {
    descriptors.emplace_back(family, family == kData ? DataOptions() : RegistryOptions());
  }
  std::unique_ptr<Database> database(new Database());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::OptimisticTransactionDB* db = nullptr;
  const rocksdb::Status opened = rocksdb::OptimisticTransactionDB::Open(
      DbOptions(), registry::RocksDbMetaStore::TransactionOptions(), path, descriptors, &handles, &db);
  if (!opened.ok()) return FromRocksDb(opened, absl::StrCat("database ", path));
  database->db_.reset(db);
  for (rocksdb::ColumnFamilyHandle* const handle : handles) {
    if (handle->GetName() == kData) {
      database->data_ = handle;
    } else if (handle->GetName() == rocksdb::kDefaultColumnFamilyName) {
      database->registry_ = handle;
    } else {
      db->DestroyColumnFamilyHandle(handle);
    }
  }
  return database;
}

Database::~Database() {
  for (rocksdb::ColumnFamilyHandle* const handle : {registry_, data_}) {
    if (handle != nullptr) db_->DestroyColumnFamilyHandle(handle);
  }
}

absl::Status Database::Seed(const std::string& path, uint64_t tables) {
  if (std::filesystem::exists(path)) {
    return absl::AlreadyExistsError(
        absl::StrCat("database ", path, ": is there already; give --seed_tables a new path"));
  }
  const std::string what = absl::StrCat("making database ", path);
  rocksdb::Options options(DbOptions(), RegistryOptions());
  options.create_if_missing = true;
  rocksdb::DB* created = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(options, path, &created);
  if (!status.ok()) return FromRocksDb(status, what);
  rocksdb::ColumnFamilyHandle* family = nullptr;
  status = created->CreateColumnFamily(DataOptions(), kData, &family);
  if (status.ok()) created->DestroyColumnFamilyHandle(family);
  delete created;
  if (!status.ok()) return FromRocksDb(status, what);

  auto database = Open(path);
  if (!database.ok()) return database.status();
  const std::string folder = path + "/seed";
  std::filesystem::create_directory(folder);
  status = Ingest(database->get(), folder, tables, /*deletions=*/false);
  if (status.ok()) status = Ingest(database->get(), folder, tables, /*deletions=*/true);
  std::filesystem::remove_all(folder);
  for (uint64_t table = 0; status.ok() && table < tables; ++table) {
    status = (*database)->db()->Put(rocksdb::WriteOptions(), (*database)->registry(),
                                    absl::StrFormat("tbl/sample%d/table%08d", table % 4, table), Registration(table));
  }
  if (status.ok()) status = (*database)->db()->FlushWAL(/*sync=*/true);
  return FromRocksDb(status, what);
}

DatabaseSize Database::Size() const {
  DatabaseSize size;
  for (rocksdb::ColumnFamilyHandle* const family : {registry_, data_}) {
    size.bytes += IntProperty(db_.get(), family, rocksdb::DB::Properties::kLiveSstFilesSize);
    size.entries += IntProperty(db_.get(), family, rocksdb::DB::Properties::kNumEntriesActiveMemTable) +
                    IntProperty(db_.get(), family, rocksdb::DB::Properties::kNumEntriesImmMemTables);
    rocksdb::TablePropertiesCollection files;
    if (!db_->GetPropertiesOfAllTables(family, &files).ok()) continue;
    for (const auto& [name, properties] : files) size.entries += properties->num_entries;
  }
  return size;
}

}  // namespace caretaker::reference_host
