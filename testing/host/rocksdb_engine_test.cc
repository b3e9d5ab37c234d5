#include "testing/host/rocksdb_engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "rocksdb/compaction_filter.h"
#include "rocksdb/metadata.h"
#include "rocksdb/table_properties.h"
#include "testing/fakes/memory_rocksdb.h"

namespace caretaker::reference_host {
namespace {

std::string Row(const std::string& table, int row) { return absl::StrFormat("%s/%06d", table, row); }

// Holds a compaction at its first row until the test opens it; drops nothing.
class Gate : public rocksdb::CompactionFilter {
 public:
  const char* Name() const override { return "Gate"; }
  bool Filter(int, const rocksdb::Slice&, const rocksdb::Slice&, std::string*, bool*) const override {
    if (closed_.exchange(false)) {
      reached_.set_value();
      while (!is_open_()) std::this_thread::yield();
    }
    return false;
  }

  // The next compaction that comes to a row stops there until `is_open` says so.
  void CloseUntil(std::function<bool()> is_open) {
    is_open_ = std::move(is_open);
    closed_ = true;
  }
  void WaitUntilReached() { reached_.get_future().wait(); }

 private:
  std::function<bool()> is_open_;
  mutable std::atomic<bool> closed_{false};
  mutable std::promise<void> reached_;
};

class RocksDbEngineTest : public ::testing::Test {
 protected:
  static constexpr int kRows = 100;
  static constexpr int kLive = 10;

  RocksDbEngineTest()
      : memory_({rocksdb::OccValidationPolicy::kValidateSerial,
                 [this](rocksdb::Options* options) { options->compaction_filter = &gate_; }}) {}

  // A table in a file of its own, all but kLive rows of it deleted in another.
  void MakeTable(const std::string& location, bool with_garbage) {
    for (int row = 0; row < kRows; ++row) memory_.Put(Row(location, row), "row");
    memory_.Flush();
    if (!with_garbage) return;
    for (int row = kLive; row < kRows; ++row) memory_.Delete(Row(location, row));
    memory_.Flush();
  }
  absl::Status Maintain(const std::string& location, std::optional<int64_t> remaining_ns = std::nullopt) {
    maintenance::TableGeneration generation;
    generation.location = location;
    generation.engine = engine_name_;
    generation.version = version_;
    result_ = maintenance::OperationResult();
    return engine_.Maintain({remaining_ns, std::nullopt}, generation, &result_);
  }
  uint64_t EntriesInFiles() {
    rocksdb::TablePropertiesCollection files;
    EXPECT_TRUE(memory_.db()->GetPropertiesOfAllTables(memory_.family(), &files).ok());
    uint64_t entries = 0;
    for (const auto& [name, properties] : files) entries += properties->num_entries;
    return entries;
  }
  void ExpectLiveRows(const std::string& location) {
    for (int row = 0; row < kLive; ++row) EXPECT_EQ(memory_.Read(Row(location, row)), "row");
  }

  std::string engine_name_ = "rocksdb";
  uint64_t version_ = 5;
  maintenance::OperationResult result_;
  Gate gate_;
  testing::MemoryRocksDb memory_;
  RocksDbEngine engine_{memory_.db(), memory_.family(), {}};
};

TEST_F(RocksDbEngineTest, GarbageIsCompactedAway) {
  MakeTable("t", /*with_garbage=*/true);
  MakeTable("other", /*with_garbage=*/true);
  EXPECT_EQ(EntriesInFiles(), 380u);
  ASSERT_TRUE(Maintain("t").ok());
  EXPECT_EQ(result_.new_version, 6u);
  EXPECT_EQ(EntriesInFiles(), 200u) << "the rows that are left, and the other table as it was";
  ExpectLiveRows("t");
}

TEST_F(RocksDbEngineTest, TablesOfAnotherEngineAreLeftToIt) {
  MakeTable("t", /*with_garbage=*/true);
  engine_name_ = "delta";
  const absl::Status refused = Maintain("t");
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(refused.message(), "engine: delta seen, allowed rocksdb; leave the table to a host that has its engine");
  EXPECT_EQ(EntriesInFiles(), 190u);
}

TEST_F(RocksDbEngineTest, TheDeadlineEndsTheJudgement) {
  MakeTable("t", /*with_garbage=*/false);
  EXPECT_EQ(Maintain("t", 0).code(), absl::StatusCode::kDeadlineExceeded) << "also where there is nothing to compact";
  engine_.Cancel();
  EXPECT_EQ(Maintain("t").code(), absl::StatusCode::kCancelled);
}

TEST_F(RocksDbEngineTest, UnflushedGarbageIsCompactedAway) {
  MakeTable("t", /*with_garbage=*/false);
  for (int row = kLive; row < kRows; ++row) memory_.Delete(Row("t", row));
  ASSERT_TRUE(Maintain("t").ok());
  EXPECT_EQ(result_.new_version, 6u);
  EXPECT_EQ(EntriesInFiles(), 10u);
}

TEST(RocksDbEngineBottommostLevelTest, GarbageInItIsCompactedAway) {
  // A snapshot kept deleted rows alive while they sank to the last level, where RocksDB's default leaves them.
  testing::MemoryRocksDb memory;
  for (int row = 0; row < 100; ++row) memory.Put(Row("t", row), "row");
  const rocksdb::Snapshot* const snapshot = memory.db()->GetSnapshot();
  for (int row = 10; row < 100; ++row) memory.Delete(Row("t", row));
  ASSERT_TRUE(memory.db()->CompactRange({}, memory.family(), nullptr, nullptr).ok());
  memory.db()->ReleaseSnapshot(snapshot);

  RocksDbEngine engine(memory.db(), memory.family(), {});
  maintenance::TableGeneration generation;
  generation.location = "t";
  generation.engine = "rocksdb";
  maintenance::OperationResult result;
  ASSERT_TRUE(engine.Maintain({}, generation, &result).ok());
  EXPECT_EQ(result.new_version, 1u);
  ASSERT_TRUE(engine.Maintain({}, generation, &result).ok());
  EXPECT_FALSE(result.new_version.has_value()) << "the garbage is still there";
}

TEST_F(RocksDbEngineTest, AMaintainedVersionIsMaintainedAgainWithoutWork) {
  MakeTable("t", /*with_garbage=*/true);
  ASSERT_TRUE(Maintain("t").ok());
  const uint64_t last_write = memory_.db()->GetLatestSequenceNumber();
  std::vector<rocksdb::LiveFileMetaData> before;
  memory_.db()->GetLiveFilesMetaData(&before);
  ASSERT_TRUE(Maintain("t").ok());
  EXPECT_FALSE(result_.new_version.has_value());
  std::vector<rocksdb::LiveFileMetaData> after;
  memory_.db()->GetLiveFilesMetaData(&after);
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after[0].name, before[0].name) << "the file was written anew";
  EXPECT_EQ(memory_.db()->GetLatestSequenceNumber(), last_write);
}

TEST_F(RocksDbEngineTest, TheThresholdDecides) {
  for (int row = 0; row < kRows; ++row) memory_.Put(Row("t", row), "row");
  memory_.Flush();
  // 100 new rows over 100 old ones: half of it is garbage.
  for (int row = 0; row < kRows; ++row) memory_.Put(Row("t", row), "row");
  maintenance::TableGeneration generation;
  generation.location = "t";
  generation.engine = "rocksdb";
  generation.version = version_;
  RocksDbEngine strict(memory_.db(), memory_.family(), {51, GarbageJudge::kWalkedEntriesDefault});
  ASSERT_TRUE(strict.Maintain({}, generation, &result_).ok());
  EXPECT_FALSE(result_.new_version.has_value());
  ASSERT_TRUE(Maintain("t").ok());
  EXPECT_EQ(result_.new_version, 6u);
}

TEST_F(RocksDbEngineTest, CancelEndsTheCompactionThatRuns) {
  MakeTable("t", /*with_garbage=*/true);
  gate_.CloseUntil([this] { return engine_.ending_operation(); });
  std::thread canceller([this] {
    gate_.WaitUntilReached();
    engine_.Cancel();
  });
  const absl::Status maintained = Maintain("t");
  canceller.join();
  EXPECT_EQ(maintained.code(), absl::StatusCode::kCancelled) << maintained;
  EXPECT_FALSE(result_.new_version.has_value());
  EXPECT_EQ(EntriesInFiles(), 190u) << "nothing was replaced";
  ExpectLiveRows("t");
  EXPECT_EQ(Maintain("t").code(), absl::StatusCode::kCancelled) << "every later one, too";
}

TEST_F(RocksDbEngineTest, TheDeadlineEndsTheCompactionThatRuns) {
  MakeTable("t", /*with_garbage=*/true);
  // It would wait for ever: the watchdog alone gets it past the gate.
  gate_.CloseUntil([this] { return engine_.ending_operation(); });
  const absl::Status maintained = Maintain("t", /*remaining_ns=*/1'000'000);
  EXPECT_EQ(maintained.code(), absl::StatusCode::kDeadlineExceeded) << maintained;
  EXPECT_FALSE(result_.new_version.has_value());
  EXPECT_EQ(EntriesInFiles(), 190u) << "nothing was replaced";
  ExpectLiveRows("t");
}

TEST_F(RocksDbEngineTest, NoTimeAtAllIsADeadlineThatHasPassed) {
  MakeTable("t", /*with_garbage=*/true);
  EXPECT_EQ(Maintain("t", 0).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(EntriesInFiles(), 190u);
  ASSERT_TRUE(Maintain("t").ok()) << "the next operation has its own time";
  EXPECT_EQ(result_.new_version, 6u);
}

TEST_F(RocksDbEngineTest, TablesInsideAnotherKeepTheirRows) {
  MakeTable("a", /*with_garbage=*/true);
  MakeTable("a/b", /*with_garbage=*/true);
  MakeTable("a0", /*with_garbage=*/true);
  ASSERT_TRUE(Maintain("a").ok());
  EXPECT_EQ(EntriesInFiles(), 10u + 10u + 190u) << "the table beside it is left alone";
  for (const char* location : {"a", "a/b", "a0"}) ExpectLiveRows(location);
}

TEST_F(RocksDbEngineTest, ALocationThatNamesNoTableIsRefused) {
  MakeTable("", /*with_garbage=*/true);
  EXPECT_EQ(Maintain("").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Maintain("/").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(EntriesInFiles(), 190u);
}

TEST_F(RocksDbEngineTest, TheLastVersionHasNoNext) {
  MakeTable("t", /*with_garbage=*/true);
  version_ = std::numeric_limits<uint64_t>::max();
  const absl::Status maintained = Maintain("t");
  EXPECT_EQ(maintained.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(maintained.message().find("18446744073709551615"), absl::string_view::npos) << maintained;
  EXPECT_EQ(EntriesInFiles(), 190u);
  version_ = std::numeric_limits<uint64_t>::max() - 1;
  ASSERT_TRUE(Maintain("t").ok());
  EXPECT_EQ(result_.new_version, std::numeric_limits<uint64_t>::max());
}

TEST_F(RocksDbEngineTest, FilesThatCannotBeReadAreNotTheTablesFault) {
  MakeTable("t", /*with_garbage=*/true);
  memory_.hooks().on_table_read = [] { return rocksdb::IOStatus::IOError("the disk is gone"); };
  EXPECT_EQ(Maintain("t").code(), absl::StatusCode::kUnavailable);
  memory_.hooks().on_table_read = nullptr;
}

TEST_F(RocksDbEngineTest, ADatabaseThatPausedCompactionsIsUnavailable) {
  MakeTable("t", /*with_garbage=*/true);
  memory_.db()->DisableManualCompaction();
  EXPECT_EQ(Maintain("t").code(), absl::StatusCode::kUnavailable);
  memory_.db()->EnableManualCompaction();
}

}  // namespace
}  // namespace caretaker::reference_host
