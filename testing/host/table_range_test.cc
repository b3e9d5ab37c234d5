#include "testing/host/table_range.h"

#include <gtest/gtest.h>

#include <string>

namespace caretaker::reference_host {
namespace {

bool Holds(absl::string_view location, const std::string& key) {
  const absl::StatusOr<TableRange> range = RangeOfTable(location);
  return range.ok() && key >= range->begin && key < range->end;
}

TEST(TableRangeTest, RowsUnderTheLocationAreInside) {
  EXPECT_TRUE(Holds("rows/a", "rows/a/"));
  EXPECT_TRUE(Holds("rows/a", "rows/a/1"));
  EXPECT_TRUE(Holds("rows/a", "rows/a/\xff\xff"));
  EXPECT_TRUE(Holds("rows/a", "rows/a/b/1"));
}

TEST(TableRangeTest, TablesWhoseNamesBeginAlikeAreOutside) {
  EXPECT_FALSE(Holds("rows/a", "rows/a"));
  EXPECT_FALSE(Holds("rows/a", "rows/a.b/1"));
  EXPECT_FALSE(Holds("rows/a", "rows/a0"));
  EXPECT_FALSE(Holds("rows/a", "rows/a0/1"));
  EXPECT_FALSE(Holds("rows/a", "rows/ab/1"));
}

TEST(TableRangeTest, SlashesAtTheEndDoNotCount) {
  EXPECT_TRUE(Holds("rows/a/", "rows/a/1"));
  EXPECT_TRUE(Holds("rows/a//", "rows/a//1"));
  EXPECT_FALSE(Holds("rows/a/", "rows/a0/1"));
}

TEST(TableRangeTest, LocationsThatNameNoTableAreRefused) {
  for (const char* location : {"", "/", "///"}) {
    EXPECT_EQ(RangeOfTable(location).status().code(), absl::StatusCode::kInvalidArgument) << location;
  }
}

}  // namespace
}  // namespace caretaker::reference_host
