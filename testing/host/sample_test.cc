#include "testing/host/sample.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "registry/registration_codec.h"
#include "testing/host/database.h"
#include "testing/host/garbage_judge.h"

namespace caretaker::reference_host {
namespace {

constexpr uint64_t kTables = 12;
constexpr uint64_t kRows = 50;

std::string FreePath() {
  return absl::StrCat(::testing::TempDir(), "/", ::testing::UnitTest::GetInstance()->current_test_info()->name());
}

std::string Registration(const Database& database, const std::string& key) {
  std::string value;
  EXPECT_TRUE(database.db()->Get({}, database.registry(), key, &value).ok()) << key;
  return value;
}

TEST(SampleTest, ThreeTablesOfFourHaveGarbageOfTheirOwn) {
  ASSERT_TRUE(MakeSample(FreePath(), {kTables, kRows, nullptr}).ok());
  const auto database = Database::Open(FreePath());
  ASSERT_TRUE(database.ok()) << database.status();
  const GarbageJudge judge((*database)->db(), (*database)->data(), 10000);
  for (uint64_t table = 0; table < kTables; ++table) {
    const auto garbage = judge.Judge(*RangeOfTable(absl::StrCat("tables/000000", table / 10, table % 10)), false);
    ASSERT_TRUE(garbage.ok()) << garbage.status();
    EXPECT_EQ(garbage->live, table % 4 == 0 ? 50u : 5u) << table;
    EXPECT_EQ(garbage->skipped, table % 4 == 0 ? 0u : 90u) << table;
  }
  EXPECT_EQ(*(*database)->CountEntries(), 12 * 50 + 9 * 45 + 12u) << "rows, deletions, registrations";
}

TEST(SampleTest, RegistrationsAreThoseOfTheOrigin) {
  ASSERT_TRUE(MakeSample(FreePath(), {kTables, kRows, nullptr}).ok());
  const auto database = Database::Open(FreePath());
  ASSERT_TRUE(database.ok()) << database.status();
  EXPECT_EQ(Registration(**database, "tbl/sample1/table00000001"),
            R"({"location":"tables/00000001","engine":"rocksdb","current_version":2})");
  EXPECT_EQ(Registration(**database, "tbl/sample2/table00000002"),
            R"({"location":"tables/00000002","engine":"rocksdb","current_version":3,)"
            R"("incarnation_id":"00000000000000000000000002"})");
  const std::string with_schema = Registration(**database, "tbl/sample3/table00000003");
  EXPECT_EQ(with_schema.rfind(R"({"location":"tables/00000003","engine":"rocksdb","current_version":4,)"
                              R"("schema_ipc":[255,255,255,255,120,0,0,0,93,)",
                              0),
            0u)
      << with_schema;
  EXPECT_EQ(with_schema.substr(with_schema.size() - 2), "]}");
}

TEST(SampleTest, OneTableIsASample) {
  ASSERT_TRUE(MakeSample(FreePath(), {1, 10, nullptr}).ok());
  const auto database = Database::Open(FreePath());
  ASSERT_TRUE(database.ok()) << database.status();
  EXPECT_EQ(*(*database)->CountEntries(), 11u);
}

TEST(SampleTest, WhatIsThereIsNotTouched) {
  ASSERT_TRUE(MakeSample(FreePath(), {1, 10, nullptr}).ok());
  EXPECT_EQ(MakeSample(FreePath(), {2, 10, nullptr}).code(), absl::StatusCode::kAlreadyExists);
  const auto database = Database::Open(FreePath());
  ASSERT_TRUE(database.ok()) << database.status();
  EXPECT_EQ(*(*database)->CountEntries(), 11u);
}

TEST(SampleTest, AStoppedSampleLeavesNothing) {
  int asked = 0;
  const absl::Status made = MakeSample(FreePath(), {kTables, kRows, [&asked] { return ++asked > 15; }});
  EXPECT_EQ(made.code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE(std::filesystem::exists(FreePath()));
}

}  // namespace
}  // namespace caretaker::reference_host
