// The document behind maintenance_report.
#ifndef CARETAKER_PLUGIN_REPORT_H_
#define CARETAKER_PLUGIN_REPORT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "maintenance/failure_memory.h"
#include "maintenance/maintenance_limits.h"
#include "maintenance/table_sweep.h"
#include "maintenance/tick_result.h"
#include "maintenance/visit_log.h"

namespace caretaker::plugin {

// Backed-off tables that a report lists, the longest streaks first.
inline constexpr size_t kBackedOffReported = 64;

// Ticks that a report lists.
inline constexpr size_t kTicksReported = 16;

// What an instance shows of itself: copied when a tick ends, but for what is running.
struct InstanceStatus {
  maintenance::CycleStatus cycle;
  size_t backlog = 0;
  size_t failures = 0;  // Tables whose failures are remembered.
  std::vector<maintenance::BackedOffTable> backed_off;
  std::vector<maintenance::TickResult> last_ticks;  // The newest first, at most kTicksReported.
  maintenance::RunningVisit running;
  std::vector<maintenance::RecentVisit> recent;  // The newest first.
  int64_t now_ns = 0;                            // The host's clock, for how long ago things were.
};

// One JSON object. Its size does not depend on the registry: at most MAINTENANCE_REPORT_SIZE_MAX bytes.
std::string ReportJson(absl::string_view prefix, const maintenance::MaintenanceLimits& limits,
                       const InstanceStatus& status, bool tick_running);

}  // namespace caretaker::plugin

#endif  // CARETAKER_PLUGIN_REPORT_H_
