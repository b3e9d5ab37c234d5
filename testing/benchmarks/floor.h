// The floor under the cost of a tick: the same walk over the registry as a loop written by hand, with nothing of what
// the plugin adds. No table of functions, no decoding, no bound on skipped entries, no outcome, no event.
//
// It takes the same locks and calls the same engine as the tick that it is compared with.
// Thread-safety: one thread.
#ifndef CARETAKER_TESTING_BENCHMARKS_FLOOR_H_
#define CARETAKER_TESTING_BENCHMARKS_FLOOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "maintenance/engine.h"
#include "maintenance/table_locks.h"
#include "rocksdb/db.h"

namespace caretaker::benchmarks {

class Floor {
 public:
  // All three are borrowed for as long as this lives.
  Floor(rocksdb::DB* db, maintenance::TableLocks* locks, maintenance::Engine* engine, size_t page_size)
      : db_(db), locks_(locks), engine_(engine), keys_(page_size) {}

  // Scans the next page, and locks, reads, maintains and unlocks each table on it. Returns how many tables that were;
  // the page after the last is the first one. Errors: whatever was not as in a registry that nobody else uses.
  absl::StatusOr<uint64_t> VisitPage();

 private:
  rocksdb::Status ScanPage();
  absl::Status Visit(const std::string& key);

  rocksdb::DB* const db_;
  maintenance::TableLocks* const locks_;
  maintenance::Engine* const engine_;
  std::string cursor_;
  // Kept from page to page, so that the loop allocates no more than it must.
  std::vector<std::string> keys_;
  size_t key_count_ = 0;
  std::string value_;
};

}  // namespace caretaker::benchmarks

#endif  // CARETAKER_TESTING_BENCHMARKS_FLOOR_H_
