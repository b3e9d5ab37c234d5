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

namespace caretaker::plugin {

// Backed-off tables that a report lists, the longest streaks first.
inline constexpr size_t kBackedOffReported = 64;

// What an instance shows of itself; copied when a tick ends.
struct InstanceStatus {
  maintenance::CycleStatus cycle;
  size_t backlog = 0;
  size_t failures = 0;  // Tables whose failures are remembered.
  std::vector<maintenance::BackedOffTable> backed_off;
  maintenance::TickResult last_tick;  // tick_number is 0 before the first.
};

// One JSON object. Its size does not depend on the registry: at most MAINTENANCE_REPORT_SIZE_MAX bytes.
std::string ReportJson(absl::string_view prefix, const maintenance::MaintenanceLimits& limits,
                       const InstanceStatus& status, bool tick_running);

}  // namespace caretaker::plugin

#endif  // CARETAKER_PLUGIN_REPORT_H_
