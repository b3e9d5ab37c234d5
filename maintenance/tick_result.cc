#include "maintenance/tick_result.h"

#include "absl/strings/str_cat.h"
#include "registry/table_ref.h"

namespace caretaker::maintenance {
std::string EventText(const TickResult& result) {
  std::string text = absl::StrCat(
      "maintenance tick=", result.tick_number, " cycle=", result.cycle_number,
      " status=", absl::StatusCodeToString(result.status.code()), " ended_by=", EndedByName(result.ended_by),
      " cycle_completed=", result.cycle_completed, " cycle_restarted=", result.cycle_restarted,
      " cycle_short=", result.cycle_short, " cycle_visited=", result.cycle_visited,
      " last_cycle_visited=", result.last_cycle_visited, " stalled_ticks=", result.stalled_ticks,
      " backlog_before=", result.backlog_before, " scanned=", result.scanned, " backlog_after=", result.backlog_after,
      " scan_requests=", result.scan_requests, " operations=", result.operations);
  for (size_t i = 0; i < kOutcomeCount; ++i) {
    absl::StrAppend(&text, " ", OutcomeName(static_cast<Outcome>(i)), "=", result.outcomes[i]);
  }
  absl::StrAppend(&text, " generation_changed=", result.generation_changed,
                  " failures_evicted=", result.failures_evicted, " duration_us=", result.duration_ns / 1000,
                  " overrun_us=", result.overrun_ns / 1000, " scan_us=", result.scan_ns / 1000,
                  " lock_wait_us=", result.lock_wait_ns / 1000, " engine_us=", result.engine_ns / 1000,
                  " call_again_ms=", result.call_again_ms);
  if (!result.status.ok()) {
    const absl::string_view message = result.status.message();
    absl::StrAppend(&text, " error=\"", registry::Printable(message, 512), "\"");
  }
  if (!result.stalled_at.empty()) absl::StrAppend(&text, " stalled_at=\"", result.stalled_at, "\"");
  for (const OutcomeSample& sample : result.samples) {
    absl::StrAppend(&text, " ", OutcomeName(sample.outcome), "=\"", sample.text, "\"");
  }
  if (text.size() > kEventTextSizeMax) {
    static constexpr absl::string_view kCut = "...";
    text.resize(kEventTextSizeMax - kCut.size());
    absl::StrAppend(&text, kCut);
  }
  return text;
}

Severity EventSeverity(const TickResult& result) {
  if (!result.status.ok()) return Severity::kError;
  if (result.ended_by == EndedBy::kFenced || result.ended_by == EndedBy::kEngineUnavailable) return Severity::kWarning;
  if (result.cycle_short || result.stalled_ticks > 0) return Severity::kWarning;
  for (size_t i = 0; i < kOutcomeCount; ++i) {
    if (result.outcomes[i] > 0 && !EndedWell(static_cast<Outcome>(i))) return Severity::kWarning;
  }
  return Severity::kInfo;
}

}  // namespace caretaker::maintenance
