// What the host prints: a line for each tick, and at the end what they add up to.
//
// Thread-safety: one thread at a time.
#ifndef CARETAKER_TESTING_HOST_SUMMARY_H_
#define CARETAKER_TESTING_HOST_SUMMARY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "plugin/maintenance_plugin.h"

namespace caretaker::reference_host {

// "tick 3 cycle 1 scanned 128 maintained 96 unchanged 32 backlog 0 ended_by page_done 412.3 ms": every outcome that is
// not zero, in the order of the header. A failed tick has `ended_by failed`; what is wrong is for stderr. No newline.
std::string TickLine(const absl::Status& status, const maintenance_tick_context& tick);

struct DatabaseSize {
  uint64_t bytes = 0;
  std::optional<uint64_t> entries;  // Absent: not counted.
};

class Summary {
 public:
  // Ticks whose times the quantiles are made of: the last ones.
  static constexpr size_t kTickTimesMax = 65536;

  void Add(const absl::Status& status, const maintenance_tick_context& tick);

  // Several lines: visits by outcome, ticks, cycles, tick times (p50 and p99 as the nearest rank), bytes and entries.
  std::string Text(uint64_t whole_cycles, const DatabaseSize& before, const DatabaseSize& after) const;

 private:
  std::array<uint64_t, MAINTENANCE_OUTCOME_CAPACITY> outcomes_{};
  std::vector<int64_t> tick_times_ns_;  // At most kTickTimesMax; a ring from then on.
  int64_t tick_time_max_ns_ = 0;
  uint64_t ticks_ = 0;
  uint64_t failed_ticks_ = 0;
};

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_SUMMARY_H_
