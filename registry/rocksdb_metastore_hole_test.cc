// Walks over deleted keys. Checked in every walk, request by request, with RocksDB's own counts:
// - a request skips at most kSkippedMax entries;
// - it moves on;
// - over the walk every live key comes exactly once, and no other.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "registry/rocksdb_metastore.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "testing/fakes/memory_rocksdb.h"
#include "testing/metastore_contract/page_walk.h"

namespace caretaker::registry {
namespace {

using testing::CollectedPage;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::MemoryRocksDb;
using testing::Walk;

constexpr int kTables = 100'000;
constexpr uint32_t kPageSize = 128;
constexpr uint64_t kSkippedMax = 2000;

std::string TableKey(int number) { return absl::StrFormat("tbl/ns/%07d", number); }

// All that an iterator went over on this thread, live keys included.
uint64_t Walked() {
  const rocksdb::PerfContext& counted = *rocksdb::get_perf_context();
  return counted.internal_delete_skipped_count + counted.internal_key_skipped_count +
         counted.internal_recent_skipped_count;
}

class RocksDbHoleTest : public ::testing::Test {
 protected:
  void MakeStore(const RocksDbMetaStoreOptions& options = {}) {
    store_ = RocksDbMetaStore::Create(memory_.db(), memory_.family(), options).value();
  }

  void PutTables(int count) {
    const std::string value(400, 'v');
    for (int number = 0; number < count; ++number) memory_.Put(TableKey(number), value);
  }

  template <typename Lives>
  std::vector<std::string> DeleteTables(int count, Lives lives) {
    std::vector<std::string> live;
    for (int number = 0; number < count; ++number) {
      if (lives(number)) {
        live.push_back(TableKey(number));
      } else {
        memory_.Delete(TableKey(number));
      }
    }
    return live;
  }

  // The keys of a whole walk. `worst_` is what the worst request skipped, `requests_` how many there were.
  std::vector<std::string> Keys(uint32_t limit = kPageSize) {
    uint64_t before = Walked();
    worst_ = 0;
    requests_ = 0;
    const Walk walk(*store_, "tbl/", limit, [&](const CollectedPage& page) {
      const uint64_t walked = Walked() - before;
      worst_ = std::max(worst_, walked - std::min(walked, static_cast<uint64_t>(page.entries.size())));
      ++requests_;
      before = Walked();
    });
    EXPECT_TRUE(walk.status.ok()) << walk.status;
    return walk.keys();
  }

  void ExpectBoundedWalk(const std::vector<std::string>& live) {
    MakeStore();
    EXPECT_TRUE(Keys() == live);
    EXPECT_LE(worst_, kSkippedMax);
    RecordProperty("worst_request_skipped", absl::StrCat(worst_));
    RecordProperty("requests", absl::StrCat(requests_));
  }

  MemoryRocksDb memory_;
  std::unique_ptr<RocksDbMetaStore> store_;
  uint64_t worst_ = 0;
  int requests_ = 0;
};

bool InTheLastTenth(int number) { return number >= kTables / 10 * 9; }
bool OneInFifty(int number) { return number % 50 == 7; }

TEST_F(RocksDbHoleTest, HoleInTheMemtableIsBounded) {
  PutTables(kTables);
  ExpectBoundedWalk(DeleteTables(kTables, InTheLastTenth));
}

TEST_F(RocksDbHoleTest, HoleInLevelZeroIsBounded) {
  PutTables(kTables);
  memory_.Flush();
  const std::vector<std::string> live = DeleteTables(kTables, InTheLastTenth);
  memory_.Flush();
  ExpectBoundedWalk(live);
}

TEST_F(RocksDbHoleTest, HoleIsBoundedAfterReopening) {
  PutTables(kTables);
  memory_.Flush();
  const std::vector<std::string> live = DeleteTables(kTables, InTheLastTenth);
  memory_.Reopen();
  ExpectBoundedWalk(live);
}

TEST_F(RocksDbHoleTest, ScatteredTablesAreBounded) {
  PutTables(kTables);
  ExpectBoundedWalk(DeleteTables(kTables, OneInFifty));
}

TEST_F(RocksDbHoleTest, ScatteredTablesInLevelZeroAreBounded) {
  PutTables(kTables);
  memory_.Flush();
  const std::vector<std::string> live = DeleteTables(kTables, OneInFifty);
  memory_.Flush();
  ExpectBoundedWalk(live);
}

// A bound that the store does not keep would show here: the same walk without one.
TEST_F(RocksDbHoleTest, CountsTellWhenTheBoundIsMissing) {
  PutTables(kTables);
  const std::vector<std::string> live = DeleteTables(kTables, InTheLastTenth);
  RocksDbMetaStoreOptions options;
  options.skipped_per_step_max = options.skipped_per_request_max = kSkippedEntriesMax;
  MakeStore(options);
  EXPECT_TRUE(Keys() == live);
  EXPECT_GE(worst_, uint64_t{kTables} / 10 * 9);
}

TEST_F(RocksDbHoleTest, BoundIsTheSumOfTheOptions) {
  PutTables(3000);
  const std::vector<std::string> live = DeleteTables(3000, OneInFifty);
  for (const uint32_t per_step : {1u, 10u, 1000u}) {
    for (const uint32_t per_request : {1u, 10u, 1000u}) {
      RocksDbMetaStoreOptions options;
      options.skipped_per_step_max = per_step;
      options.skipped_per_request_max = per_request;
      MakeStore(options);
      for (const uint32_t limit : {1u, kPageSize}) {
        EXPECT_TRUE(Keys(limit) == live) << per_step << " " << per_request;
        EXPECT_LE(worst_, per_step + per_request) << per_step << " " << per_request << " " << limit;
      }
    }
  }
}

// A full page looks one key further, into the hole: that is part of the request's share.
TEST_F(RocksDbHoleTest, HoleBehindAFullPageIsBounded) {
  PutTables(5000);
  const std::vector<std::string> live = DeleteTables(5000, [](int number) { return number < 128 || number > 4900; });
  MakeStore();
  EXPECT_TRUE(Keys() == live);
  EXPECT_LE(worst_, kSkippedMax);
}

TEST_F(RocksDbHoleTest, PrefixWithoutAnyLiveKeyEnds) {
  PutTables(5000);
  DeleteTables(5000, [](int) { return false; });
  MakeStore();
  EXPECT_THAT(Keys(), IsEmpty());
  EXPECT_LE(worst_, kSkippedMax);
  EXPECT_GE(requests_, 3);
}

TEST_F(RocksDbHoleTest, OneKeyWithManyLivesIsPassed) {
  const rocksdb::Snapshot* const snapshot = memory_.db()->GetSnapshot();
  memory_.Put("tbl/ns/a", "first");
  for (int life = 0; life < 20'000; ++life) {
    memory_.Put("tbl/ns/b", "value");
    memory_.Delete("tbl/ns/b");
  }
  memory_.Put("tbl/ns/c", "last");
  MakeStore();
  EXPECT_THAT(Keys(), ElementsAre("tbl/ns/a", "tbl/ns/c"));
  EXPECT_LE(worst_, kSkippedMax);
  EXPECT_THAT(Keys(1), ElementsAre("tbl/ns/a", "tbl/ns/c"));
  memory_.db()->ReleaseSnapshot(snapshot);
}

TEST_F(RocksDbHoleTest, ManyPinnedVersionsArePassed) {
  std::vector<const rocksdb::Snapshot*> snapshots;
  memory_.Put("tbl/ns/a", "first");
  for (int version = 0; version < 5000; ++version) {
    memory_.Put("tbl/ns/b", absl::StrCat(version));
    snapshots.push_back(memory_.db()->GetSnapshot());
  }
  memory_.Put("tbl/ns/c", "last");
  memory_.Flush();
  for (const uint32_t bound : {1u, 3u, 500u}) {
    RocksDbMetaStoreOptions options;
    options.skipped_per_step_max = options.skipped_per_request_max = bound;
    MakeStore(options);
    EXPECT_THAT(Keys(2), ElementsAre("tbl/ns/a", "tbl/ns/b", "tbl/ns/c"));
  }
  for (const rocksdb::Snapshot* snapshot : snapshots) memory_.db()->ReleaseSnapshot(snapshot);
}

TEST_F(RocksDbHoleTest, DeletedRangeIsPassed) {
  PutTables(20'000);
  memory_.Flush();
  ASSERT_TRUE(memory_.db()
                  ->GetBaseDB()
                  ->DeleteRange(rocksdb::WriteOptions(), memory_.family(), TableKey(10), TableKey(19'990))
                  .ok());
  MakeStore();
  EXPECT_EQ(Keys().size(), 20u);
  EXPECT_LE(worst_, kSkippedMax);
}

// The iterator gives up just between the new version of a key, which came after its snapshot, and the old one: the key
// is there all the time, and must come. Which number of deleted keys leads there is RocksDB's business: try them all.
TEST_F(RocksDbHoleTest, KeyOverwrittenUnderTheIteratorIsNotLost) {
  RocksDbMetaStoreOptions options;
  options.skipped_per_step_max = 50;
  options.skipped_per_request_max = 100'000;
  for (int deleted = 1; deleted < 120; ++deleted) {
    const std::string ns = absl::StrFormat("tbl/%03d/", deleted);
    memory_.Put(absl::StrCat(ns, "a"), "first");
    for (int number = 0; number < deleted; ++number) {
      memory_.Put(absl::StrFormat("%sb%04d", ns, number), "value");
      memory_.Delete(absl::StrFormat("%sb%04d", ns, number));
    }
    memory_.Put(absl::StrCat(ns, "c"), "value");
    MakeStore(options);
    CollectedPage page;
    page.answer = [&](absl::string_view key) {
      if (key == absl::StrCat(ns, "a")) memory_.Put(absl::StrCat(ns, "c"), "value, again");
      return PageEntryAnswer::kTaken;
    };
    ASSERT_TRUE(store_->ScanPage({}, ns, "", kPageSize, page).ok());
    EXPECT_THAT(page.keys(), ElementsAre(absl::StrCat(ns, "a"), absl::StrCat(ns, "c"))) << deleted;
  }
}

TEST_F(RocksDbHoleTest, WritesMeanwhileDisturbNoLastingKey) {
  static constexpr int kChanges = 30'000;
  PutTables(10'000);
  const std::vector<std::string> live = DeleteTables(10'000, OneInFifty);
  MakeStore();
  std::atomic<bool> writing{true};
  std::thread writer([&] {
    for (int change = 0, number = 0; change < kChanges; ++change, number = (number + 77) % 10'000) {
      memory_.Put(TableKey(number), "another version");
      if (!OneInFifty(number)) memory_.Delete(TableKey(number));
    }
    writing = false;
  });
  for (bool walk_on = true; walk_on && !HasFailure();) {
    walk_on = writing;
    const Walk walk(*store_, "tbl/", kPageSize);
    EXPECT_TRUE(walk.status.ok()) << walk.status;
    for (const std::string& key : live) EXPECT_EQ(walk.entries.count(key) == 0 ? 0 : walk.entries.at(key), 1) << key;
  }
  writer.join();
}

TEST_F(RocksDbHoleTest, CountingThatTheHostTurnedOffIsRestored) {
  PutTables(5000);
  const std::vector<std::string> live = DeleteTables(5000, OneInFifty);
  MakeStore();
  for (const rocksdb::PerfLevel level : {rocksdb::kDisable, rocksdb::kEnableCount, rocksdb::kEnableTime}) {
    rocksdb::SetPerfLevel(level);
    EXPECT_TRUE(Keys() == live);
    EXPECT_EQ(rocksdb::GetPerfLevel(), level);
    EXPECT_LE(worst_, kSkippedMax);
    EXPECT_GE(requests_, 4) << "a page of all live keys is one request";
  }
  rocksdb::SetPerfLevel(rocksdb::kEnableCount);
}

}  // namespace
}  // namespace caretaker::registry
