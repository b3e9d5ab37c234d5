#include "testing/host/summary.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "maintenance/outcome.h"

namespace caretaker::reference_host {
namespace {

// A plugin of a later release may have outcomes that this host does not know.
std::string Name(size_t outcome) {
  if (outcome >= maintenance::kOutcomeCount) return absl::StrCat("outcome_", outcome);
  return std::string(maintenance::OutcomeName(static_cast<maintenance::Outcome>(outcome)));
}

std::string EndedBy(const absl::Status& status, int32_t ended_by) {
  if (!status.ok()) return "failed";
  if (ended_by < 0 || ended_by > MAINTENANCE_ENDED_BY_NOTHING_TO_DO) return absl::StrCat("reason_", ended_by);
  return std::string(maintenance::EndedByName(static_cast<maintenance::EndedBy>(ended_by)));
}

double Milliseconds(int64_t ns) { return static_cast<double>(ns) / 1e6; }

// The smallest of `sorted` that at least `percent` of them do not exceed.
int64_t NearestRank(const std::vector<int64_t>& sorted, size_t percent) {
  if (sorted.empty()) return 0;
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

std::string Entries(const std::optional<uint64_t>& entries) {
  return entries.has_value() ? absl::StrCat(*entries) : "not counted";
}

}  // namespace

std::string TickLine(const absl::Status& status, const maintenance_tick_context& tick) {
  std::string line = absl::StrCat("tick ", tick.tick_number, " cycle ", tick.cycle_number, " scanned ", tick.scanned);
  for (size_t i = 0; i < MAINTENANCE_OUTCOME_CAPACITY; ++i) {
    if (tick.outcomes[i] > 0) absl::StrAppend(&line, " ", Name(i), " ", tick.outcomes[i]);
  }
  absl::StrAppend(&line, " backlog ", tick.backlog_after, " ended_by ", EndedBy(status, tick.ended_by),
                  absl::StrFormat(" %.1f ms", Milliseconds(tick.duration_ns)));
  return line;
}

void Summary::Add(const absl::Status& status, const maintenance_tick_context& tick) {
  for (size_t i = 0; i < outcomes_.size(); ++i) outcomes_[i] += tick.outcomes[i];
  if (!status.ok()) ++failed_ticks_;
  tick_time_max_ns_ = std::max(tick_time_max_ns_, tick.duration_ns);
  if (tick_times_ns_.size() < kTickTimesMax) {
    tick_times_ns_.push_back(tick.duration_ns);
  } else {
    tick_times_ns_[ticks_ % kTickTimesMax] = tick.duration_ns;
  }
  ++ticks_;
}

std::string Summary::Text(uint64_t whole_cycles, const DatabaseSize& before, const DatabaseSize& after) const {
  std::string text = "visits by outcome:\n";
  for (size_t i = 0; i < outcomes_.size(); ++i) {
    if (outcomes_[i] > 0) absl::StrAppend(&text, absl::StrFormat("  %-17s %12d\n", Name(i), outcomes_[i]));
  }
  std::vector<int64_t> sorted = tick_times_ns_;
  std::sort(sorted.begin(), sorted.end());
  absl::StrAppend(
      &text,
      absl::StrFormat("ticks:              %12d, %d failed, %d whole cycles\n", ticks_, failed_ticks_, whole_cycles),
      absl::StrFormat("tick time:          p50 %.1f ms, p99 %.1f ms, max %.1f ms\n",
                      Milliseconds(NearestRank(sorted, 50)), Milliseconds(NearestRank(sorted, 99)),
                      Milliseconds(tick_time_max_ns_)),
      absl::StrFormat("bytes on disk:      %12d before, %12d after\n", before.bytes, after.bytes),
      absl::StrFormat("entries:            %12s before, %12s after\n", Entries(before.entries),
                      Entries(after.entries)));
  return text;
}

}  // namespace caretaker::reference_host
