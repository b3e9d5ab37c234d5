// Conversions between the C boundary and C++: bytes, statuses, errors, and structs of other versions. Used by the
// plugin and by the kit for C++ hosts, which stand on opposite sides of the boundary.
//
// Thread-safety: functions without state.
#ifndef CARETAKER_PLUGIN_BOUNDARY_H_
#define CARETAKER_PLUGIN_BOUNDARY_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "plugin/maintenance_plugin.h"

namespace caretaker::boundary {

inline maintenance_bytes ToBytes(absl::string_view view) { return {view.data(), view.size()}; }

// REQUIRES: IsValid(bytes).
inline absl::string_view ToView(maintenance_bytes bytes) {
  return bytes.size == 0 ? absl::string_view() : absl::string_view(bytes.data, bytes.size);
}

// May these bytes be read? A size that no object can have, -1 as an unsigned number for example, would end the process
// in a hardened string_view.
inline bool IsValid(maintenance_bytes bytes) {
  return bytes.size == 0 || (bytes.data != nullptr && bytes.size <= size_t{PTRDIFF_MAX});
}

// The canonical code of a status; absl and the boundary use the same numbers.
int32_t ToCode(const absl::Status& status);

inline bool IsCanonicalCode(int32_t code) { return code >= MAINTENANCE_OK && code <= MAINTENANCE_UNAUTHENTICATED; }

// The status that `code` and the message in `error` (may be null; its code is ignored) stand for. A code that is not
// canonical becomes UNKNOWN and is named in the message. Copies the message, at most what the struct can hold.
absl::Status ToStatus(int32_t code, const maintenance_error* error);

// Writes code and message; cuts the message at a UTF-8 boundary if it is too long. Writes no further than
// error->struct_size says. A null or too small `error` is left alone. Does not allocate.
void WriteError(int32_t code, absl::string_view message, maintenance_error* error);
void WriteError(const absl::Status& status, maintenance_error* error);

// An empty error of this side's size, for the other side to write.
inline maintenance_error EmptyError() {
  maintenance_error error;
  error.struct_size = sizeof(error);
  error.code = MAINTENANCE_OK;
  error.message_size = 0;
  error.message[0] = '\0';
  return error;
}

// A zeroed struct of this side's size.
template <typename Struct>
Struct Sized() {
  Struct value;
  std::memset(&value, 0, sizeof(value));
  value.struct_size = sizeof(value);
  return value;
}

// Copies what both sides know of `from` to `*to` and zeroes the rest; to->struct_size is this side's. False, and
// nothing done, when `from` is null or smaller than `size_min`.
template <typename Struct>
bool ReadStruct(const Struct* from, size_t size_min, Struct* to) {
  if (from == nullptr || from->struct_size < size_min) return false;
  const size_t size = std::min(from->struct_size, sizeof(Struct));
  std::memset(to, 0, sizeof(Struct));
  std::memcpy(to, from, size);
  to->struct_size = sizeof(Struct);
  return true;
}

// Copies what both sides know of `from` to `*to`, whose struct_size is the other side's and stays. False, and nothing
// done, when `to` is null or smaller than `size_min`.
template <typename Struct>
bool WriteStruct(const Struct& from, size_t size_min, Struct* to) {
  if (to == nullptr || to->struct_size < size_min) return false;
  const size_t size = to->struct_size;
  std::memcpy(to, &from, std::min(size, sizeof(Struct)));
  to->struct_size = size;
  return true;
}

}  // namespace caretaker::boundary

#endif  // CARETAKER_PLUGIN_BOUNDARY_H_
