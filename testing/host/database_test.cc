#include "testing/host/database.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rocksdb/db.h"

namespace caretaker::reference_host {
namespace {

std::string FreePath() {
  return absl::StrCat(::testing::TempDir(), "/", ::testing::UnitTest::GetInstance()->current_test_info()->name());
}

TEST(DatabaseTest, WhatIsNotThereIsNotMade) {
  const auto database = Database::Open(FreePath());
  EXPECT_EQ(database.status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(absl::StrContains(database.status().message(), FreePath())) << database.status();
  EXPECT_FALSE(std::filesystem::exists(FreePath()));
}

TEST(DatabaseTest, CreateTouchesNothingThatIsThere) {
  ASSERT_TRUE(std::filesystem::create_directory(FreePath()));
  EXPECT_EQ(Database::Create(FreePath()).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(std::filesystem::is_empty(FreePath()));
}

TEST(DatabaseTest, CreateLeavesNothingWhereItFails) {
  EXPECT_EQ(Database::Create(FreePath() + "/no/such").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(std::filesystem::exists(FreePath()));
}

TEST(DatabaseTest, ADatabaseWithoutRowsFamilyIsRefusedAndLeftAsItIs) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* made = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, FreePath(), &made).ok());
  delete made;
  const auto database = Database::Open(FreePath());
  EXPECT_EQ(database.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(database.status().message(), "create_column_family data")) << database.status();
  std::vector<std::string> families;
  ASSERT_TRUE(rocksdb::DB::ListColumnFamilies(options, FreePath(), &families).ok());
  EXPECT_EQ(families.size(), 1u);
}

TEST(DatabaseTest, ADatabaseThatIsInUseIsUnavailable) {
  const auto database = Database::Create(FreePath());
  ASSERT_TRUE(database.ok()) << database.status();
  EXPECT_EQ(Database::Open(FreePath()).status().code(), absl::StatusCode::kUnavailable);
}

TEST(DatabaseTest, FamiliesOfOthersAreLeftAlone) {
  {
    const auto database = Database::Create(FreePath());
    ASSERT_TRUE(database.ok()) << database.status();
    rocksdb::ColumnFamilyHandle* other = nullptr;
    ASSERT_TRUE((*database)->db()->CreateColumnFamily({}, "other", &other).ok());
    ASSERT_TRUE((*database)->db()->Put({}, other, "key", "value").ok());
    ASSERT_TRUE((*database)->db()->DestroyColumnFamilyHandle(other).ok());
  }
  const auto database = Database::Open(FreePath());
  ASSERT_TRUE(database.ok()) << database.status();
  EXPECT_EQ(*(*database)->CountEntries(), 0u);
}

TEST(DatabaseTest, EntriesAreCountedInFilesAndMemtablesOfBothFamilies) {
  const auto opened = Database::Create(FreePath());
  ASSERT_TRUE(opened.ok()) << opened.status();
  Database& database = **opened;
  ASSERT_TRUE(database.db()->Put({}, database.registry(), "tbl/a/b", "1").ok());
  ASSERT_TRUE(database.db()->Put({}, database.data(), "rows/1", "1").ok());
  ASSERT_TRUE(database.db()->Put({}, database.data(), "rows/2", "1").ok());
  ASSERT_TRUE(database.db()->Flush({}, database.data()).ok());
  ASSERT_TRUE(database.db()->Delete({}, database.data(), "rows/1").ok());
  EXPECT_EQ(*database.CountEntries(), 4u) << "a registration, two rows, a deletion";
  EXPECT_EQ(database.FileCount(), 1u);
  EXPECT_GT(database.BytesOnDisk(), 0u);
}

}  // namespace
}  // namespace caretaker::reference_host
