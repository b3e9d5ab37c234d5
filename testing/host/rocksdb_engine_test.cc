#include "testing/host/rocksdb_engine.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "testing/host/database.h"

namespace caretaker::reference_host {
namespace {

class RocksDbEngineTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string path =
        absl::StrCat(::testing::TempDir(), "/", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    ASSERT_TRUE(Database::Seed(path, 8).ok());
    auto database = Database::Open(path);
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
    engine_ = std::make_unique<RocksDbEngine>(database_->db(), database_->data(), 50);
  }

  absl::Status Maintain(const std::string& location, std::optional<int64_t> remaining_ns = std::nullopt) {
    maintenance::TableGeneration generation;
    generation.location = location;
    generation.version = version_;
    result_ = maintenance::OperationResult();
    return engine_->Maintain({remaining_ns, std::nullopt}, generation, &result_);
  }
  void Write(const std::string& key, bool deletion) {
    rocksdb::DB* const db = database_->db();
    ASSERT_TRUE((deletion ? db->Delete(rocksdb::WriteOptions(), database_->data(), key)
                          : db->Put(rocksdb::WriteOptions(), database_->data(), key, "row"))
                    .ok());
  }

  uint64_t version_ = 5;
  maintenance::OperationResult result_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<RocksDbEngine> engine_;
};

TEST_F(RocksDbEngineTest, GarbageIsWhatAWalkHasToSkip) {
  // Table 0 has all of its rows, table 1 has 180 of 200 deleted: a deletion and a hidden row each.
  EXPECT_EQ(engine_->Judge("tables/00000000")->live, 200u);
  EXPECT_EQ(engine_->Judge("tables/00000000")->skipped, 0u);
  EXPECT_EQ(engine_->Judge("tables/00000001")->live, 20u);
  EXPECT_EQ(engine_->Judge("tables/00000001")->skipped, 360u);
  EXPECT_EQ(engine_->Judge("tables/none")->percent(), 0u);
}

TEST_F(RocksDbEngineTest, DeletionsInTheMemtableAreSeen) {
  for (int row = 0; row < 100; ++row) {
    Write(absl::StrCat("fresh/", 1000 + row), /*deletion=*/false);
    Write(absl::StrCat("fresh/", 1000 + row), /*deletion=*/true);
  }
  EXPECT_EQ(engine_->Judge("fresh")->live, 0u);
  EXPECT_EQ(engine_->Judge("fresh")->percent(), 100u);
}

TEST_F(RocksDbEngineTest, TheWalkIsBounded) {
  for (int row = 0; row < 30000; ++row) Write(absl::StrCat("big/", 100000 + row), /*deletion=*/false);
  EXPECT_EQ(engine_->Judge("big")->live, RocksDbEngine::kWalkedEntriesMax);
}

TEST_F(RocksDbEngineTest, CompactionRemovesTheGarbageOfThatTable) {
  const uint64_t before = database_->Size().entries;
  ASSERT_TRUE(Maintain("tables/00000001").ok());
  EXPECT_EQ(result_.new_version, 6u);
  EXPECT_EQ(engine_->Judge("tables/00000001")->skipped, 0u);
  EXPECT_EQ(engine_->Judge("tables/00000001")->live, 20u);
  EXPECT_EQ(database_->Size().entries, before - 360);
  ASSERT_TRUE(Maintain("tables/00000001").ok()) << "a version that is maintained already";
  EXPECT_FALSE(result_.new_version.has_value());
}

TEST_F(RocksDbEngineTest, TablesWithoutGarbageAreLeftAlone) {
  const uint64_t before = database_->Size().entries;
  ASSERT_TRUE(Maintain("tables/00000000").ok());
  EXPECT_FALSE(result_.new_version.has_value());
  EXPECT_EQ(database_->Size().entries, before);
}

TEST_F(RocksDbEngineTest, AStoppedEngineAnswersCancelled) {
  engine_->Stop();
  EXPECT_EQ(Maintain("tables/00000001").code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(engine_->Judge("tables/00000001")->skipped, 360u);
}

TEST_F(RocksDbEngineTest, WhatIsOverItsTimeIsCancelled) {
  EXPECT_EQ(Maintain("tables/00000001", /*remaining_ns=*/0).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(engine_->Judge("tables/00000001")->skipped, 360u);
  ASSERT_TRUE(Maintain("tables/00000001").ok()) << "the next operation has its own time";
  EXPECT_EQ(result_.new_version, 6u);
}

TEST_F(RocksDbEngineTest, TheWatchdogEndsALongCompaction) {
  // Some 40 MB, which take RocksDB hundreds of times the millisecond that it is given.
  const std::string row(200, 'r');
  for (int i = 0; i < 200000; ++i) {
    ASSERT_TRUE(
        database_->db()->Put(rocksdb::WriteOptions(), database_->data(), absl::StrCat("big/", 1000000 + i), row).ok());
  }
  for (int i = 0; i < 20000; ++i) Write(absl::StrCat("big/", 1000000 + i), /*deletion=*/true);
  EXPECT_EQ(Maintain("big", /*remaining_ns=*/1'000'000).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_GE(engine_->Judge("big")->percent(), 50u) << "nothing was finished";
  ASSERT_TRUE(Maintain("big").ok());
  EXPECT_EQ(result_.new_version, 6u);
  EXPECT_EQ(engine_->Judge("big")->skipped, 0u);
}

TEST_F(RocksDbEngineTest, WhatCannotBeMaintainedIsRefused) {
  EXPECT_EQ(Maintain("").code(), absl::StatusCode::kInvalidArgument);
  version_ = UINT64_MAX;
  EXPECT_EQ(Maintain("tables/00000001").code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(RocksDbEngineTest, SeedTouchesNothingThatIsThere) {
  EXPECT_EQ(Database::Seed(::testing::TempDir(), 1).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Database::Open("/nonexistent/db").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace caretaker::reference_host
