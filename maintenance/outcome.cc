#include "maintenance/outcome.h"

namespace caretaker::maintenance {

absl::string_view OutcomeName(Outcome outcome) {
  static constexpr absl::string_view kNames[] = {
      "maintained",    "unchanged",        "conflict",    "publish_unknown", "publish_failed", "gone",
      "dropping",      "corrupt",          "lock_busy",   "lock_failed",     "read_failed",    "backed_off",
      "engine_failed", "engine_timed_out", "interrupted", "fenced"};
  static_assert(sizeof(kNames) / sizeof(kNames[0]) == kOutcomeCount);
  return kNames[static_cast<size_t>(outcome)];
}

bool EndedWell(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMaintained:
    case Outcome::kUnchanged:
    case Outcome::kGone:
    case Outcome::kDropping:
    case Outcome::kInterrupted:
      return true;
    default:
      return false;
  }
}

absl::string_view EndedByName(EndedBy ended_by) {
  static constexpr absl::string_view kNames[] = {"unset",     "page_done", "operations",         "time",
                                                 "cancelled", "fenced",    "engine_unavailable", "nothing_to_do"};
  return kNames[static_cast<size_t>(ended_by)];
}

}  // namespace caretaker::maintenance
