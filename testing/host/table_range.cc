#include "testing/host/table_range.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace caretaker::reference_host {

absl::StatusOr<TableRange> RangeOfTable(absl::string_view location) {
  absl::string_view name = location;
  while (absl::EndsWith(name, "/")) name.remove_suffix(1);
  if (name.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("location: names no table, seen \"", location,
                                                   "\", allowed is a name before any slash at its end; correct the "
                                                   "registration"));
  }
  return TableRange{absl::StrCat(name, "/"), absl::StrCat(name, "0")};
}

}  // namespace caretaker::reference_host
