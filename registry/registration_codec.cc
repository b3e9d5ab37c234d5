#include "registry/registration_codec.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "registry/metastore.h"
#include "registry/need_memory.h"

namespace caretaker::registry {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

static_assert(PaddedValue::kPadding >= simdjson::SIMDJSON_PADDING);

enum Field { kLocation, kEngine, kCurrentVersion, kIncarnationId, kSchemaIpc, kFieldCount, kUnknown = kFieldCount };

// Each with the quote that ends it, so that one comparison checks name and length.
constexpr std::array<std::string_view, kFieldCount> kNames = {"location\"", "engine\"", "current_version\"",
                                                              "incarnation_id\"", "schema_ipc\""};

absl::string_view FieldName(Field field) { return absl::string_view(kNames[field].data(), kNames[field].size() - 1); }

absl::Status Corrupt(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("registration: ", what, "; repair or remove the entry"));
}

absl::Status CorruptField(Field field, absl::string_view what) {
  return Corrupt(absl::StrCat(FieldName(field), " ", what));
}

absl::Status FromParser(error_code error) {
  if (error == simdjson::MEMALLOC) return absl::ResourceExhaustedError("registration: out of memory while decoding");
  absl::string_view words = simdjson::error_message(error);
  if (absl::EndsWith(words, ".")) words.remove_suffix(1);
  return Corrupt(absl::StrCat("not a JSON object that ends where the value ends (", words, ")"));
}

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The name of a field, which is read through the padding if need be. A name with an escape is compared unescaped; one
// that can not be unescaped is none of ours.
Field Identify(simdjson::simdjson_result<ondemand::field>& field) {
  const char* raw = field.key().value_unsafe().raw();
  const char* end = raw;
  while (*end != '"' && *end != '\\') ++end;
  if (*end == '"') {
    const std::string_view name(raw, static_cast<size_t>(end - raw) + 1);
    for (int known = 0; known < kFieldCount; ++known) {
      if (name == kNames[static_cast<size_t>(known)]) return static_cast<Field>(known);
    }
    return kUnknown;
  }
  std::string_view unescaped;
  if (field.unescaped_key().get(unescaped) != simdjson::SUCCESS) return kUnknown;
  for (int known = 0; known < kFieldCount; ++known) {
    if (unescaped == kNames[static_cast<size_t>(known)].substr(0, kNames[static_cast<size_t>(known)].size() - 1)) {
      return static_cast<Field>(known);
    }
  }
  return kUnknown;
}

// The digits of a JSON number without sign, fraction, exponent or leading zero, as u64.
bool ParseVersion(std::string_view digits, uint64_t* version) {
  if (digits.empty() || digits.size() > 20 || (digits.size() > 1 && digits[0] == '0')) return false;
  uint64_t parsed = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return false;
    const auto digit = static_cast<uint64_t>(c - '0');
    if (parsed > (std::numeric_limits<uint64_t>::max() - digit) / 10) return false;
    parsed = parsed * 10 + digit;
  }
  *version = parsed;
  return true;
}

// One decoding: reads `text`, which is the value or, when the value has raw control characters, a copy of it of the
// same layout that the parser accepts.
class Decoder {
 public:
  Decoder(absl::string_view value, const char* text, TableRegistration* registration)
      : value_(value), text_(text), registration_(registration) {}

  absl::Status ReadFields(ondemand::document& document) {
    ondemand::object object;
    if (const error_code error = document.get_object().get(object)) return FromParser(error);
    for (auto field : object) {
      if (const error_code error = field.error()) return FromParser(error);
      const Field known = Identify(field);
      if (known != kUnknown) {
        if (seen_[known]) return CorruptField(known, "comes twice, allowed once");
        seen_[known] = true;
      }
      ondemand::value value;
      if (const error_code error = field.value().get(value)) return FromParser(error);
      if (absl::Status status = ReadField(known, value); !status.ok()) return status;
    }
    const char* rest = nullptr;
    if (document.current_location().get(rest) == simdjson::SUCCESS) return Corrupt("bytes after the end of the object");
    for (const Field field : {kLocation, kEngine, kCurrentVersion}) {
      if (!seen_[field]) return CorruptField(field, "is missing");
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadField(Field field, ondemand::value& value) {
    switch (field) {
      case kLocation:
        return ReadString(field, value, &registration_->location);
      case kEngine:
        return ReadString(field, value, &registration_->engine);
      case kIncarnationId: {
        if (Token(value) == "null") return Skip(value);
        absl::string_view incarnation;
        absl::Status status = ReadString(field, value, &incarnation);
        if (status.ok()) registration_->incarnation_id = incarnation;
        return status;
      }
      case kCurrentVersion:
        return ReadVersion(value);
      default:
        return Skip(value);
    }
  }

  // A scalar's text: from its first byte to the next structural one, without the white space between.
  static std::string_view Token(ondemand::value& value) {
    std::string_view token = value.raw_json_token();
    while (!token.empty() && IsSpace(token.back())) token.remove_suffix(1);
    return token;
  }

  // Passes over a value. Only objects and arrays have a depth to follow; what begins like neither is one token.
  absl::Status Skip(ondemand::value& value) {
    const std::string_view token = value.raw_json_token();
    const char first = token.empty() ? '\0' : token.front();
    if (first == '"') {
      // Taken as a string here: the parser's own skip would take `"a":` for a name.
      const error_code error = value.get_raw_json_string().error();
      return error ? FromParser(error) : absl::OkStatus();
    }
    if (first == ',' || first == ':' || first == ']' || first == '}' || first == '\0') {
      return Corrupt("a value is missing between the fields");
    }
    return absl::OkStatus();  // Going on to the next field skips it.
  }

  absl::Status ReadString(Field field, ondemand::value& value, absl::string_view* text) {
    const std::string_view token = value.raw_json_token();
    if (token.empty() || token.front() != '"') return CorruptField(field, "is not a string");
    std::string_view unescaped;
    if (value.get_string().get(unescaped) != simdjson::SUCCESS) {
      return CorruptField(field, "is not a valid JSON string");
    }
    if (HasControlCharacter(token))
      return CorruptField(field, "has a raw control character, allowed only escaped ones");
    if (unescaped.size() > kFieldSizeMax) {
      return CorruptField(field, absl::StrCat("is too long, ", unescaped.size(), " bytes, allowed ", kFieldSizeMax));
    }
    *text = absl::string_view(unescaped.data(), unescaped.size());
    return absl::OkStatus();
  }

  absl::Status ReadVersion(ondemand::value& value) {
    const std::string_view digits = Token(value);
    if (!ParseVersion(digits, &registration_->current_version)) {
      return CorruptField(kCurrentVersion, "is not a whole number, allowed 0..18446744073709551615 in plain digits");
    }
    registration_->version_offset = static_cast<size_t>(digits.data() - text_);
    registration_->version_size = digits.size();
    return absl::OkStatus();
  }

  // Looks at the value's own bytes; `token` lies in the text that the parser reads, and includes white space after it.
  bool HasControlCharacter(std::string_view token) const {
    if (text_ == value_.data()) return false;  // The parser accepted the value itself.
    const size_t offset = static_cast<size_t>(token.data() - text_);
    const absl::string_view bytes = value_.substr(offset, token.find_last_of('"') + 1);
    return std::any_of(bytes.begin(), bytes.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  }

  const absl::string_view value_;
  const char* const text_;
  TableRegistration* const registration_;
  std::array<bool, kFieldCount> seen_{};
};

// The parser refuses raw control characters in any string, which for skipped ones is not our business. These stand-ins
// keep the layout: white space stays white space, and no other character can complete a known name.
void ReplaceControlCharacters(absl::string_view value, PaddedValue* copy) {
  copy->Assign(value);
  for (size_t i = 0; i < value.size(); ++i) {
    if (static_cast<unsigned char>(value[i]) < 0x20) copy->data()[i] = IsSpace(value[i]) ? ' ' : '#';
  }
}

}  // namespace

void PaddedValue::Assign(absl::string_view value) {
  if (value.size() + kPadding > capacity_) {
    size_t capacity = 4096;
    while (capacity < value.size() + kPadding) capacity *= 2;
    data_.reset(new char[capacity]);
    capacity_ = capacity;
  }
  if (!value.empty()) std::memcpy(data_.get(), value.data(), value.size());
  std::memset(data_.get() + value.size(), 0, kPadding);
  size_ = value.size();
}

// The parser chooses its instructions by the machine, or by SIMDJSON_FORCE_IMPLEMENTATION. Where it has none of the
// fast ones, it looks at UTF-8 in strings only.
bool ParserChecksUtf8() {
  NeedMemory(size_t{16} << 10);  // For the parser's list of instruction sets, which it makes at the first call.
  return simdjson::get_active_implementation()->name() != "fallback";
}

struct JsonRegistrationCodec::Parser {
  const bool checks_utf8 = ParserChecksUtf8();
  ondemand::parser json;
  PaddedValue without_control_characters;
};

JsonRegistrationCodec::JsonRegistrationCodec() : parser_(std::make_unique<Parser>()) {}
JsonRegistrationCodec::~JsonRegistrationCodec() = default;

absl::Status JsonRegistrationCodec::Decode(const PaddedValue& value, TableRegistration* registration) {
  const absl::string_view bytes = value.view();
  *registration = TableRegistration();
  if (bytes.empty()) return Corrupt("the value is empty");
  if (!parser_->checks_utf8 && !simdjson::validate_utf8(bytes.data(), bytes.size())) {
    return FromParser(simdjson::UTF8_ERROR);
  }
  // Grown in powers of two, so that values of about one size stop allocating.
  if (bytes.size() > parser_->json.capacity()) {
    size_t capacity = 4096;
    while (capacity < bytes.size()) capacity *= 2;
    if (const error_code error = parser_->json.allocate(capacity)) return FromParser(error);
  }
  const char* text = bytes.data();
  ondemand::document document;
  error_code error = parser_->json.iterate(text, bytes.size(), bytes.size() + PaddedValue::kPadding).get(document);
  if (error == simdjson::UNESCAPED_CHARS) {
    PaddedValue& copy = parser_->without_control_characters;
    ReplaceControlCharacters(bytes, &copy);
    text = copy.view().data();
    error = parser_->json.iterate(text, bytes.size(), bytes.size() + PaddedValue::kPadding).get(document);
  }
  if (error) return FromParser(error);
  return Decoder(bytes, text, registration).ReadFields(document);
}

absl::Status JsonRegistrationCodec::EncodeVersion(absl::string_view value, const TableRegistration& registration,
                                                  uint64_t version, std::string* encoded) {
  const absl::string_view before = value.substr(0, registration.version_offset);
  const absl::string_view after = value.substr(registration.version_offset + registration.version_size);
  const absl::AlphaNum digits(version);
  encoded->clear();
  encoded->append(before.data(), before.size());
  encoded->append(digits.data(), digits.size());
  encoded->append(after.data(), after.size());
  if (encoded->size() > kValueSizeMax) {
    return absl::OutOfRangeError(absl::StrCat("registration: too long with version ", version, ", ", encoded->size(),
                                              " bytes, allowed ", kValueSizeMax, "; make the registration smaller"));
  }
  return absl::OkStatus();
}

}  // namespace caretaker::registry
