// Where the settings of an instance come from: options, then flags that were set, then the environment, then defaults.
#ifndef CARETAKER_PLUGIN_SETTINGS_H_
#define CARETAKER_PLUGIN_SETTINGS_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "maintenance/maintenance_limits.h"
#include "plugin/maintenance_plugin.h"

namespace caretaker::plugin {

// Reads and validates all sources, now. `options`: `count` of them, borrowed for the call; may be null with 0.
// InvalidArgument: an option is malformed, unknown or given twice, or a value from any source is wrong.
absl::StatusOr<maintenance::MaintenanceLimits> ReadSettings(const maintenance_option* options, size_t count,
                                                            bool with_gflags);

// The effective settings in the boundary's form.
maintenance_settings ToSettings(const maintenance::MaintenanceLimits& limits);

}  // namespace caretaker::plugin

#endif  // CARETAKER_PLUGIN_SETTINGS_H_
