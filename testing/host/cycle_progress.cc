#include "testing/host/cycle_progress.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace caretaker::reference_host {
namespace {

std::string Bar(size_t size, double part) {
  const auto filled = static_cast<size_t>(static_cast<double>(size) * part);
  std::string bar(filled, '=');
  if (filled < size) bar += '>';
  bar.resize(size, ' ');
  return bar;
}

}  // namespace

CycleProgress::CycleProgress(uint64_t estimated_tables, Time now) : tables_(estimated_tables), cycle_began_(now) {}

void CycleProgress::TickEnded(const maintenance_tick_context& tick, Time now) {
  operations_ = 0;
  if (tick.cycle_number != cycle_) {
    cycle_ = tick.cycle_number;
    visited_ = 0;
    cycle_began_ = now - std::chrono::nanoseconds(std::max<int64_t>(0, tick.duration_ns));
  }
  visited_ = std::accumulate(std::begin(tick.outcomes), std::end(tick.outcomes), visited_);
  if (tick.cycle_completed != 0) {
    tables_ = visited_;
    estimated_ = false;
  }
}

std::string CycleProgress::Text(size_t columns, Time now) const {
  const uint64_t visited = visited_ + operations_;
  const uint64_t tables = std::max(tables_, visited);
  const double part = tables == 0 ? 0 : static_cast<double>(visited) / static_cast<double>(tables);
  const double elapsed = std::chrono::duration<double>(now - cycle_began_).count();
  const double rate = elapsed > 0 ? static_cast<double>(visited) / elapsed : 0;
  std::string numbers = absl::StrFormat(" %3d %%  %d of %s%d tables", static_cast<int>(part * 100), visited,
                                        estimated_ ? "~" : "", tables);
  if (rate > 0) {
    const double seconds = static_cast<double>(tables - visited) / rate;
    absl::StrAppend(&numbers, absl::StrFormat("  %.*f/s  ", rate < 10 ? 1 : 0, rate),
                    Duration(std::chrono::seconds(static_cast<int64_t>(std::min(seconds, 1e9)))), " left");
  }
  const std::string head = absl::StrCat("cycle ", cycle_, " [");
  const size_t rest = head.size() + 1 + numbers.size();
  const size_t bar = std::clamp(columns > rest ? columns - rest : 0, kBarMin, kBarMax);
  return absl::StrCat(head, Bar(bar, part), "]", numbers).substr(0, columns);
}

std::string Duration(std::chrono::seconds time) {
  const int64_t seconds = time.count();
  if (seconds < 60) return absl::StrCat(seconds, " s");
  if (seconds < 3600) return absl::StrCat(seconds / 60, " min ", seconds % 60, " s");
  if (seconds < int64_t{100} * 3600) return absl::StrCat(seconds / 3600, " h ", seconds / 60 % 60, " min");
  return "more than 99 h";
}

}  // namespace caretaker::reference_host
