// The hole of deleted keys at its full size: 900,000 of 1,000,000 tables were dropped, and another thread goes on
// creating and dropping tables while the registry is walked. What a request skipped is RocksDB's own count, of this
// thread.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "registry/rocksdb_metastore.h"
#include "rocksdb/perf_context.h"
#include "testing/fakes/memory_rocksdb.h"
#include "testing/metastore_contract/page_walk.h"

namespace caretaker::registry {
namespace {

using testing::CollectedPage;
using testing::MemoryRocksDb;
using testing::Walk;

constexpr int kTables = 1'000'000;
constexpr int kLive = 100'000;
constexpr uint32_t kPageSize = 128;
// The sum of the store's two bounds, and what the pages in between may count.
constexpr uint64_t kSkippedMax = 2500;

std::string TableKey(int number) { return absl::StrFormat("tbl/ns/%07d", number); }

uint64_t Walked() {
  const rocksdb::PerfContext& counted = *rocksdb::get_perf_context();
  return counted.internal_delete_skipped_count + counted.internal_key_skipped_count +
         counted.internal_recent_skipped_count;
}

enum class Place { kMemtable, kLevelZero, kReopened, kScattered };

void PrintTo(Place place, std::ostream* out) {
  constexpr const char* kNames[] = {"Memtable", "LevelZero", "Reopened", "Scattered"};
  *out << kNames[static_cast<size_t>(place)];
}

class LargeHoleTest : public ::testing::TestWithParam<Place> {};

TEST_P(LargeHoleTest, IsCrossedInBoundedStepsUnderWrites) {
  const bool scattered = GetParam() == Place::kScattered;
  const auto lives = [&](int number) { return scattered ? number % 10 == 7 : number >= kTables - kLive; };
  MemoryRocksDb memory;
  for (int number = 0; number < kTables; ++number) memory.Put(TableKey(number), "registration");
  if (GetParam() == Place::kLevelZero) memory.Flush();
  for (int number = 0; number < kTables; ++number) {
    if (!lives(number)) memory.Delete(TableKey(number));
  }
  if (GetParam() == Place::kLevelZero) memory.Flush();
  if (GetParam() == Place::kReopened) memory.Reopen();
  const auto store = RocksDbMetaStore::Create(memory.db(), memory.family()).value();

  std::atomic<bool> over{false};
  std::atomic<int> changes{0};
  std::thread writer([&] {
    // All over the registry, and never a table that stays.
    for (int number = 0; !over; number = (number + 7919) % kTables) {
      const std::string key = TableKey(number) + "-new";
      memory.Put(key, "registration");
      memory.Delete(key);
      ++changes;
    }
  });
  while (changes < 1000) std::this_thread::yield();

  uint64_t before = Walked();
  uint64_t worst = 0;
  int requests = 0;
  const Walk walk(*store, "tbl/", kPageSize, [&](const CollectedPage& page) {
    const uint64_t walked = Walked() - before;
    worst = std::max(worst, walked - std::min(walked, static_cast<uint64_t>(page.entries.size())));
    ++requests;
    before = Walked();
  });
  over = true;
  writer.join();
  ASSERT_TRUE(walk.status.ok()) << walk.status;
  EXPECT_LE(worst, kSkippedMax);
  EXPECT_GT(requests, (kTables - kLive) / static_cast<int>(kSkippedMax)) << "the hole was not met";
  int met = 0;
  for (int number = 0; number < kTables; ++number) {
    if (!lives(number)) continue;
    const auto found = walk.entries.find(TableKey(number));
    ASSERT_NE(found, walk.entries.end()) << TableKey(number) << ": was there all the time";
    ASSERT_EQ(found->second, 1) << TableKey(number);
    ++met;
  }
  EXPECT_EQ(met, kLive);
  RecordProperty("worst_request_skipped", absl::StrCat(worst));
  RecordProperty("requests", absl::StrCat(requests));
}

INSTANTIATE_TEST_SUITE_P(Places, LargeHoleTest,
                         ::testing::Values(Place::kMemtable, Place::kLevelZero, Place::kReopened, Place::kScattered),
                         ::testing::PrintToStringParamName());

}  // namespace
}  // namespace caretaker::registry
