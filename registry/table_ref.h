// Names of tables and the keys under which the registry holds them: `tbl/<namespace>/<name>`.
//
// The key is split at the first `/` after `tbl/`: a namespace holds no slash, a name may. Both are non-empty and may
// hold any other byte. Thread-safety: values and functions without state.
#ifndef CARETAKER_REGISTRY_TABLE_REF_H_
#define CARETAKER_REGISTRY_TABLE_REF_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace caretaker::registry {

inline constexpr absl::string_view kTablePrefix = "tbl/";
inline constexpr absl::string_view kDropMarkerPrefix = "drop/";

// A table's name; borrows the bytes that it was made from.
struct TableRef {
  absl::string_view table_namespace;
  absl::string_view table_name;
};

// The table that `key` registers. The result borrows `key`. DataLoss: `key` is no table's key; the message says why,
// with the key escaped and cut.
absl::StatusOr<TableRef> ParseTableKey(absl::string_view key);

// The key of `table`, and the key that marks it as being dropped.
std::string TableKey(const TableRef& table);
std::string DropMarkerKey(const TableRef& table);

// OK when `prefix` is `tbl/` or `tbl/<namespace>/` and leaves room for a name; InvalidArgument otherwise.
absl::Status ValidateTablePrefix(absl::string_view prefix);

// `bytes` fit for a message or a log line: printable ASCII, everything else as \xNN, cut after `size_max` bytes of
// input with a mark that says so.
std::string Printable(absl::string_view bytes, size_t size_max = 128);

}  // namespace caretaker::registry

#endif  // CARETAKER_REGISTRY_TABLE_REF_H_
