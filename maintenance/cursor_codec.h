// The exported cursor: one opaque, versioned string that a host keeps over a restart.
//
// It names the continuation that the current page was read from and the candidates of that page that are finished, by
// an 8-byte fingerprint of each key. All integers are little-endian:
//   8 bytes "CTKRCUR1", u64 fingerprint of the prefix, u32 continuation size, u32 count of finished candidates,
//   the continuation, the fingerprints, u64 checksum (XXH3) of everything before it.
// The fingerprints are stable over processes and releases. Thread-safety: functions without state.
#ifndef CARETAKER_MAINTENANCE_CURSOR_CODEC_H_
#define CARETAKER_MAINTENANCE_CURSOR_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace caretaker::maintenance {

// Where a walk is to be taken up again.
struct CursorState {
  std::string continuation;        // That the page was read from; empty: the first key.
  std::vector<uint64_t> finished;  // Fingerprints of keys.
};

// How many finished candidates a cursor names for pages of `page_size` entries: those of a page, and as many that an
// earlier cursor named.
constexpr size_t CursorFinishedMax(size_t page_size) { return 2 * page_size; }

// The largest exported cursor for a page of `page_size` entries.
constexpr size_t CursorSizeMax(size_t page_size) { return 4352 + 8 * CursorFinishedMax(page_size); }

void EncodeCursor(absl::string_view prefix, const CursorState& state, std::string* encoded);

// InvalidArgument: not a cursor of this version, damaged, or of another prefix; the message says which. The host may go
// on without it: the walk begins at the first key.
absl::StatusOr<CursorState> DecodeCursor(absl::string_view prefix, absl::string_view encoded);

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_CURSOR_CODEC_H_
