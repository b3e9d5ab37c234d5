// The table locks; the host's. Every path that creates, drops or changes a table takes its lock.
#ifndef CARETAKER_MAINTENANCE_TABLE_LOCKS_H_
#define CARETAKER_MAINTENANCE_TABLE_LOCKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace caretaker::maintenance {

enum class LockOutcome {
  kAcquired,
  kBusy,
  kCancelled,  // The host ended the wait because it wants to stop.
};

class TableLocks {
 public:
  virtual ~TableLocks() = default;

  // Takes the exclusive lock of one table, waiting at most `wait_ns` nanoseconds (0: try once). On kAcquired `*handle`
  // is what Unlock needs. An error says that the lock was not taken.
  virtual absl::Status Lock(absl::string_view table_namespace, absl::string_view table_name, int64_t wait_ns,
                            LockOutcome* outcome, uint64_t* handle) = 0;

  // Gives the lock back, on the thread that took it; exactly once per kAcquired. Does not block. An error is a fault
  // of the host that is told to it; the lock counts as given back.
  virtual absl::Status Unlock(uint64_t handle) = 0;
};

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_TABLE_LOCKS_H_
