// RocksDB's statuses as absl's, chosen by what the caller does next.
#ifndef CARETAKER_TESTING_HOST_ROCKSDB_STATUS_H_
#define CARETAKER_TESTING_HOST_ROCKSDB_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "rocksdb/status.h"

namespace caretaker::reference_host {

// `status` with `what` in front of its words, which are made printable.
// - ResourceExhausted: no space or no memory. Unavailable: any other trouble of the machine, or of the database as a
//   whole. Neither says anything about the table that was worked on: a host that maintains tables must not hold it
//   against them.
// - DataLoss: stored bytes are damaged.
// - Internal: RocksDB refused the call: a fault of this host.
absl::Status FromRocksDb(const rocksdb::Status& status, absl::string_view what);

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_ROCKSDB_STATUS_H_
