#include "plugin/tick_context.h"

#include <algorithm>

#include "plugin/boundary.h"

namespace caretaker::plugin {

void WriteTickResult(const maintenance::TickResult& result, maintenance_tick_context* context) {
  context->status = boundary::ToCode(result.status);
  context->ended_by = static_cast<int32_t>(result.ended_by);
  context->cycle_completed = result.cycle_completed ? 1 : 0;
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
  boundary::WriteError(result.status, &context->error);
}

}  // namespace caretaker::plugin
