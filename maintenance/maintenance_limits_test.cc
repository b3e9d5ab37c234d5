#include "maintenance/maintenance_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace caretaker::maintenance {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Setting SettingAt(size_t index) { return static_cast<Setting>(index); }

absl::StatusOr<MaintenanceLimits> TryNew(Setting setting, absl::string_view text,
                                         SettingSource source = SettingSource::kOption) {
  return MaintenanceLimits::TryNew({{setting, source, text}});
}

void ExpectRefused(Setting setting, absl::string_view text) {
  for (const SettingSource source : {SettingSource::kEnvironment, SettingSource::kFlag, SettingSource::kOption}) {
    const auto limits = TryNew(setting, text, source);
    ASSERT_EQ(limits.status().code(), absl::StatusCode::kInvalidArgument) << Describe(setting).name << " = " << text;
    const SettingDescription& description = Describe(setting);
    const char* const name = source == SettingSource::kEnvironment ? description.environment : description.name;
    const std::string range =
        description.is_bool ? std::string("true or false") : absl::StrCat(description.min, "..", description.max);
    EXPECT_THAT(std::string(limits.status().message()),
                AllOf(HasSubstr(name), HasSubstr(absl::StrCat("(", SettingSourceName(source), ")")),
                      HasSubstr(std::string(text)), HasSubstr(range)));
  }
}

TEST(MaintenanceLimitsTest, DefaultsAreThoseOfTheDocumentation) {
  const auto limits = MaintenanceLimits::TryNew({});
  ASSERT_TRUE(limits.ok());
  const int64_t expected[kSettingCount] = {60, 128, 128, 0, 600000, 1000, 5000, 16, 8, 0};
  for (size_t i = 0; i < kSettingCount; ++i) {
    EXPECT_EQ(limits->value(SettingAt(i)), expected[i]) << Describe(SettingAt(i)).name;
    EXPECT_EQ(limits->source(SettingAt(i)), SettingSource::kDefault);
  }
}

TEST(MaintenanceLimitsTest, MaintenanceLimitValuesAreValidatedBeforeServing) {
  for (size_t i = 0; i < kSettingCount; ++i) {
    const Setting setting = SettingAt(i);
    for (const char* text : {"", " ", "-", "words", "1x", "+1", " 1", "1 ", "1.0", "0x10", "1e3",
                             "99999999999999999999", "-99999999999999999999", "9223372036854775808", "-1"}) {
      ExpectRefused(setting, text);
    }
    if (Describe(setting).is_bool) continue;
    ExpectRefused(setting, absl::StrCat(Describe(setting).max + 1));
    ExpectRefused(setting, absl::StrCat(Describe(setting).min - 1));
    for (const int64_t value : {Describe(setting).min, Describe(setting).min + 1, Describe(setting).max}) {
      if (setting == Setting::kMaxOperations && value == 0) continue;
      const auto limits = TryNew(setting, absl::StrCat(value));
      ASSERT_TRUE(limits.ok()) << limits.status();
      EXPECT_EQ(limits->value(setting), value);
    }
  }
  ExpectRefused(Setting::kTablePageSize, "0");
  ExpectRefused(Setting::kTablePageSize, "10001");
  ExpectRefused(Setting::kMaxOperations, "10001");
}

TEST(MaintenanceLimitsTest, ZeroOperationsMeanThePageSize) {
  EXPECT_EQ(TryNew(Setting::kTablePageSize, "7")->max_operations(), 7u);
  EXPECT_EQ(TryNew(Setting::kMaxOperations, "0")->max_operations(), 128u);
  EXPECT_EQ(TryNew(Setting::kMaxOperations, "3")->max_operations(), 3u);
}

TEST(MaintenanceLimitsTest, StrongerSourcesWinInAnyOrder) {
  std::vector<GivenSetting> given = {{Setting::kTablePageSize, SettingSource::kEnvironment, "1"},
                                     {Setting::kTablePageSize, SettingSource::kFlag, "2"},
                                     {Setting::kTablePageSize, SettingSource::kOption, "3"}};
  for (int64_t strongest = 3; strongest >= 1; --strongest) {
    for (const bool reversed : {false, true}) {
      std::vector<GivenSetting> ordered = given;
      if (reversed) ordered.assign(given.rbegin(), given.rend());
      const auto limits = MaintenanceLimits::TryNew(ordered);
      ASSERT_TRUE(limits.ok());
      EXPECT_EQ(limits->value(Setting::kTablePageSize), strongest);
      EXPECT_EQ(limits->source(Setting::kTablePageSize), given.back().source);
    }
    given.pop_back();
  }
}

TEST(MaintenanceLimitsTest, AnOverriddenWrongValueIsStillRefused) {
  const auto limits = MaintenanceLimits::TryNew({{Setting::kTablePageSize, SettingSource::kOption, "3"},
                                                 {Setting::kTablePageSize, SettingSource::kEnvironment, "many"}});
  EXPECT_THAT(std::string(limits.status().message()), HasSubstr("MAINTENANCE_TABLE_PAGE_SIZE (environment): many"));
}

TEST(MaintenanceLimitsTest, OneSourceGivesASettingOnce) {
  const auto limits = MaintenanceLimits::TryNew(
      {{Setting::kTablePageSize, SettingSource::kOption, "3"}, {Setting::kTablePageSize, SettingSource::kOption, "3"}});
  EXPECT_EQ(limits.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(MaintenanceLimitsTest, BoolsAreWrittenAsGflagsWritesThem) {
  for (const char* text : {"true", "1", "yes", "t", "y"}) {
    EXPECT_TRUE(TryNew(Setting::kCheckDropMarkers, text)->check_drop_markers());
  }
  for (const char* text : {"false", "0", "no", "f", "n"}) {
    EXPECT_FALSE(TryNew(Setting::kCheckDropMarkers, text)->check_drop_markers());
  }
}

TEST(MaintenanceLimitsTest, UnknownNamesAreRefusedWithTheKnownOnes) {
  EXPECT_EQ(*FindSetting("maintenance_lock_wait_ms"), Setting::kLockWaitMs);
  for (const char* name :
       {"", "maintenance_", "lock_wait_ms", "MAINTENANCE_LOCK_WAIT_MS", "maintenance_lock_wait_ms "}) {
    EXPECT_THAT(std::string(FindSetting(name).status().message()), HasSubstr("maintenance_table_page_size"));
  }
}

}  // namespace
}  // namespace caretaker::maintenance
