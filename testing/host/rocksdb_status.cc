#include "testing/host/rocksdb_status.h"

#include "absl/strings/str_cat.h"
#include "registry/table_ref.h"

namespace caretaker::reference_host {
namespace {

constexpr size_t kWordsSizeMax = 512;

absl::StatusCode Code(const rocksdb::Status& status) {
  // The sub-codes first: no space is an IOError for RocksDB, no memory an Aborted.
  if (status.IsNoSpace() || status.IsMemoryLimit()) return absl::StatusCode::kResourceExhausted;
  switch (status.code()) {
    case rocksdb::Status::kOk:
      return absl::StatusCode::kOk;
    case rocksdb::Status::kIOError:
    case rocksdb::Status::kIncomplete:
    case rocksdb::Status::kShutdownInProgress:
    case rocksdb::Status::kTimedOut:
    case rocksdb::Status::kAborted:
    case rocksdb::Status::kBusy:
    case rocksdb::Status::kTryAgain:
      return absl::StatusCode::kUnavailable;
    case rocksdb::Status::kCorruption:
      return absl::StatusCode::kDataLoss;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status FromRocksDb(const rocksdb::Status& status, absl::string_view what) {
  if (status.ok()) return absl::OkStatus();
  return absl::Status(Code(status), absl::StrCat(what, ": ", registry::Printable(status.ToString(), kWordsSizeMax)));
}

}  // namespace caretaker::reference_host
