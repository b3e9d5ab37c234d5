// How a candidate, and a tick, ended. The numbers are those of plugin/maintenance_plugin.h.
#ifndef CARETAKER_MAINTENANCE_OUTCOME_H_
#define CARETAKER_MAINTENANCE_OUTCOME_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace caretaker::maintenance {

// Every candidate that is finished ended in exactly one of these.
enum class Outcome : uint8_t {
  kMaintained,      // Changed, and the new version is published.
  kUnchanged,       // The engine found nothing to do.
  kConflict,        // Changed, but the registration moved on: not published.
  kPublishUnknown,  // Changed; whether it is published could not be found out.
  kPublishFailed,   // Changed; the publication failed and nothing was written.
  kGone,            // No registration under the lock.
  kDropping,        // It has a drop marker.
  kCorrupt,         // Key or value can not be decoded, or is over a limit.
  kLockBusy,        // Its lock was held by another.
  kLockFailed,      // The lock function failed.
  kReadFailed,      // The read under the lock failed.
  kBackedOff,       // Passed over because of its earlier failures.
  kEngineFailed,    // The engine failed.
  kEngineTimedOut,  // The engine ran into its deadline.
  kInterrupted,     // The engine was cancelled.
  kFenced,          // The engine ran; publication was not allowed.
};
inline constexpr size_t kOutcomeCount = 16;

absl::string_view OutcomeName(Outcome outcome);

// False: somebody may have to look at the table.
bool EndedWell(Outcome outcome);

enum class EndedBy : uint8_t {
  kUnset,     // The tick failed; its status says why.
  kPageDone,  // Every candidate is finished.
  kOperations,
  kTime,
  kCancelled,
  kFenced,
  kEngineUnavailable,
  kNothingToDo,
};

absl::string_view EndedByName(EndedBy ended_by);

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_OUTCOME_H_
