// Makes a sample database for the reference host: tables with real rows, most of them with garbage.
//
// One ingested file per table for its rows and one for its deletions: only so does each table show its own garbage. In
// a database filled with one flush for all, the first compaction would clean every table at once.
#ifndef CARETAKER_TESTING_HOST_SAMPLE_H_
#define CARETAKER_TESTING_HOST_SAMPLE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"

namespace caretaker::reference_host {

struct SampleOptions {
  static constexpr uint64_t kTablesMax = 100'000;
  static constexpr uint64_t kRowsPerTableMax = 100'000;

  uint64_t tables = 0;            // 1..kTablesMax
  uint64_t rows_per_table = 200;  // 10..kRowsPerTableMax
  // Asked between two files; true ends it. May be empty.
  std::function<bool()> is_stopped;
};

// Makes the database at `path`. Table i, from 0, is registered as `tbl/sample<i mod 5>/table<i>` with the location
// `tables/<i>` (numbers with eight digits) in the bytes that the origin system writes: compact JSON, its fields in the
// order location, engine, current_version, incarnation_id, schema_ipc; every second table has an incarnation, every
// third a schema. Each table has rows_per_table rows; of all but every fourth, nine rows in ten are deleted.
//
// All or nothing: after an error there is nothing at `path`, unless it says otherwise. 2,000 tables take a few
// seconds. AlreadyExists: there was something at `path`, which was not touched. Cancelled: is_stopped said so.
// Unavailable, ResourceExhausted: RocksDB could not write.
absl::Status MakeSample(const std::string& path, const SampleOptions& options);

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_SAMPLE_H_
