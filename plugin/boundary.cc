#include "plugin/boundary.h"

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace caretaker::boundary {
namespace {

// The longest prefix of `text` of at most `size_max` bytes that does not end inside a UTF-8 sequence.
size_t Utf8PrefixSize(absl::string_view text, size_t size_max) {
  if (text.size() <= size_max) return text.size();
  size_t size = size_max;
  // At most three continuation bytes precede a boundary; in bytes that are not UTF-8 any place will do.
  for (int back = 0; back < 3 && size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80; ++back) --size;
  return size;
}

}  // namespace

int32_t ToCode(const absl::Status& status) {
  const int32_t code = static_cast<int32_t>(status.code());
  return IsCanonicalCode(code) ? code : MAINTENANCE_UNKNOWN;
}

absl::Status ToStatus(int32_t code, const maintenance_error* error) {
  if (code == MAINTENANCE_OK) return absl::OkStatus();
  absl::string_view message;
  constexpr size_t kMessageOffset = offsetof(maintenance_error, message);
  if (error != nullptr && error->struct_size > kMessageOffset) {
    const size_t room = std::min(error->struct_size - kMessageOffset, sizeof(error->message));
    // Only what was written: the other side may have set the size alone.
    message = absl::string_view(error->message, strnlen(error->message, std::min<size_t>(error->message_size, room)));
  }
  if (!IsCanonicalCode(code)) {
    return absl::UnknownError(absl::StrCat("status ", code, " is not one of 0..16: ", message));
  }
  return absl::Status(static_cast<absl::StatusCode>(code), message);
}

void WriteError(int32_t code, absl::string_view message, maintenance_error* error) {
  constexpr size_t kMessageOffset = offsetof(maintenance_error, message);
  if (error == nullptr || error->struct_size <= kMessageOffset) return;
  const size_t room = std::min(error->struct_size - kMessageOffset, sizeof(error->message));
  const size_t size = Utf8PrefixSize(message, room - 1);
  error->code = code;
  error->message_size = static_cast<uint32_t>(size);
  if (size > 0) std::memcpy(error->message, message.data(), size);
  error->message[size] = '\0';
}

void WriteError(const absl::Status& status, maintenance_error* error) {
  WriteError(ToCode(status), status.message(), error);
}

}  // namespace caretaker::boundary
