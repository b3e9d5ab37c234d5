#include "registry/rocksdb_metastore.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/slice_transform.h"
#include "testing/fakes/memory_rocksdb.h"
#include "testing/metastore_contract/metastore_contract.h"
#include "testing/metastore_contract/page_walk.h"

namespace caretaker::registry {
namespace {

using testing::CollectedPage;
using ::testing::ElementsAre;
using testing::MemoryRocksDb;
using testing::MetaStoreContractTest;

class RocksDbUnderTest : public testing::MetaStoreUnderTest {
 public:
  explicit RocksDbUnderTest(const RocksDbMetaStoreOptions& options)
      : store_(RocksDbMetaStore::Create(memory_.db(), memory_.family(), options).value()) {}

  MetaStore& store() override { return *store_; }
  void Put(absl::string_view key, absl::string_view value) override { memory_.Put(key, value); }
  void Erase(absl::string_view key) override { memory_.Delete(key); }

 private:
  MemoryRocksDb memory_;
  const std::unique_ptr<RocksDbMetaStore> store_;
};

RocksDbMetaStoreOptions Skipping(uint32_t per_step_max, uint32_t per_request_max) {
  RocksDbMetaStoreOptions options;
  options.skipped_per_step_max = per_step_max;
  options.skipped_per_request_max = per_request_max;
  return options;
}

testing::MetaStoreMaker Making(const RocksDbMetaStoreOptions& options) {
  return [options] { return std::make_unique<RocksDbUnderTest>(options); };
}

}  // namespace
}  // namespace caretaker::registry

namespace caretaker::testing {
// The contract holds for any bounds, also for ones that end a request at the first deleted key.
INSTANTIATE_TEST_SUITE_P(RocksDb, MetaStoreContractTest,
                         ::testing::Values(registry::Making({}), registry::Making(registry::Skipping(1, 1)),
                                           registry::Making(registry::Skipping(10, 1)),
                                           registry::Making(registry::Skipping(1, 1000))));
}  // namespace caretaker::testing

namespace caretaker::registry {
namespace {

class RocksDbMetaStoreTest : public ::testing::Test {
 protected:
  RocksDbMetaStoreTest() = default;
  explicit RocksDbMetaStoreTest(const MemoryRocksDb::Options& options) : memory_(options) {}

  absl::Status Swap(absl::string_view expected, absl::string_view desired) {
    return store_->CompareAndSet({}, "tbl/ns/a", expected, desired, &outcome_);
  }

  MemoryRocksDb memory_;
  std::unique_ptr<RocksDbMetaStore> store_ = RocksDbMetaStore::Create(memory_.db(), memory_.family()).value();
  CompareAndSetOutcome outcome_ = CompareAndSetOutcome::kFenced;
};

TEST_F(RocksDbMetaStoreTest, NothingIsMadeOfNull) {
  for (const auto& store : {RocksDbMetaStore::Create(nullptr, memory_.family()).status(),
                            RocksDbMetaStore::Create(memory_.db(), nullptr).status()}) {
    EXPECT_EQ(store.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StrContains(store.message(), "is null")) << store;
  }
}

TEST_F(RocksDbMetaStoreTest, BoundsAreInTheirRange) {
  for (const RocksDbMetaStoreOptions& good : {Skipping(1, 1), Skipping(kSkippedEntriesMax, kSkippedEntriesMax)})
    EXPECT_TRUE(RocksDbMetaStore::Create(memory_.db(), memory_.family(), good).ok());
  for (const RocksDbMetaStoreOptions& bad :
       {Skipping(0, 1), Skipping(1, 0), Skipping(kSkippedEntriesMax + 1, 1), Skipping(1, kSkippedEntriesMax + 1)}) {
    const absl::Status refused = RocksDbMetaStore::Create(memory_.db(), memory_.family(), bad).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StrContains(refused.message(), "allowed 1..1000000")) << refused;
  }
}

TEST_F(RocksDbMetaStoreTest, OtherOrderOfKeysIsRefused) {
  rocksdb::ColumnFamilyOptions options;
  options.comparator = rocksdb::ReverseBytewiseComparator();
  rocksdb::ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(memory_.db()->CreateColumnFamily(options, "reverse", &family).ok());
  const absl::Status refused = RocksDbMetaStore::Create(memory_.db(), family).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(refused.message(), "family reverse is ordered by")) << refused;
  ASSERT_TRUE(memory_.db()->DestroyColumnFamilyHandle(family).ok());
}

TEST_F(RocksDbMetaStoreTest, OptionsThatHideWritesFromTheValidationAreRefused) {
  struct Case {
    const char* option;
    std::function<void(rocksdb::Options*)> set;
  };
  for (const Case& one :
       {Case{"inplace_update_support",
             [](rocksdb::Options* options) {
               options->inplace_update_support = true;
               options->allow_concurrent_memtable_write = false;
             }},
        Case{"unordered_write", [](rocksdb::Options* options) { options->unordered_write = true; }}}) {
    MemoryRocksDb::Options with;
    with.adjust = one.set;
    MemoryRocksDb memory(with);
    const absl::Status refused = RocksDbMetaStore::Create(memory.db(), memory.family()).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << one.option;
    EXPECT_TRUE(absl::StrContains(refused.message(), absl::StrCat(one.option, " is on"))) << refused;
  }
}

TEST_F(RocksDbMetaStoreTest, OneFamilyIsOneStore) {
  rocksdb::ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(memory_.db()->CreateColumnFamily(rocksdb::ColumnFamilyOptions(), "registry", &family).ok());
  ASSERT_TRUE(memory_.db()->Put(rocksdb::WriteOptions(), family, "tbl/ns/a", "theirs").ok());
  memory_.Put("tbl/ns/a", "ours");
  const auto other = RocksDbMetaStore::Create(memory_.db(), family).value();
  ASSERT_TRUE(other->CompareAndSet({}, "tbl/ns/a", "theirs", "new", &outcome_).ok());
  EXPECT_EQ(outcome_, CompareAndSetOutcome::kSwapped);
  EXPECT_EQ(memory_.Read("tbl/ns/a"), "ours");
  CollectedPage page;
  ASSERT_TRUE(other->ScanPage({}, "tbl/", "", 10, page).ok());
  EXPECT_THAT(page.entries, ElementsAre(std::make_pair("tbl/ns/a", "new")));
  ASSERT_TRUE(memory_.db()->DestroyColumnFamilyHandle(family).ok());
}

TEST_F(RocksDbMetaStoreTest, PageThatTakesTheLastEntryEndsThePrefix) {
  for (const char* key : {"tbl/ns/a", "tbl/ns/b", "tbl/ns/c", "tbl/ns/d", "tbm"}) memory_.Put(key, "value");
  EXPECT_THAT(testing::Walk(*store_, "tbl/", 2).page_sizes, ElementsAre(2, 2));
  EXPECT_THAT(testing::Walk(*store_, "tbl/", 3).page_sizes, ElementsAre(3, 1));
}

// A family tuned for lookups by prefix: its memtable is a hash table of prefixes, in which a walk that is not asked to
// keep the total order ends with its first prefix.
TEST(RocksDbMetaStoreFamilyTest, PrefixExtractorHidesNoKey) {
  MemoryRocksDb::Options options;
  options.adjust = [](rocksdb::Options* adjusted) {
    adjusted->prefix_extractor.reset(rocksdb::NewFixedPrefixTransform(8));
    adjusted->memtable_factory.reset(rocksdb::NewHashSkipListRepFactory());
    adjusted->allow_concurrent_memtable_write = false;
  };
  MemoryRocksDb memory(options);
  const auto store = RocksDbMetaStore::Create(memory.db(), memory.family()).value();
  const std::vector<std::string> keys = {"tbl/ms/a1", "tbl/ns/a1", "tbl/ns/a2", "tbl/ns/b1", "tbl/os/a1"};
  for (const std::string& key : keys) memory.Put(key, "value");
  EXPECT_EQ(testing::Walk(*store, "tbl/", 2).keys(), keys);
  memory.Flush();
  EXPECT_EQ(testing::Walk(*store, "tbl/", 2).keys(), keys);
}

TEST_F(RocksDbMetaStoreTest, ArgumentsOutOfRangeAreRefused) {
  CollectedPage page;
  EXPECT_EQ(store_->ScanPage({}, "tbl/", "", 0, page).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->ScanPage({}, std::string(kKeySizeMax + 1, 'p'), "", 1, page).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(page.continuations + page.ends, 0);
}

TEST_F(RocksDbMetaStoreTest, CorruptFileFailsTheReads) {
  memory_.Put("tbl/ns/a", "value");
  memory_.Flush();
  memory_.hooks().on_table_read = [] { return rocksdb::IOStatus::Corruption("block", "checksum"); };
  CollectedPage page;
  const absl::Status scanned = store_->ScanPage({}, "tbl/", "", 1, page);
  EXPECT_EQ(scanned.code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(absl::StrContains(scanned.message(), "rocksdb scan of tbl/: Corruption")) << scanned;
  EXPECT_EQ(page.continuations + page.ends, 0);
  EXPECT_EQ(Swap("value", "new").code(), absl::StatusCode::kDataLoss);
  memory_.hooks().on_table_read = nullptr;
  EXPECT_EQ(memory_.Read("tbl/ns/a"), "value");
}

TEST_F(RocksDbMetaStoreTest, SwapIsSyncedBeforeItIsAnswered) {
  memory_.Put("tbl/ns/a", "one");
  const int before = memory_.hooks().log_syncs;
  ASSERT_TRUE(Swap("one", "two").ok());
  EXPECT_EQ(memory_.hooks().log_syncs, before + 1);
  ASSERT_TRUE(Swap("one", "three").ok());
  EXPECT_EQ(outcome_, CompareAndSetOutcome::kMismatch);
  EXPECT_EQ(memory_.hooks().log_syncs, before + 1);
}

TEST_F(RocksDbMetaStoreTest, FailedLogIsIndeterminate) {
  memory_.Put("tbl/ns/a", "one");
  memory_.hooks().on_log_append = [] { return rocksdb::IOStatus::IOError("log", "gone"); };
  ASSERT_TRUE(Swap("one", "two").ok());
  EXPECT_EQ(outcome_, CompareAndSetOutcome::kIndeterminate);
}

// The write is in the log when its sync fails: the process does not see it, the next one does.
TEST_F(RocksDbMetaStoreTest, FailedSyncIsIndeterminate) {
  memory_.Put("tbl/ns/a", "one");
  memory_.hooks().on_log_sync = [] { return rocksdb::IOStatus::IOError("log", "not synced"); };
  ASSERT_TRUE(Swap("one", "two").ok());
  EXPECT_EQ(outcome_, CompareAndSetOutcome::kIndeterminate);
  EXPECT_EQ(memory_.Read("tbl/ns/a"), "one");
  memory_.hooks().on_log_sync = nullptr;
  store_.reset();
  memory_.Reopen();
  EXPECT_EQ(memory_.Read("tbl/ns/a"), "two");
}

// What others do between the read of a compare-and-set and its commit: its read comes from a file, and the file tells.
class BetweenReadAndCommitTest : public RocksDbMetaStoreTest {
 protected:
  BetweenReadAndCommitTest() : RocksDbMetaStoreTest(ShortHistory()) {}

  // RocksDB keeps what it flushed, to validate against, as long as it is smaller than this.
  static MemoryRocksDb::Options ShortHistory() {
    MemoryRocksDb::Options options;
    options.adjust = [](rocksdb::Options* adjusted) { adjusted->max_write_buffer_size_to_maintain = 1; };
    return options;
  }

  void SetUp() override {
    memory_.Put("tbl/ns/a", "one");
    memory_.Flush();
  }

  // Does `change` after the read began, the first `times` times.
  void Between(int times, const std::function<void()>& change) {
    memory_.hooks().on_table_read = [this, times, change]() mutable {
      if (changing_ || times == 0) return rocksdb::IOStatus::OK();
      --times;
      changing_ = true;
      change();
      changing_ = false;
      ++changes_;
      return rocksdb::IOStatus::OK();
    };
  }

  // Makes the memtables forget what was written before.
  void ForgetHistory() {
    for (int times = 0; times < 2; ++times) {
      memory_.Put("another key", "value");
      memory_.Flush();
    }
  }

  bool changing_ = false;
  int changes_ = 0;
};

TEST_F(BetweenReadAndCommitTest, WriteInBetweenIsAMismatch) {
  Between(1, [this] { memory_.Put("tbl/ns/a", "other"); });
  ASSERT_TRUE(Swap("one", "two").ok());
  EXPECT_EQ(outcome_, CompareAndSetOutcome::kMismatch);
  EXPECT_EQ(changes_, 1);
  EXPECT_EQ(memory_.Read("tbl/ns/a"), "other");
}

TEST_F(BetweenReadAndCommitTest, DeletionInBetweenIsAMismatch) {
  Between(1, [this] { memory_.Delete("tbl/ns/a"); });
  ASSERT_TRUE(Swap("one", "two").ok());
  EXPECT_EQ(outcome_, CompareAndSetOutcome::kMismatch);
  EXPECT_EQ(changes_, 1);
}

TEST_F(BetweenReadAndCommitTest, WriteOfAnotherKeyDisturbsNothing) {
  Between(1, [this] { memory_.Put("tbl/ns/b", "other"); });
  ASSERT_TRUE(Swap("one", "two").ok());
  EXPECT_EQ(outcome_, CompareAndSetOutcome::kSwapped);
  EXPECT_EQ(changes_, 1);
}

TEST_F(BetweenReadAndCommitTest, LostHistoryIsTriedAgain) {
  Between(1, [this] { ForgetHistory(); });
  ASSERT_TRUE(Swap("one", "two").ok());
  EXPECT_EQ(outcome_, CompareAndSetOutcome::kSwapped);
  EXPECT_EQ(changes_, 1);
  EXPECT_EQ(memory_.Read("tbl/ns/a"), "two");
}

TEST_F(BetweenReadAndCommitTest, SecondTryReadsAgain) {
  Between(1, [this] {
    memory_.Put("tbl/ns/a", "other");
    ForgetHistory();
  });
  ASSERT_TRUE(Swap("one", "two").ok());
  EXPECT_EQ(outcome_, CompareAndSetOutcome::kMismatch);
  EXPECT_EQ(memory_.Read("tbl/ns/a"), "other");
}

TEST_F(BetweenReadAndCommitTest, HistoryLostTwiceIsAborted) {
  Between(100, [this] { ForgetHistory(); });
  const absl::Status swapped = Swap("one", "two");
  EXPECT_EQ(swapped.code(), absl::StatusCode::kAborted) << swapped;
  EXPECT_EQ(changes_, 2);
  memory_.hooks().on_table_read = nullptr;
  EXPECT_EQ(memory_.Read("tbl/ns/a"), "one");
}

}  // namespace
}  // namespace caretaker::registry
