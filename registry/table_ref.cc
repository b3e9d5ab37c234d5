#include "registry/table_ref.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "registry/metastore.h"

namespace caretaker::registry {

absl::StatusOr<TableRef> ParseTableKey(absl::string_view key) {
  if (key.size() > kKeySizeMax) {
    return absl::DataLossError(absl::StrCat("key ", Printable(key), ": too long, ", key.size(), " bytes, allowed ",
                                            kKeySizeMax, "; remove or rename the entry"));
  }
  if (!absl::StartsWith(key, kTablePrefix)) {
    return absl::DataLossError(
        absl::StrCat("key ", Printable(key), ": does not begin with ", kTablePrefix, "; remove or rename the entry"));
  }
  const absl::string_view rest = key.substr(kTablePrefix.size());
  const size_t slash = rest.find('/');
  if (slash == 0 || slash == absl::string_view::npos || slash + 1 == rest.size()) {
    return absl::DataLossError(absl::StrCat("key ", Printable(key), ": namespace or name is empty, allowed ",
                                            kTablePrefix, "<namespace>/<name>; remove or rename the entry"));
  }
  return TableRef{rest.substr(0, slash), rest.substr(slash + 1)};
}

std::string TableKey(const TableRef& table) {
  return absl::StrCat(kTablePrefix, table.table_namespace, "/", table.table_name);
}

std::string DropMarkerKey(const TableRef& table) {
  return absl::StrCat(kDropMarkerPrefix, table.table_namespace, "/", table.table_name);
}

absl::Status ValidateTablePrefix(absl::string_view prefix) {
  if (prefix == kTablePrefix) return absl::OkStatus();
  // A namespace of at least one byte, its slash, and room for a name of at least one byte.
  if (absl::StartsWith(prefix, kTablePrefix) && prefix.size() > kTablePrefix.size() + 1 &&
      prefix.size() < kKeySizeMax && prefix.find('/', kTablePrefix.size()) == prefix.size() - 1) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("prefix: ", Printable(prefix), " is neither ", kTablePrefix, " nor ",
                                                 kTablePrefix, "<namespace>/ of less than ", kKeySizeMax,
                                                 " bytes; give one of these"));
}

std::string Printable(absl::string_view bytes, size_t size_max) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes.substr(0, size_max)) {
    if (c >= 0x20 && c < 0x7f && c != '\\' && c != '"') {
      text.push_back(c);
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text.append({'\\', 'x', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  if (bytes.size() > size_max) absl::StrAppend(&text, "...(", bytes.size(), " bytes)");
  return text;
}

}  // namespace caretaker::registry
