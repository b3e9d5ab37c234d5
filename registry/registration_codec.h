// What a registration says, and the codecs that read it from the registry's bytes.
//
// The built-in codec reads the origin system's JSON:
//   {"location": string, "engine": string, "current_version": u64, "incarnation_id": string or null, "schema_ipc": ...}
// in any order, with fields that we do not know between them. Publishing a version replaces the digits of
// `current_version` in the bytes that were read and nothing else.
//
// A value is corrupt, and Decode answers DataLoss, when
//   - it is longer than kValueSizeMax, or is not valid UTF-8;
//   - it is not one JSON object that is closed exactly at the end (white space around it is allowed);
//   - location, engine or current_version is missing, has another type or is out of range: the strings are valid JSON
//     strings of at most kFieldSizeMax bytes, the version is a JSON number of digits only, 0..18446744073709551615;
//   - incarnation_id is present and neither such a string nor null, which is the same as absent;
//   - a known name comes twice, however it is escaped.
// Nothing else is: values that we skip are skipped by depth alone, and copied byte for byte.
#ifndef CARETAKER_REGISTRY_REGISTRATION_CODEC_H_
#define CARETAKER_REGISTRY_REGISTRATION_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace caretaker::registry {

inline constexpr size_t kFieldSizeMax = 1024;

// One registration, decoded. Views borrow from the codec and from the value; see RegistrationCodec::Decode.
struct TableRegistration {
  absl::string_view location;
  absl::string_view engine;
  uint64_t current_version = 0;
  std::optional<absl::string_view> incarnation_id;
  // Where the digits of current_version stand in the value; 0, 0 from codecs that do not splice.
  size_t version_offset = 0;
  size_t version_size = 0;
};

// A value in memory that may be read up to kPadding bytes past its end, as the parser does. Reuses its memory, of
// powers of two: at most 2 MiB.
class PaddedValue {
 public:
  static constexpr size_t kPadding = 64;

  // REQUIRES: value.size() <= kValueSizeMax.
  void Assign(absl::string_view value);
  void Clear() { size_ = 0; }
  absl::string_view view() const { return absl::string_view(data_.get(), size_); }
  char* data() { return data_.get(); }

 private:
  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

// Thread-safety: one thread at a time. Neither function blocks.
class RegistrationCodec {
 public:
  virtual ~RegistrationCodec() = default;

  // Decodes `value`. The views in `*registration` live until the next call on this codec or change of `value`.
  // DataLoss: corrupt, and the message says what; pass it over. ResourceExhausted: out of memory.
  virtual absl::Status Decode(const PaddedValue& value, TableRegistration* registration) = 0;

  // Sets `*encoded` to `value` with `version` in it. REQUIRES: `registration` is what Decode made of `value`.
  // An error: it cannot be encoded; do not publish.
  virtual absl::Status EncodeVersion(absl::string_view value, const TableRegistration& registration, uint64_t version,
                                     std::string* encoded) = 0;
};

// The codec described above. Keeps its buffers: at most about 8 MiB for values of the largest size.
class JsonRegistrationCodec : public RegistrationCodec {
 public:
  JsonRegistrationCodec();
  ~JsonRegistrationCodec() override;

  absl::Status Decode(const PaddedValue& value, TableRegistration* registration) override;
  absl::Status EncodeVersion(absl::string_view value, const TableRegistration& registration, uint64_t version,
                             std::string* encoded) override;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace caretaker::registry

#endif  // CARETAKER_REGISTRY_REGISTRATION_CODEC_H_
