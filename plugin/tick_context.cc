#include "plugin/tick_context.h"

#include <algorithm>

#include "plugin/boundary.h"

namespace caretaker::plugin {

void WriteTickResult(const maintenance::TickResult& result, maintenance_tick_context* context) {
  context->status = boundary::ToCode(result.status);
  context->ended_by = static_cast<int32_t>(result.ended_by);
  context->cycle_completed = result.cycle_completed ? 1 : 0;
  context->cycle_restarted = result.cycle_restarted ? 1 : 0;
  context->cycle_short = result.cycle_short ? 1 : 0;
  context->cycle_visited = result.cycle_visited;
  context->last_cycle_visited = result.last_cycle_visited;
  context->stalled_ticks = result.stalled_ticks;
  context->call_again_ms = result.call_again_ms;
  context->tick_number = result.tick_number;
  context->cycle_number = result.cycle_number;
  context->backlog_before = result.backlog_before;
  context->scanned = result.scanned;
  context->backlog_after = result.backlog_after;
  context->scan_requests = result.scan_requests;
  context->operations = result.operations;
  context->generation_changed = result.generation_changed;
  std::copy(result.outcomes.begin(), result.outcomes.end(), context->outcomes);
  context->duration_ns = result.duration_ns;
  context->overrun_ns = result.overrun_ns;
  context->scan_ns = result.scan_ns;
  context->lock_wait_ns = result.lock_wait_ns;
  context->engine_ns = result.engine_ns;
  context->error.struct_size = sizeof(context->error);
  WriteOwnError(result.status, &context->error);
}

void WriteOwnError(const absl::Status& status, maintenance_error* host_error) {
  absl::string_view message = status.message();
  if (message.empty() && absl::IsResourceExhausted(status)) message = "out of memory; nothing is lost, try again";
  if (message.empty() && absl::IsInternal(status)) {
    message = "an exception that nobody expected; nothing is lost, report it";
  }
  boundary::WriteError(boundary::ToCode(status), message, host_error);
}

}  // namespace caretaker::plugin
