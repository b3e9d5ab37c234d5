#include "testing/host/database.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "registry/rocksdb_metastore.h"
#include "rocksdb/env.h"
#include "rocksdb/listener.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/utilities/table_properties_collectors.h"
#include "testing/host/info_log.h"
#include "testing/host/rocksdb_status.h"

namespace caretaker::reference_host {
namespace {

constexpr char kData[] = "data";
// A file of the registry with this many deletions in so many neighbouring entries is compacted soon.
constexpr size_t kDeletionWindow = 1000;
constexpr size_t kDeletionTrigger = 500;
constexpr size_t kDataWriteBufferBytes = size_t{4} << 20;

std::string Subject(const std::string& path) { return absl::StrCat("database ", path); }

rocksdb::DBOptions DbOptions() {
  rocksdb::DBOptions options;
  options.max_open_files = Database::kOpenFilesMax;
  return options;
}

// For a database that is opened, not looked at.
rocksdb::DBOptions DbOptions(const std::string& path) {
  rocksdb::DBOptions options = DbOptions();
  options.info_log = std::make_shared<InfoLog>(path);
  return options;
}

rocksdb::ColumnFamilyOptions RegistryOptions() {
  rocksdb::ColumnFamilyOptions options;
  // Makes the holes that dropped tables leave go away soon after they are flushed.
  options.table_properties_collector_factories = {
      rocksdb::NewCompactOnDeletionCollectorFactory(kDeletionWindow, kDeletionTrigger)};
  return options;
}

rocksdb::ColumnFamilyOptions FamilyOptions(const std::string& name) {
  if (name == kData) return DataOptions();
  if (name == rocksdb::kDefaultColumnFamilyName) return RegistryOptions();
  // Without its owner's merge operator or filter a compaction of this family would fail, or worse.
  rocksdb::ColumnFamilyOptions options;
  options.disable_auto_compactions = true;
  return options;
}

uint64_t IntProperty(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, const std::string& name) {
  uint64_t value = 0;
  return db->GetIntProperty(family, name, &value) ? value : 0;
}

rocksdb::Status MakeEmpty(const std::string& path) {
  rocksdb::Options options(DbOptions(path), RegistryOptions());
  options.create_if_missing = true;
  rocksdb::DB* created = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(options, path, &created);
  if (!status.ok()) return status;
  const std::unique_ptr<rocksdb::DB> db(created);
  rocksdb::ColumnFamilyHandle* data = nullptr;
  status = db->CreateColumnFamily(DataOptions(), kData, &data);
  if (status.ok()) status = db->DestroyColumnFamilyHandle(data);
  return status.ok() ? db->Close() : status;
}

// Can the database be opened for writing? Found out before anything in it is touched: RocksDB itself begins its log
// first.
absl::Status CheckWritable(const std::string& path) {
  rocksdb::Env* const env = rocksdb::Env::Default();
  rocksdb::FileLock* lock = nullptr;
  const rocksdb::Status locked = env->LockFile(path + "/LOCK", &lock);
  if (!locked.ok()) {
    const absl::Status status = FromRocksDb(locked, Subject(path));
    const bool in_use = absl::StrContains(status.message(), "While lock file") ||
                        absl::StrContains(status.message(), "lock hold by current process");
    return absl::UnavailableError(absl::StrCat(
        status.message(), in_use ? "; a process has it open: stop that one, or give the path of another database"
                                 : "; the host writes: make it writable for this user"));
  }
  env->UnlockFile(lock);
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(path, error);
  if (!error && space.available < Database::kFreeBytesMin) {
    return absl::ResourceExhaustedError(absl::StrCat(Subject(path), ": its disk is full, ", space.available,
                                                     " bytes are free, at least ", Database::kFreeBytesMin,
                                                     " needed; free some"));
  }
  return absl::OkStatus();
}

}  // namespace

// What ended the writing, if anything did. RocksDB calls it on any thread.
class Database::ErrorListener : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* status) override {
    if (!EndsWriting(*status)) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (error_.ok()) error_ = *status;
  }

  // RocksDB would write into its log again behind the record that failed, and its own assertion would end the process
  // (facebook/rocksdb issue 11643).
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status status, bool* auto_recovery) override {
    if (EndsWriting(status)) *auto_recovery = false;
  }

  rocksdb::Status error() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return error_;
  }

 private:
  // Other soft errors are one compaction's, and the next one may succeed.
  static bool EndsWriting(const rocksdb::Status& status) {
    return status.IsNoSpace() || status.severity() >= rocksdb::Status::Severity::kHardError;
  }

  mutable std::mutex mutex_;
  rocksdb::Status error_;  // Guarded by mutex_.
};

rocksdb::Options DataOptions() {
  rocksdb::Options options(DbOptions(), rocksdb::ColumnFamilyOptions());
  options.disable_auto_compactions = true;
  options.write_buffer_size = kDataWriteBufferBytes;
  return options;
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(const std::string& path) {
  std::error_code error;
  const bool is_there = std::filesystem::exists(absl::StrCat(path, "/CURRENT"), error);
  if (error) {
    return absl::UnavailableError(
        absl::StrCat(Subject(path), ": can not be looked at: ", error.message(), "; make it readable for this user"));
  }
  if (!is_there) {
    return absl::NotFoundError(
        absl::StrCat(Subject(path), ": is not there; give the path of one, or make a sample with --seed_tables=N"));
  }
  if (absl::Status writable = CheckWritable(path); !writable.ok()) return writable;
  std::vector<std::string> families;
  const rocksdb::Status listed = rocksdb::DB::ListColumnFamilies(DbOptions(), path, &families);
  if (!listed.ok()) return FromRocksDb(listed, Subject(path));
  if (std::find(families.begin(), families.end(), kData) == families.end()) {
    return absl::FailedPreconditionError(absl::StrCat(Subject(path), ": has no column family ", kData,
                                                      " for rows; make it: ldb --db=", path, " create_column_family ",
                                                      kData));
  }
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
  descriptors.reserve(families.size());
  for (const std::string& family : families) descriptors.emplace_back(family, FamilyOptions(family));
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::OptimisticTransactionDB* db = nullptr;
  rocksdb::DBOptions options = DbOptions(path);
  const auto listener = std::make_shared<ErrorListener>();
  options.listeners.push_back(listener);
  const rocksdb::Status opened = rocksdb::OptimisticTransactionDB::Open(
      options, registry::RocksDbMetaStore::TransactionOptions(), path, descriptors, &handles, &db);
  if (!opened.ok()) return FromRocksDb(opened, Subject(path));
  std::unique_ptr<Database> database(new Database());
  database->path_ = path;
  database->listener_ = listener;
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

absl::StatusOr<std::unique_ptr<Database>> Database::Create(const std::string& path) {
  std::error_code error;
  // Whoever makes the folder owns what is in it; of two processes only one does.
  if (!std::filesystem::create_directory(path, error)) {
    if (error && error != std::errc::file_exists) {
      return absl::UnavailableError(absl::StrCat(Subject(path), ": can not be made: ", error.message()));
    }
    return absl::AlreadyExistsError(absl::StrCat(
        Subject(path), ": there is something already, which is left alone; give --seed_tables a path that is free"));
  }
  const rocksdb::Status made = MakeEmpty(path);
  absl::StatusOr<std::unique_ptr<Database>> database =
      made.ok() ? Open(path) : absl::StatusOr<std::unique_ptr<Database>>(FromRocksDb(made, Subject(path)));
  if (!database.ok()) std::filesystem::remove_all(path, error);
  return database;
}

Database::~Database() {
  for (rocksdb::ColumnFamilyHandle* const handle : {registry_, data_}) {
    if (handle != nullptr) db_->DestroyColumnFamilyHandle(handle);
  }
}

absl::Status Database::WriteError() const {
  const rocksdb::Status error = listener_->error();
  if (error.ok()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(FromRocksDb(error, Subject(path_)).message(),
                                                    "; RocksDB writes nothing more: mend the disk, and start again"));
}

uint64_t Database::BytesOnDisk() const {
  return IntProperty(db_.get(), registry_, rocksdb::DB::Properties::kLiveSstFilesSize) +
         IntProperty(db_.get(), data_, rocksdb::DB::Properties::kLiveSstFilesSize);
}

uint64_t Database::EstimatedRegistrations() const {
  return IntProperty(db_.get(), registry_, rocksdb::DB::Properties::kEstimateNumKeys);
}

uint64_t Database::FileCount() const {
  uint64_t files = 0;
  for (rocksdb::ColumnFamilyHandle* const family : {registry_, data_}) {
    rocksdb::ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(family, &metadata);
    files += metadata.file_count;
  }
  return files;
}

absl::StatusOr<uint64_t> Database::CountEntries(const std::function<bool()>& is_stopped) const {
  uint64_t entries = 0;
  for (rocksdb::ColumnFamilyHandle* const family : {registry_, data_}) {
    entries += IntProperty(db_.get(), family, rocksdb::DB::Properties::kNumEntriesActiveMemTable) +
               IntProperty(db_.get(), family, rocksdb::DB::Properties::kNumEntriesImmMemTables);
    rocksdb::ColumnFamilyMetaData metadata;
    db_->GetColumnFamilyMetaData(family, &metadata);
    // RocksDB gives the properties of the files in a range: of a file's own range, and so of others that reach into it.
    rocksdb::TablePropertiesCollection files;
    for (const rocksdb::LevelMetaData& level : metadata.levels) {
      for (const rocksdb::SstFileMetaData& file : level.files) {
        const std::string path = file.db_path + file.name;
        if (files.count(path) != 0) continue;
        if (is_stopped && is_stopped()) return absl::CancelledError("counting entries: the host is stopping");
        const rocksdb::Range range(file.smallestkey, file.largestkey);
        const rocksdb::Status read = db_->GetPropertiesOfTablesInRange(family, &range, 1, &files);
        if (!read.ok()) return FromRocksDb(read, absl::StrCat("counting entries of ", path));
      }
    }
    for (const auto& [path, properties] : files) entries += properties->num_entries;
  }
  return entries;
}

}  // namespace caretaker::reference_host
