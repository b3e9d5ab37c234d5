#include "maintenance/cursor_codec.h"

#include "absl/strings/str_cat.h"
#include "registry/metastore.h"
#include "registry/table_registration_page.h"

namespace caretaker::maintenance {
namespace {

using registry::Fingerprint;

constexpr absl::string_view kMagic = "CTKRCUR1";
constexpr size_t kHeaderSize = 24;
constexpr size_t kChecksumSize = 8;

void AppendInteger(uint64_t value, int bytes, std::string* to) {
  for (int i = 0; i < bytes; ++i) to->push_back(static_cast<char>(value >> (8 * i)));
}

// REQUIRES: offset + bytes <= from.size().
uint64_t IntegerAt(absl::string_view from, size_t offset, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; --i)
    value = value << 8 | static_cast<unsigned char>(from[offset + static_cast<size_t>(i)]);
  return value;
}

absl::Status Refuse(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("cursor: ", what, "; create without it to begin at the first table"));
}

}  // namespace

void EncodeCursor(absl::string_view prefix, const CursorState& state, std::string* encoded) {
  encoded->clear();
  encoded->append(kMagic.data(), kMagic.size());
  AppendInteger(Fingerprint(prefix), 8, encoded);
  AppendInteger(state.continuation.size(), 4, encoded);
  AppendInteger(state.finished.size(), 4, encoded);
  encoded->append(state.continuation);
  for (const uint64_t fingerprint : state.finished) AppendInteger(fingerprint, 8, encoded);
  AppendInteger(Fingerprint(*encoded), 8, encoded);
}

absl::StatusOr<CursorState> DecodeCursor(absl::string_view prefix, absl::string_view encoded) {
  if (encoded.size() < kHeaderSize + kChecksumSize) {
    return Refuse(
        absl::StrCat("too short, ", encoded.size(), " bytes, allowed ", kHeaderSize + kChecksumSize, " or more"));
  }
  if (encoded.size() > CursorSizeMax(registry::kPageSizeMax)) {
    return Refuse(
        absl::StrCat("too long, ", encoded.size(), " bytes, allowed ", CursorSizeMax(registry::kPageSizeMax)));
  }
  if (encoded.substr(0, kMagic.size()) != kMagic) return Refuse("not one of this plugin's, or of another version");
  const absl::string_view body = encoded.substr(0, encoded.size() - kChecksumSize);
  if (IntegerAt(encoded, body.size(), 8) != Fingerprint(body)) return Refuse("damaged, its checksum does not match");
  if (IntegerAt(encoded, 8, 8) != Fingerprint(prefix)) return Refuse("made for another prefix");
  const size_t continuation_size = IntegerAt(encoded, 16, 4);
  const size_t count = IntegerAt(encoded, 20, 4);
  if (continuation_size > registry::kContinuationSizeMax || count > CursorFinishedMax(registry::kPageSizeMax) ||
      body.size() != kHeaderSize + continuation_size + 8 * count) {
    return Refuse(absl::StrCat("its parts do not make up its size of ", encoded.size(), " bytes"));
  }
  CursorState state;
  state.continuation = std::string(encoded.substr(kHeaderSize, continuation_size));
  state.finished.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    state.finished.push_back(IntegerAt(encoded, kHeaderSize + continuation_size + 8 * i, 8));
  }
  return state;
}

}  // namespace caretaker::maintenance
