// docs/flags.md says what the code says: every row of its table, in the same order, and no other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "maintenance/maintenance_limits.h"

namespace caretaker::maintenance {
namespace {

std::string Row(const SettingDescription& setting) {
  const auto text = [&](int64_t value) {
    return setting.is_bool ? std::string(value != 0 ? "true" : "false") : absl::StrCat(value);
  };
  const std::string range =
      setting.is_bool ? std::string("true or false") : absl::StrCat(setting.min, "..", setting.max);
  return absl::StrCat("| `", setting.name, "` | `", setting.environment, "` | ", text(setting.default_value), " | ",
                      range, " | ", setting.help, " |");
}

TEST(FlagsPageTest, RowsAreThoseOfTheCode) {
  std::ifstream page(std::getenv("FLAGS_PAGE"));
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (absl::StartsWith(line, "| `")) rows.push_back(line);
  }
  std::vector<std::string> expected;
  for (size_t i = 0; i < kSettingCount; ++i) expected.push_back(Row(Describe(static_cast<Setting>(i))));
  EXPECT_THAT(rows, ::testing::ElementsAreArray(expected));
}

}  // namespace
}  // namespace caretaker::maintenance
