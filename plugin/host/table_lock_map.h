// A ready-made map of table locks for hosts of one process: exclusive, timed, fair, and forgetting idle names.
//
// A later arrival never overtakes a waiter; a waiter whose time is up leaves the line. Memory is bounded by the locks
// that are held or waited for. It is local to the process: hosts in several processes on one registry need a lock
// service or leases. Thread-safety: any thread.
#ifndef CARETAKER_PLUGIN_HOST_TABLE_LOCK_MAP_H_
#define CARETAKER_PLUGIN_HOST_TABLE_LOCK_MAP_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "maintenance/table_locks.h"

namespace caretaker::host {

class TableLockMap : public maintenance::TableLocks {
 public:
  TableLockMap() = default;
  TableLockMap(const TableLockMap&) = delete;
  TableLockMap& operator=(const TableLockMap&) = delete;

  // As maintenance::TableLocks says. The host's own paths that create, drop or change a table call it as well. Waits of
  // more than a year are cut at that. Out of memory it throws, and holds nothing.
  // kCancelled: CancelWaits was called; a lock that is free is given all the same.
  absl::Status Lock(absl::string_view table_namespace, absl::string_view table_name, int64_t wait_ns,
                    maintenance::LockOutcome* outcome, uint64_t* handle) override;

  // FailedPrecondition: `handle` is not held; nothing was done.
  absl::Status Unlock(uint64_t handle) override;

  // Ends all waits, and every later one, with kCancelled: the host is stopping.
  void CancelWaits();

  // Names that are held or waited for.
  size_t size() const;
  // Callers that wait now.
  size_t waiting() const;

 private:
  class Place;
  struct Name {
    std::list<uint64_t> line;  // Handles: the front one holds the lock, the others wait.
  };

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool cancelled_ = false;  // Guarded by mutex_, as everything below.
  uint64_t last_handle_ = 0;
  std::map<std::string, Name> names_;
  std::map<uint64_t, std::string> held_;  // Name by handle.
};

}  // namespace caretaker::host

#endif  // CARETAKER_PLUGIN_HOST_TABLE_LOCK_MAP_H_
