// The plugin's gflags, one per setting.
//
// They are registered by a call, never by a static initialiser: loading has no effect, and a clash of names is a status
// instead of the end of the process. gflags keeps pointers to what is registered here and has no way to take it back,
// which is why the library is never unmapped (linked with -z nodelete).
#ifndef CARETAKER_PLUGIN_FLAGS_H_
#define CARETAKER_PLUGIN_FLAGS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "maintenance/maintenance_limits.h"

namespace caretaker::plugin {

// Registers all flags, once per process; later calls are OK and do nothing. AlreadyExists: a flag of one of these names
// is there and is not ours, and none was registered. Thread-safe against itself, not against other users of gflags.
absl::Status RegisterFlags();

// The text of the setting's flag if it is registered and was set (on a command line, or by gflags' functions).
std::optional<std::string> FlagText(maintenance::Setting setting);

}  // namespace caretaker::plugin

#endif  // CARETAKER_PLUGIN_FLAGS_H_
