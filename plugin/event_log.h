// Where the event of a tick goes when the host has no log of its own.
//
// The library does not link glog: loading it would register glog's flags (log_dir, v and thirty more), and end a
// process that has a flag of one of these names itself. Where the process has glog, which it then has for itself, the
// event is a line of it; everywhere else a line on stderr. Decision 0006.
#ifndef CARETAKER_PLUGIN_EVENT_LOG_H_
#define CARETAKER_PLUGIN_EVENT_LOG_H_

#include "absl/strings/string_view.h"
#include "maintenance/tick_result.h"

namespace caretaker::plugin {

// Writes one line, from the calling thread. Never throws; what can not be written is lost. Thread-safety: any thread.
void LogEvent(maintenance::Severity severity, absl::string_view text) noexcept;

}  // namespace caretaker::plugin

#endif  // CARETAKER_PLUGIN_EVENT_LOG_H_
