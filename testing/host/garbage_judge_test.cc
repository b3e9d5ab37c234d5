#include "testing/host/garbage_judge.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "absl/strings/str_format.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "testing/fakes/memory_rocksdb.h"

namespace caretaker::reference_host {
namespace {

std::string Row(const std::string& table, int row) { return absl::StrFormat("%s/%06d", table, row); }

class GarbageJudgeTest : public ::testing::Test {
 protected:
  void Put(const std::string& table, int rows) {
    for (int row = 0; row < rows; ++row) memory_.Put(Row(table, row), "row");
  }
  void Delete(const std::string& table, int from, int to) {
    for (int row = from; row < to; ++row) memory_.Delete(Row(table, row));
  }
  void DeleteRange(const std::string& table, int from, int to) {
    ASSERT_TRUE(memory_.db()
                    ->GetBaseDB()
                    ->DeleteRange(rocksdb::WriteOptions(), memory_.family(), Row(table, from), Row(table, to))
                    .ok());
  }
  Garbage Judge(const std::string& table, uint64_t walked_entries_max = GarbageJudge::kWalkedEntriesDefault) {
    const GarbageJudge judge(memory_.db(), memory_.family(), walked_entries_max);
    const absl::StatusOr<Garbage> garbage = judge.Judge(*RangeOfTable(table), ending_);
    EXPECT_TRUE(garbage.ok()) << garbage.status();
    return garbage.value_or(Garbage());
  }

  testing::MemoryRocksDb memory_;
  std::atomic<bool> ending_{false};
};

TEST_F(GarbageJudgeTest, LiveRowsAreNoGarbage) {
  Put("t", 100);
  EXPECT_EQ(Judge("t").live, 100u);
  EXPECT_EQ(Judge("t").skipped, 0u);
  EXPECT_EQ(Judge("t").percent(), 0u);
}

TEST_F(GarbageJudgeTest, DeletionsAndWhatTheyHideAreGarbage) {
  Put("t", 100);
  memory_.Flush();
  Delete("t", 0, 90);
  memory_.Flush();
  EXPECT_EQ(Judge("t").live, 10u);
  EXPECT_EQ(Judge("t").skipped, 180u);
  EXPECT_EQ(Judge("t").percent(), 94u);
}

TEST_F(GarbageJudgeTest, UnflushedDeletionsAreSeen) {
  Put("t", 100);
  memory_.Flush();
  Delete("t", 0, 90);
  EXPECT_EQ(Judge("t").skipped, 180u);
}

TEST_F(GarbageJudgeTest, OverwrittenRowsAreGarbage) {
  Put("t", 100);
  memory_.Flush();
  Put("t", 100);
  EXPECT_EQ(Judge("t").live, 100u);
  EXPECT_EQ(Judge("t").skipped, 100u);
}

TEST_F(GarbageJudgeTest, FilesSharedWithOthersDoNotMislead) {
  // One file: by its properties nearly all of it is rows, and the small table would be clean.
  Put("big", 5000);
  Put("small", 20);
  memory_.Flush();
  Delete("small", 0, 19);
  memory_.Flush();
  EXPECT_EQ(Judge("small").percent(), 97u);
  EXPECT_EQ(Judge("big").percent(), 0u);
}

TEST_F(GarbageJudgeTest, RowsHiddenByARangeDeletionAreGarbage) {
  Put("t", 100);
  memory_.Flush();
  DeleteRange("t", 0, 90);
  EXPECT_EQ(Judge("t").live, 10u);
  EXPECT_EQ(Judge("t").skipped, 90u);
  memory_.Flush();
  EXPECT_EQ(Judge("t").skipped, 90u);
}

TEST_F(GarbageJudgeTest, RangeDeletionsBeyondTheBoundDoNotCount) {
  Put("t", 100);
  memory_.Flush();
  DeleteRange("t", 20, 90);
  // The first 40 entries: rows 0 to 39, of which 20 are hidden.
  EXPECT_EQ(Judge("t", 40).live, 20u);
  EXPECT_EQ(Judge("t", 40).skipped, 20u);
}

// RocksDB steps over them without counting when they are in one memtable, or in one file.
TEST_F(GarbageJudgeTest, RowsUnderARangeDeletionOfTheirOwnSourceAreGarbage) {
  Put("t", 100);
  DeleteRange("t", 0, 90);
  EXPECT_EQ(Judge("t").skipped, 90u);
  const rocksdb::Snapshot* const snapshot = memory_.db()->GetSnapshot();
  Put("u", 1000);
  const rocksdb::Snapshot* const reader = memory_.db()->GetSnapshot();
  DeleteRange("u", 0, 990);
  memory_.Flush();
  memory_.db()->ReleaseSnapshot(reader);
  memory_.db()->ReleaseSnapshot(snapshot);
  EXPECT_EQ(Judge("u").live, 10u);
  EXPECT_EQ(Judge("u").percent(), 99u);
  EXPECT_LE(Judge("u", 100).live + Judge("u", 100).skipped, 101u) << "the bound counts what is hidden, too";
}

TEST_F(GarbageJudgeTest, AWalkEndsWhereItIsAskedTo) {
  Put("t", 100);
  ending_ = true;
  const GarbageJudge judge(memory_.db(), memory_.family(), 100);
  EXPECT_EQ(judge.Judge(*RangeOfTable("t"), ending_).status().code(), absl::StatusCode::kAborted);
}

TEST_F(GarbageJudgeTest, AHoleOfManyStepsIsCountedWhole) {
  constexpr int kRows = 35'000;
  Put("t", kRows);
  memory_.Flush();
  Delete("t", 1, kRows - 1);
  const Garbage garbage = Judge("t", GarbageJudge::kWalkedEntriesMax);
  EXPECT_EQ(garbage.live, 2u);
  EXPECT_NEAR(static_cast<double>(garbage.skipped), 2 * (kRows - 2), 10) << "but for where the steps end";
}

TEST_F(GarbageJudgeTest, TablesWithoutRowsHaveNoGarbage) {
  Put("other", 10);
  EXPECT_EQ(Judge("t").live, 0u);
  EXPECT_EQ(Judge("t").percent(), 0u);
}

TEST_F(GarbageJudgeTest, AWalkEndsAtItsBound) {
  Put("t", 300);
  EXPECT_EQ(Judge("t", 300).live, 300u);
  EXPECT_EQ(Judge("t", 299).live, 299u);
  EXPECT_EQ(Judge("t", 1).live, 1u);
}

TEST_F(GarbageJudgeTest, AHoleOfDeletionsEndsAWalkWithinTwiceItsBound) {
  Put("t", 10000);
  memory_.Flush();
  Delete("t", 1, 9999);
  rocksdb::get_perf_context()->Reset();
  const Garbage garbage = Judge("t", 500);
  const rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
  EXPECT_LE(perf.internal_delete_skipped_count + perf.internal_key_skipped_count, 2 * 1001u) << "two walks";
  EXPECT_EQ(garbage.live, 1u);
  EXPECT_GE(garbage.percent(), 99u);
}

TEST_F(GarbageJudgeTest, ItCountsWhereTheHostTurnedCountingOff) {
  Put("t", 100);
  Delete("t", 0, 90);
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  EXPECT_EQ(Judge("t").skipped, 180u);
  EXPECT_EQ(rocksdb::GetPerfLevel(), rocksdb::PerfLevel::kDisable);
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
}

TEST_F(GarbageJudgeTest, FilesThatCannotBeReadAreNotTheTablesFault) {
  Put("t", 100);
  memory_.Flush();
  memory_.hooks().on_table_read = [] { return rocksdb::IOStatus::IOError("the disk is gone"); };
  const GarbageJudge judge(memory_.db(), memory_.family(), 100);
  EXPECT_EQ(judge.Judge(*RangeOfTable("t"), ending_).status().code(), absl::StatusCode::kUnavailable);
  memory_.hooks().on_table_read = nullptr;
}

}  // namespace
}  // namespace caretaker::reference_host
