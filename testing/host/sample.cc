#include "testing/host/sample.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "rocksdb/sst_file_writer.h"
#include "testing/host/database.h"
#include "testing/host/rocksdb_status.h"

namespace caretaker::reference_host {
namespace {

// RocksDB takes the files of one call together; this bounds what a call holds in memory.
constexpr size_t kFilesPerIngestion = 500;
constexpr size_t kRowBytes = 100;
constexpr uint64_t kSchemaBytes = 120;
// One row in so many survives, in tables that have garbage.
constexpr uint64_t kKeptRow = 10;
// No multiple of four: tables with and without garbage are neighbours in the registry.
constexpr uint64_t kNamespaces = 5;

std::string Location(uint64_t table) { return absl::StrFormat("tables/%08d", table); }
std::string RowKey(uint64_t table, uint64_t row) { return absl::StrFormat("%s/%08d", Location(table), row); }

std::string Registration(uint64_t table) {
  std::string value = absl::StrCat("{\"location\":\"", Location(table),
                                   "\",\"engine\":\"rocksdb\",\"current_version\":", table % 1000 + 1);
  if (table % 2 == 0) absl::StrAppend(&value, ",\"incarnation_id\":\"", absl::StrFormat("%026d", table), "\"");
  if (table % 3 == 0) {
    // An Arrow message begins with four bytes of 255 and its size; what follows differs from table to table.
    absl::StrAppend(&value, ",\"schema_ipc\":[255,255,255,255,", kSchemaBytes, ",0,0,0");
    for (uint64_t i = 0; i < kSchemaBytes; ++i) absl::StrAppend(&value, ",", (table * 31 + i * 7) % 256);
    absl::StrAppend(&value, "]");
  }
  return absl::StrCat(value, "}");
}

enum class FileKind { kRows, kDeletions };

class SampleMaker {
 public:
  SampleMaker(Database* database, const std::string& folder, const SampleOptions& options)
      : database_(*database), folder_(folder), options_(options) {}

  absl::Status Make() {
    for (const FileKind kind : {FileKind::kRows, FileKind::kDeletions}) {
      if (absl::Status ingested = Ingest(kind); !ingested.ok()) return ingested;
    }
    rocksdb::Status status;
    for (uint64_t table = 0; status.ok() && table < options_.tables; ++table) {
      status = database_.db()->Put(rocksdb::WriteOptions(), database_.registry(),
                                   absl::StrFormat("tbl/sample%d/table%08d", table % kNamespaces, table),
                                   Registration(table));
    }
    if (status.ok()) status = database_.db()->FlushWAL(/*sync=*/true);
    return FromRocksDb(status, "sample registrations");
  }

 private:
  absl::Status Ingest(FileKind kind) {
    rocksdb::IngestExternalFileOptions ingestion;
    ingestion.move_files = true;
    ingestion.write_global_seqno = false;
    std::vector<std::string> files;
    for (uint64_t table = 0; table < options_.tables; ++table) {
      if (options_.is_stopped && options_.is_stopped()) return absl::CancelledError("the host is stopping");
      if (kind == FileKind::kRows || table % 4 != 0) {
        files.push_back(absl::StrCat(folder_, "/", table));
        const rocksdb::Status written = WriteFile(kind, table, files.back());
        if (!written.ok()) return FromRocksDb(written, files.back());
      }
      if (files.size() < kFilesPerIngestion && table + 1 < options_.tables) continue;
      // A sample of one table has no deletions.
      if (files.empty()) continue;
      const rocksdb::Status ingested = database_.db()->IngestExternalFile(database_.data(), files, ingestion);
      if (!ingested.ok()) return FromRocksDb(ingested, "sample rows");
      files.clear();
    }
    return absl::OkStatus();
  }

  rocksdb::Status WriteFile(FileKind kind, uint64_t table, const std::string& path) const {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), data_options_);
    const std::string value(kRowBytes, 'r');
    rocksdb::Status status = writer.Open(path);
    for (uint64_t row = 0; status.ok() && row < options_.rows_per_table; ++row) {
      if (kind == FileKind::kRows) {
        status = writer.Put(RowKey(table, row), value);
      } else if (row % kKeptRow != 0) {
        status = writer.Delete(RowKey(table, row));
      }
    }
    return status.ok() ? writer.Finish() : status;
  }

  const Database& database_;
  const std::string folder_;
  const SampleOptions& options_;
  const rocksdb::Options data_options_ = DataOptions();
};

absl::Status MakeIn(Database* database, const std::string& path, const SampleOptions& options) {
  const std::string folder = absl::StrCat(path, "/sample_files");
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (error) return absl::UnavailableError(absl::StrCat(folder, ": can not be made: ", error.message()));
  absl::Status made = SampleMaker(database, folder, options).Make();
  std::filesystem::remove_all(folder, error);
  return made;
}

}  // namespace

absl::Status MakeSample(const std::string& path, const SampleOptions& options) {
  absl::StatusOr<std::unique_ptr<Database>> database = Database::Create(path);
  if (!database.ok()) return database.status();
  const absl::Status made = MakeIn(database->get(), path, options);
  if (made.ok()) return made;
  // All that is at the path is what this call has made.
  database->reset();
  std::error_code error;
  std::filesystem::remove_all(path, error);
  return absl::Status(made.code(),
                      absl::StrCat("sample database ", path, ": ", std::string(made.message()),
                                   error ? "; what was made of it is left there" : "; what was made of it is removed"));
}

}  // namespace caretaker::reference_host
