// The storage engine that maintains tables; the host's.
#ifndef CARETAKER_MAINTENANCE_ENGINE_H_
#define CARETAKER_MAINTENANCE_ENGINE_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace caretaker::maintenance {

// One generation of one table, as read under its lock. Views are borrowed for the call.
struct TableGeneration {
  absl::string_view table_namespace;
  absl::string_view table_name;
  absl::string_view location;
  absl::string_view engine;
  std::optional<absl::string_view> incarnation;
  uint64_t version = 0;
  absl::string_view value;  // The registration's bytes as they were read.
};

struct OperationCall {
  std::optional<int64_t> remaining_ns;  // The operation's deadline, from the start of the call; absent: none.
  std::optional<uint64_t> fence_token;
};

struct OperationResult {
  std::optional<uint64_t> new_version;  // Absent: unchanged. Otherwise above the version that was given.
};

class Engine {
 public:
  virtual ~Engine() = default;

  // Maintains one table, whose lock the caller holds. May be called again with a version that it has already
  // maintained, and succeeds. Deletes nothing that the given version needs: the process may die before the new version
  // is published. Blocks until done, `remaining_ns` has passed or the host cancels it. Errors: DeadlineExceeded: the
  // time was up. Cancelled: the host stopped it. Unavailable, ResourceExhausted: the engine is in trouble, not the
  // table. Any other: maintaining this table failed. Threads: the tick's; one call at a time per plugin instance.
  virtual absl::Status Maintain(const OperationCall& call, const TableGeneration& generation,
                                OperationResult* result) = 0;
};

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_ENGINE_H_
