// Where a table's rows are: the keys under `<location>/` in the column family `data`.
//
// A table that lies inside another one (`a/b` inside `a`) shares its rows with it: the outer range holds the inner one.
// That is harmless here, as a compaction takes no live row away; what the inner table has of garbage is the outer
// table's as well.
#ifndef CARETAKER_TESTING_HOST_TABLE_RANGE_H_
#define CARETAKER_TESTING_HOST_TABLE_RANGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace caretaker::reference_host {

// The keys from `begin`, included, to `end`, excluded.
struct TableRange {
  std::string begin;
  std::string end;
};

// The range of the table at `location`: from "<location>/" to "<location>0", '0' being the byte after '/'. Slashes at
// the end of a location do not count: rows under `a/` and under `a//` are both inside the range of `a`. So the range of
// `a` never reaches into `ab`, nor into `a0`.
//
// InvalidArgument: the location is empty or nothing but slashes, which would name no table of its own; the registration
// has to be corrected.
absl::StatusOr<TableRange> RangeOfTable(absl::string_view location);

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_TABLE_RANGE_H_
