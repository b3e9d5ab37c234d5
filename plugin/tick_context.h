// The results of a tick in the boundary's form.
#ifndef CARETAKER_PLUGIN_TICK_CONTEXT_H_
#define CARETAKER_PLUGIN_TICK_CONTEXT_H_

#include "absl/status/status.h"
#include "maintenance/tick_result.h"
#include "plugin/maintenance_plugin.h"

namespace caretaker::plugin {

// Writes everything but the inputs. `context` is a whole struct of this side's size.
void WriteTickResult(const maintenance::TickResult& result, maintenance_tick_context* context);

// Writes an error of this plugin's. Statuses that were made where memory may be short have no message of their own, and
// get one here. Does not allocate.
void WriteOwnError(const absl::Status& status, maintenance_error* host_error);

}  // namespace caretaker::plugin

#endif  // CARETAKER_PLUGIN_TICK_CONTEXT_H_
