#include "testing/benchmarks/floor.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "rocksdb/iterator.h"

namespace caretaker::benchmarks {
namespace {

constexpr absl::string_view kPrefix = "tbl/";
constexpr char kPrefixEnd[] = "tbl0";

}  // namespace

rocksdb::Status Floor::ScanPage() {
  const rocksdb::Slice end(kPrefixEnd);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &end;
  const std::unique_ptr<rocksdb::Iterator> iterator(db_->NewIterator(options));
  key_count_ = 0;
  for (iterator->Seek(cursor_.empty() ? std::string(kPrefix) : cursor_); iterator->Valid() && key_count_ < keys_.size();
       iterator->Next()) {
    keys_[key_count_++].assign(iterator->key().data(), iterator->key().size());
  }
  cursor_.clear();
  if (iterator->Valid()) cursor_.assign(iterator->key().data(), iterator->key().size());
  return iterator->status();
}

absl::Status Floor::Visit(const std::string& key) {
  maintenance::TableGeneration table;
  const size_t slash = key.find('/', kPrefix.size());
  if (slash == std::string::npos) return absl::DataLossError(absl::StrCat("floor: ", key, ": is no table's key"));
  table.table_namespace = absl::string_view(key).substr(kPrefix.size(), slash - kPrefix.size());
  table.table_name = absl::string_view(key).substr(slash + 1);
  maintenance::LockOutcome locked = maintenance::LockOutcome::kBusy;
  uint64_t handle = 0;
  absl::Status status = locks_->Lock(table.table_namespace, table.table_name, /*wait_ns=*/0, &locked, &handle);
  if (!status.ok()) return status;
  if (locked != maintenance::LockOutcome::kAcquired)
    return absl::AbortedError(absl::StrCat("floor: ", key, ": is locked"));
  const rocksdb::Status read = db_->Get(rocksdb::ReadOptions(), key, &value_);
  if (read.ok()) {
    table.value = value_;
    maintenance::OperationResult result;
    status = engine_->Maintain({}, table, &result);
  } else {
    status = absl::UnavailableError(absl::StrCat("floor: read of ", key, ": ", read.ToString()));
  }
  const absl::Status unlocked = locks_->Unlock(handle);
  return status.ok() ? unlocked : status;
}

absl::StatusOr<uint64_t> Floor::VisitPage() {
  const rocksdb::Status scanned = ScanPage();
  if (!scanned.ok()) return absl::UnavailableError(absl::StrCat("floor: scan: ", scanned.ToString()));
  for (size_t i = 0; i < key_count_; ++i) {
    absl::Status visited = Visit(keys_[i]);
    if (!visited.ok()) return visited;
  }
  return key_count_;
}

}  // namespace caretaker::benchmarks
