// What one tick did. Filled by the sweep; read by the event, the report and the boundary.
#ifndef CARETAKER_MAINTENANCE_TICK_RESULT_H_
#define CARETAKER_MAINTENANCE_TICK_RESULT_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "maintenance/outcome.h"

namespace caretaker::maintenance {

// A table that did not end well, kept for the event. Escaped and cut.
struct OutcomeSample {
  Outcome outcome;
  std::string text;  // "<key>: <message>"
};

struct TickResult {
  // How many samples an event carries, and how much of a key and of a message.
  static constexpr size_t kSamplesMax = 8;
  static constexpr size_t kSampleKeySizeMax = 96;
  static constexpr size_t kSampleMessageSizeMax = 160;

  absl::Status status;
  EndedBy ended_by = EndedBy::kUnset;
  bool cycle_completed = false;
  bool cycle_restarted = false;
  bool cycle_short = false;  // Completed with less than half the tables of the last complete one.
  uint64_t stalled_ticks =
      0;                   // From three on: so many ticks in a row made no progress while there was something to do.
  std::string stalled_at;  // What it stands before, when stalled. Escaped and cut.
  int64_t call_again_ms = 0;
  uint64_t tick_number = 0;
  uint64_t cycle_number = 0;
  uint64_t cycle_visited = 0;       // In this cycle, up to this tick's end.
  uint64_t last_cycle_visited = 0;  // In the last complete cycle before this tick; 0 without one.

  // backlog_before + scanned = sum(outcomes) + backlog_after.
  uint64_t backlog_before = 0;
  uint64_t scanned = 0;
  uint64_t backlog_after = 0;
  uint64_t scan_requests = 0;
  uint64_t operations = 0;
  uint64_t generation_changed = 0;
  uint64_t failures_evicted = 0;  // Tables that the failure memory had to forget for want of room.
  std::array<uint64_t, kOutcomeCount> outcomes{};

  int64_t duration_ns = 0;
  int64_t overrun_ns = 0;
  int64_t scan_ns = 0;
  int64_t lock_wait_ns = 0;
  int64_t engine_ns = 0;

  std::vector<OutcomeSample> samples;

  uint64_t outcome(Outcome which) const { return outcomes[static_cast<size_t>(which)]; }
  uint64_t finished() const {
    uint64_t sum = 0;
    for (const uint64_t count : outcomes) sum += count;
    return sum;
  }
  bool CountsAddUp() const { return backlog_before + scanned == finished() + backlog_after; }
};

// One line of `key=value` words for a log: always the same words in the same order, then the samples. Printable ASCII,
// at most kEventTextSizeMax bytes.
inline constexpr size_t kEventTextSizeMax = 4096;
std::string EventText(const TickResult& result);

enum class Severity : uint8_t { kInfo, kWarning, kError };

// kError: the tick failed. kWarning: a table did not end well, the host has lost its right to act, a cycle was short,
// or nothing goes on.
Severity EventSeverity(const TickResult& result);

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_TICK_RESULT_H_
