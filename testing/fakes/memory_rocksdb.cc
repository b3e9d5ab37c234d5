#include "testing/fakes/memory_rocksdb.h"

#include <cstdlib>
#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "rocksdb/file_system.h"
#include "rocksdb/table.h"

#if defined(__SANITIZE_THREAD__)
// Debian's RocksDB is not instrumented: the atomics that synchronise its memtables are not seen by the sanitizer, which
// would report each copy into them, and each look at what a store hands out of them. The store itself has no state.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:librocksdb.so\nrace:caretaker::registry::RocksDbMetaStore::\n";
}
#endif

namespace caretaker::testing {
namespace {

void Require(const rocksdb::Status& status, const char* what) {
  if (status.ok()) return;
  std::cerr << "memory rocksdb: " << what << ": " << status.ToString() << "\n";
  std::abort();
}

rocksdb::Slice Slice(absl::string_view bytes) { return {bytes.data(), bytes.size()}; }

class HookedLog : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  HookedLog(std::unique_ptr<rocksdb::FSWritableFile>&& file, std::shared_ptr<RocksDbFileHooks> hooks)
      : FSWritableFileOwnerWrapper(std::move(file)), hooks_(std::move(hooks)) {}

  using FSWritableFileOwnerWrapper::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           rocksdb::IODebugContext* debug) override {
    ++hooks_->log_appends;
    if (hooks_->on_log_append) {
      const rocksdb::IOStatus answer = hooks_->on_log_append();
      if (!answer.ok()) return answer;
    }
    return FSWritableFileOwnerWrapper::Append(data, options, debug);
  }

  rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
    ++hooks_->log_syncs;
    if (hooks_->on_log_sync) {
      const rocksdb::IOStatus answer = hooks_->on_log_sync();
      if (!answer.ok()) return answer;
    }
    return FSWritableFileOwnerWrapper::Sync(options, debug);
  }

 private:
  const std::shared_ptr<RocksDbFileHooks> hooks_;
};

class HookedTable : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  HookedTable(std::unique_ptr<rocksdb::FSRandomAccessFile>&& file, std::shared_ptr<RocksDbFileHooks> hooks)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), hooks_(std::move(hooks)) {}

  rocksdb::IOStatus Read(uint64_t offset, size_t size, const rocksdb::IOOptions& options, rocksdb::Slice* result,
                         char* scratch, rocksdb::IODebugContext* debug) const override {
    if (hooks_->on_table_read) {
      const rocksdb::IOStatus answer = hooks_->on_table_read();
      if (!answer.ok()) return answer;
    }
    return FSRandomAccessFileOwnerWrapper::Read(offset, size, options, result, scratch, debug);
  }

 private:
  const std::shared_ptr<RocksDbFileHooks> hooks_;
};

class HookedFileSystem : public rocksdb::FileSystemWrapper {
 public:
  HookedFileSystem(const std::shared_ptr<rocksdb::FileSystem>& files, std::shared_ptr<RocksDbFileHooks> hooks)
      : FileSystemWrapper(files), hooks_(std::move(hooks)) {}

  const char* Name() const override { return "HookedFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus opened = FileSystemWrapper::NewWritableFile(name, options, file, debug);
    if (opened.ok() && absl::EndsWith(name, ".log")) *file = std::make_unique<HookedLog>(std::move(*file), hooks_);
    return opened;
  }

  rocksdb::IOStatus NewRandomAccessFile(const std::string& name, const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* file,
                                        rocksdb::IODebugContext* debug) override {
    const rocksdb::IOStatus opened = FileSystemWrapper::NewRandomAccessFile(name, options, file, debug);
    if (opened.ok() && absl::EndsWith(name, ".sst")) *file = std::make_unique<HookedTable>(std::move(*file), hooks_);
    return opened;
  }

 private:
  const std::shared_ptr<RocksDbFileHooks> hooks_;
};

}  // namespace

MemoryRocksDb::MemoryRocksDb(const Options& options)
    : options_(options),
      hooks_(std::make_shared<RocksDbFileHooks>()),
      memory_env_(rocksdb::NewMemEnv(rocksdb::Env::Default())),
      env_(rocksdb::NewCompositeEnv(std::make_shared<HookedFileSystem>(memory_env_->GetFileSystem(), hooks_))) {
  Open();
}

// The database goes before the environments that it lives in.
MemoryRocksDb::~MemoryRocksDb() { db_.reset(); }

void MemoryRocksDb::Open() {
  rocksdb::Options options;
  options.env = env_.get();
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  options.write_buffer_size = size_t{256} << 20;
  rocksdb::BlockBasedTableOptions table_options;
  table_options.no_block_cache = true;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options));
  if (options_.adjust) options_.adjust(&options);

  rocksdb::OptimisticTransactionDBOptions transaction_options;
  transaction_options.validate_policy = options_.policy;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  rocksdb::OptimisticTransactionDB* db = nullptr;
  Require(rocksdb::OptimisticTransactionDB::Open(
              options, transaction_options, "/memory",
              {rocksdb::ColumnFamilyDescriptor(rocksdb::kDefaultColumnFamilyName, options)}, &families, &db),
          "open");
  db_.reset(db);
  for (rocksdb::ColumnFamilyHandle* family : families) Require(db->DestroyColumnFamilyHandle(family), "handle");
}

void MemoryRocksDb::Reopen() {
  db_.reset();
  Open();
}

void MemoryRocksDb::Flush() { Require(db_->Flush(rocksdb::FlushOptions()), "flush"); }

void MemoryRocksDb::Put(absl::string_view key, absl::string_view value) {
  Require(db_->GetBaseDB()->Put(rocksdb::WriteOptions(), Slice(key), Slice(value)), "put");
}

void MemoryRocksDb::Delete(absl::string_view key) {
  Require(db_->GetBaseDB()->Delete(rocksdb::WriteOptions(), Slice(key)), "delete");
}

std::string MemoryRocksDb::Read(absl::string_view key) {
  std::string value;
  Require(db_->Get(rocksdb::ReadOptions(), Slice(key), &value), "get");
  return value;
}

}  // namespace caretaker::testing
