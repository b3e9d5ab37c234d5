// The work of a tick. In numbered steps, each with the function in table_sweep.cc that takes it:
//
//   1. Cancel and the right to act are asked for; they beat everything below.                          GoOn
//   2. With an empty backlog, one page is scanned, by a few requests if the first ones are empty. Its
//      continuation is the cursor's from then on, its entries are the backlog.                         ScanPage
//   3. Candidates are taken from the front of the backlog while operations and time last.              SweepBacklog
//   4. For each, unless it sits out its failures: lock, ask again, read again, maintain exactly that
//      generation, ask for the right to act, publish by compare-and-set, unlock.  Visit, VisitLocked, Operate, Publish
//   5. Tables that were busy are tried once more, without waiting.                                     SweepBacklog
//   6. The end of the prefix with an empty backlog ends the cycle.                                     AccountForCycle
//
// Bounds: at most table_page_size entries, scan_requests_max scan requests and max_operations operations a tick, one
// table lock at a time, one page in memory. Nothing grows with the registry.
#ifndef CARETAKER_MAINTENANCE_TABLE_SWEEP_H_
#define CARETAKER_MAINTENANCE_TABLE_SWEEP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "maintenance/cursor.h"
#include "maintenance/cursor_codec.h"
#include "maintenance/cycle_accounting.h"
#include "maintenance/engine.h"
#include "maintenance/failure_memory.h"
#include "maintenance/host_control.h"
#include "maintenance/maintenance_limits.h"
#include "maintenance/table_locks.h"
#include "maintenance/tick_result.h"
#include "maintenance/visit_log.h"
#include "registry/metastore.h"
#include "registry/registration_codec.h"
#include "registry/table_registration_page.h"
#include "registry/table_registry.h"

namespace caretaker::maintenance {

// What a sweep works with; all borrowed, and must outlive it. `control` may be null: never cancelled, always allowed.
struct SweepHost {
  registry::MetaStore* metastore = nullptr;
  registry::RegistrationCodec* codec = nullptr;
  TableLocks* locks = nullptr;
  Engine* engine = nullptr;
  HostControl* control = nullptr;
  Clock* clock = nullptr;
  // False: the engine publishes new versions itself, and a changed table is maintained.
  bool publishes = true;
};

// Thread-safety: one thread at a time.
class TableSweep {
 public:
  // REQUIRES: registry::ValidateTablePrefix(prefix) is OK. The walk is taken up where `resumed` says.
  TableSweep(const SweepHost& host, const MaintenanceLimits& limits, absl::string_view prefix,
             CursorState resumed = {});

  // Runs one tick on this thread and writes what it did to `*result`; blocks as long as the host's functions do. Never
  // throws: out of memory is the tick's status, and the tables that were not finished stay in the backlog.
  void Tick(TickResult* result);

  // Tells `name` the keys of the candidates that the next tick will visit, in order, and changes nothing: no lock, no
  // operation, no publication; the cursor, the cycle and the failures stay as they are. On a registry that stays as it
  // is, and where neither cancel, fence, time budget nor a failure comes between, the next tick visits exactly these.
  // Reads each registration without its lock, to know which take an operation. An error of `name` ends it and is the
  // status.
  //
  // Of `*result` only status, ended_by (the next tick's), cycle_number, scan_requests and the times are written.
  void DryRun(const std::function<absl::Status(absl::string_view key)>& name, TickResult* result);

  // Sets `*encoded` to the exported cursor (cursor_codec.h). REQUIRES: no tick runs.
  void ExportCursor(std::string* encoded);

  const CycleStatus& cycle() const { return cycles_.status(); }
  // May be used on any thread, also during a tick.
  FailureMemory& failures() { return failures_; }
  const FailureMemory& failures() const { return failures_; }
  // May be used on any thread, also during a tick.
  const VisitLog& visits() const { return visits_; }
  size_t backlog_size() const { return cursor_.backlog().size(); }

 private:
  friend class ActiveTick;

  const SweepHost host_;
  const MaintenanceLimits limits_;
  registry::TableRegistry registry_;
  Cursor cursor_;
  CycleAccounting cycles_;
  FailureMemory failures_;
  VisitLog visits_;
  uint64_t ticks_ = 0;

  // Kept between ticks for their memory only.
  registry::TableRegistrationPage next_page_;
  registry::StoredRegistration stored_;
  std::vector<size_t> busy_;
  CursorState exported_;
};

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_TABLE_SWEEP_H_
