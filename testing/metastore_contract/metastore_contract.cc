#include "testing/metastore_contract/metastore_contract.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "testing/metastore_contract/page_walk.h"

namespace caretaker::testing {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

using registry::CompareAndSetOutcome;
using registry::kContinuationSizeMax;
using registry::kKeySizeMax;
using registry::kValueSizeMax;
using registry::PageEntryAnswer;

namespace {

class CollectedValue : public registry::ValueSink {
 public:
  absl::Status Value(absl::string_view value) override {
    values.emplace_back(value);
    return answer;
  }

  std::vector<std::string> values;
  absl::Status answer;
};

// More pages than any store needs for the few keys of a test.
constexpr int kPagesMax = 1000;

std::string TableKey(int number) { return absl::StrFormat("tbl/ns/%06d", number); }

std::string AllBytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  return bytes;
}

}  // namespace

std::vector<std::string> MetaStoreContractTest::PutTables(int count) {
  std::vector<std::string> keys;
  for (int number = 0; number < count; ++number) {
    keys.push_back(TableKey(number));
    Put(keys.back(), keys.back());
  }
  return keys;
}

std::string MetaStoreContractTest::Value(absl::string_view key) {
  CollectedValue sink;
  const absl::Status read = store().Get({}, key, sink);
  EXPECT_TRUE(read.ok()) << read;
  EXPECT_EQ(sink.values.size(), 1u);
  return sink.values.empty() ? "" : sink.values.front();
}

CompareAndSetOutcome MetaStoreContractTest::Swap(absl::string_view key, absl::string_view expected,
                                                 absl::string_view desired) {
  CompareAndSetOutcome outcome = CompareAndSetOutcome::kIndeterminate;
  const absl::Status answer = store().CompareAndSet({}, key, expected, desired, &outcome);
  EXPECT_TRUE(answer.ok()) << answer;
  return outcome;
}

TEST_P(MetaStoreContractTest, EmptyPrefixHasNoEntries) {
  const Walk walk(store(), "tbl/", 128);
  ASSERT_TRUE(walk.status.ok()) << walk.status;
  EXPECT_THAT(walk.keys(), IsEmpty());
}

TEST_P(MetaStoreContractTest, PagesAreBoundedAndResumable) {
  const std::vector<std::string> keys = PutTables(57);
  for (const uint32_t limit : {1u, 2u, 19u, 56u, 57u, 58u, 10'000u}) {
    const Walk walk(store(), "tbl/", limit);
    ASSERT_TRUE(walk.status.ok()) << walk.status;
    EXPECT_EQ(walk.keys(), keys) << limit;
  }
}

TEST_P(MetaStoreContractTest, ContinuationMayBeUsedAgain) {
  const std::vector<std::string> keys = PutTables(10);
  CollectedPage first;
  ASSERT_TRUE(store().ScanPage({}, "tbl/", "", 4, first).ok());
  ASSERT_FALSE(first.last());
  for (int times = 0; times < 2; ++times) {
    std::vector<std::string> seen = first.keys();
    const Walk rest(store(), "tbl/", 4, {}, first.continuation);
    ASSERT_TRUE(rest.status.ok()) << rest.status;
    for (const std::string& key : rest.keys()) seen.push_back(key);
    EXPECT_THAT(seen, UnorderedElementsAreArray(keys));
  }
}

TEST_P(MetaStoreContractTest, KeysOutsideThePrefixStayOutside) {
  for (const char* key : {"", "a", "tbk/x", "tbl", "tbl.", "tbl/", "tbl/a", "tbl/\xff\xff", "tbl0", "tbm", "\xff"})
    Put(key, "value");
  const Walk walk(store(), "tbl/", 2);
  ASSERT_TRUE(walk.status.ok()) << walk.status;
  EXPECT_THAT(walk.keys(), ElementsAre("tbl/", "tbl/a", "tbl/\xff\xff"));
}

TEST_P(MetaStoreContractTest, PrefixOfHighestBytesHasItsBounds) {
  for (const char* key : {"a", "a\xfe\xff", "a\xff", "a\xff\x01", "a\xff\xff\xff", "b", "\xfe", "\xff", "\xff\xff",
                          "\xff\xff\x01", "\xff\xff\xff\xff"})
    Put(key, "value");
  EXPECT_THAT(Walk(store(), "a\xff", 1).keys(), ElementsAre("a\xff", "a\xff\x01", "a\xff\xff\xff"));
  EXPECT_THAT(Walk(store(), "\xff\xff", 1).keys(), ElementsAre("\xff\xff", "\xff\xff\x01", "\xff\xff\xff\xff"));
}

TEST_P(MetaStoreContractTest, AnyByteMayStandInKeysAndValues) {
  std::vector<std::string> keys;
  for (const char byte : AllBytes()) {
    for (const char* tail : {"", "\xff", "x"}) keys.push_back(absl::StrCat("tbl/", std::string(1, byte), tail));
  }
  std::sort(keys.begin(), keys.end());
  for (const std::string& key : keys) Put(key, absl::StrCat(key, AllBytes()));
  std::map<std::string, std::string> values;
  const Walk walk(store(), "tbl/", 3, [&](const CollectedPage& page) {
    for (const auto& entry : page.entries) values.insert(entry);
  });
  ASSERT_TRUE(walk.status.ok()) << walk.status;
  EXPECT_EQ(walk.keys(), keys);
  for (const auto& [key, value] : values) {
    EXPECT_EQ(value, absl::StrCat(key, AllBytes()));
    EXPECT_EQ(Value(key), value);
  }
}

TEST_P(MetaStoreContractTest, EmptyValueIsAValue) {
  Put("tbl/ns/a", "");
  EXPECT_EQ(Value("tbl/ns/a"), "");
  EXPECT_THAT(Walk(store(), "tbl/", 1).keys(), ElementsAre("tbl/ns/a"));
}

TEST_P(MetaStoreContractTest, StopEndsThePageAfterTheEntry) {
  const std::vector<std::string> keys = PutTables(9);
  std::vector<std::string> seen;
  std::string start;
  for (int pages = 0; pages < kPagesMax; ++pages) {
    CollectedPage page;
    page.answer = [](absl::string_view) { return PageEntryAnswer::kTakenAndStop; };
    ASSERT_TRUE(store().ScanPage({}, "tbl/", start, 5, page).ok());
    ASSERT_LE(page.entries.size(), 1u);
    for (const std::string& key : page.keys()) seen.push_back(key);
    if (page.last()) break;
    start = page.continuation;
  }
  EXPECT_THAT(seen, UnorderedElementsAreArray(keys));
}

TEST_P(MetaStoreContractTest, RefusedEntryIsOnALaterPage) {
  const std::vector<std::string> keys = PutTables(7);
  std::vector<std::string> seen;
  std::string start;
  for (int pages = 0; pages < kPagesMax; ++pages) {
    CollectedPage page;
    int offered = 0;
    page.answer = [&offered](absl::string_view) {
      return ++offered > 2 ? PageEntryAnswer::kRefused : PageEntryAnswer::kTaken;
    };
    ASSERT_TRUE(store().ScanPage({}, "tbl/", start, 5, page).ok());
    EXPECT_LE(offered, 3) << "entries came after the refused one";
    EXPECT_EQ(page.continuations + page.ends, 1);
    for (const std::string& key : page.keys()) seen.push_back(key);
    if (page.last()) break;
    start = page.continuation;
  }
  EXPECT_THAT(seen, UnorderedElementsAreArray(keys));
}

TEST_P(MetaStoreContractTest, FirstEntryMayBeRefused) {
  const std::vector<std::string> keys = PutTables(3);
  CollectedPage refusing;
  refusing.answer = [](absl::string_view) { return PageEntryAnswer::kRefused; };
  ASSERT_TRUE(store().ScanPage({}, "tbl/", "", 5, refusing).ok());
  ASSERT_FALSE(refusing.last());
  const Walk rest(store(), "tbl/", 5, {}, refusing.continuation);
  ASSERT_TRUE(rest.status.ok()) << rest.status;
  EXPECT_THAT(rest.keys(), UnorderedElementsAreArray(keys));
}

TEST_P(MetaStoreContractTest, ChangesBetweenPagesDisturbNoOtherKey) {
  const std::vector<std::string> keys = PutTables(100);
  const auto changes = [&](const CollectedPage& page) {
    for (const std::string& key : page.keys()) {
      // The key that the continuation may be made of goes, others come, before it and behind it.
      if (key.back() == '5') Erase(key);
      Put(absl::StrCat(key, "\x01"), "new");
      Put(absl::StrCat(key.substr(0, key.size() - 1), "!"), "new");
    }
  };
  const Walk walk(store(), "tbl/", 3, changes);
  ASSERT_TRUE(walk.status.ok()) << walk.status;
  for (const std::string& key : keys) EXPECT_EQ(walk.entries.count(key) == 0 ? 0 : walk.entries.at(key), 1) << key;
}

TEST_P(MetaStoreContractTest, WalkUnderWritesMeetsEachLastingKeyOnce) {
  // Bounded, as a store may meet what is written faster than it passes over it.
  static constexpr int kChanges = 5000;
  const std::vector<std::string> keys = PutTables(300);
  std::atomic<bool> writing{true};
  std::thread writer([&] {
    for (int change = 0, number = 0; change < kChanges; ++change, number = (number + 7) % 300) {
      Put(absl::StrCat(TableKey(number), "-passing"), "x");
      Put(TableKey(number), absl::StrCat("version ", change));
      Erase(absl::StrCat(TableKey((number + 150) % 300), "-passing"));
    }
    writing = false;
  });
  for (bool walk_on = true; walk_on && !HasFailure();) {
    walk_on = writing;
    const Walk walk(store(), "tbl/", 7);
    EXPECT_TRUE(walk.status.ok()) << walk.status;
    for (const std::string& key : keys) EXPECT_EQ(walk.entries.count(key) == 0 ? 0 : walk.entries.at(key), 1) << key;
  }
  writer.join();
}

TEST_P(MetaStoreContractTest, ContinuationOfAnotherPrefixIsOutOfRange) {
  PutTables(3);
  Put("other/a", "value");
  Put("other/b", "value");
  CollectedPage other;
  ASSERT_TRUE(store().ScanPage({}, "other/", "", 1, other).ok());
  ASSERT_FALSE(other.last());
  CollectedPage page;
  EXPECT_EQ(store().ScanPage({}, "tbl/", other.continuation, 1, page).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(page.continuations + page.ends, 0);
  EXPECT_THAT(page.entries, IsEmpty());
}

TEST_P(MetaStoreContractTest, TooLongContinuationIsOutOfRange) {
  PutTables(3);
  CollectedPage page;
  const std::string longest = absl::StrCat("tbl/", std::string(kContinuationSizeMax - 4, 'x'));
  EXPECT_EQ(store().ScanPage({}, "tbl/", absl::StrCat(longest, "x"), 1, page).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(page.continuations + page.ends, 0);
}

TEST_P(MetaStoreContractTest, EntriesOverTheLimitsAreDelivered) {
  const std::string long_key = absl::StrCat("tbl/", std::string(kKeySizeMax, 'k'));
  const std::string long_value(kValueSizeMax + 1, 'v');
  Put(long_key, "value");
  Put("tbl/ns/long", long_value);
  std::map<std::string, std::string> values;
  const Walk walk(store(), "tbl/", 1, [&](const CollectedPage& page) {
    for (const auto& entry : page.entries) values.insert(entry);
  });
  ASSERT_TRUE(walk.status.ok()) << walk.status;
  EXPECT_THAT(walk.keys(), ElementsAre(long_key, "tbl/ns/long"));
  EXPECT_TRUE(values["tbl/ns/long"] == long_value);
  EXPECT_TRUE(Value("tbl/ns/long") == long_value);
}

// The keys that no continuation can name: only these may be passed over, and no walk may end or stand still at them.
TEST_P(MetaStoreContractTest, KeysLongerThanAContinuationHideNoOthers) {
  const std::string a = absl::StrCat("tbl/m", std::string(kContinuationSizeMax - 5, 'a'));
  const std::string high = absl::StrCat("tbl/m", std::string(kContinuationSizeMax - 5, '\xff'));
  std::vector<std::string> ordinary = {"tbl/a", "tbl/m", absl::StrCat("tbl/m", std::string(900, '\xff')), "tbl/n"};
  std::vector<std::string> keys = ordinary;
  for (const std::string& longest : {a, high}) {
    keys.push_back(longest.substr(0, longest.size() - 1));
    keys.push_back(longest);
    for (const char* tail : {"\x01", "b", "\xff", "\xff\xff"}) keys.push_back(absl::StrCat(longest, tail));
    keys.push_back(absl::StrCat(longest, std::string(5000, '\xff')));
  }
  for (const std::string& key : keys) Put(key, "value");
  for (const uint32_t limit : {1u, 2u, 3u, 100u}) {
    const Walk walk(store(), "tbl/", limit);
    ASSERT_TRUE(walk.status.ok()) << walk.status;
    for (const std::string& key : ordinary) EXPECT_EQ(walk.entries.count(key), 1u) << limit;
    for (const auto& [key, times] : walk.entries) EXPECT_EQ(times, 1) << limit;
  }
}

TEST_P(MetaStoreContractTest, LongestKeysAtTheEndOfAPrefixEndTheWalk) {
  for (const std::string prefix : {"tbl/", "\xff"}) {
    const std::string last = absl::StrCat(prefix, std::string(kContinuationSizeMax, '\xff'));
    for (const char* tail : {"", "\xff", "\xff\xff"}) Put(absl::StrCat(last, tail), "value");
    Put(absl::StrCat(prefix, "\x01"), "value");
    const Walk walk(store(), prefix, 1);
    ASSERT_TRUE(walk.status.ok()) << walk.status;
    EXPECT_EQ(walk.entries.count(absl::StrCat(prefix, "\x01")), 1u);
  }
}

TEST_P(MetaStoreContractTest, GetSeesTheLatestWrite) {
  Put("tbl/ns/a", "one");
  EXPECT_EQ(Value("tbl/ns/a"), "one");
  Put("tbl/ns/a", "two");
  EXPECT_EQ(Value("tbl/ns/a"), "two");
  ASSERT_EQ(Swap("tbl/ns/a", "two", "three"), CompareAndSetOutcome::kSwapped);
  EXPECT_EQ(Value("tbl/ns/a"), "three");
}

TEST_P(MetaStoreContractTest, AbsentKeyIsNotFound) {
  PutTables(1);
  for (const char* key : {"", "tbl/ns/", "tbl/ns/00000", "tbl/ns/0000000", "tbl/ns/absent"}) {
    CollectedValue sink;
    EXPECT_EQ(store().Get({}, key, sink).code(), absl::StatusCode::kNotFound) << key;
    EXPECT_THAT(sink.values, IsEmpty());
  }
}

TEST_P(MetaStoreContractTest, ErrorOfTheValueSinkIsReturned) {
  Put("tbl/ns/a", "value");
  CollectedValue sink;
  sink.answer = absl::DataLossError("sink: did not like it");
  EXPECT_EQ(store().Get({}, "tbl/ns/a", sink), sink.answer);
  EXPECT_EQ(sink.values.size(), 1u);
}

TEST_P(MetaStoreContractTest, CompareAndSetWantsExactlyTheBytes) {
  const std::string value = absl::StrCat("value", std::string(1, '\0'), "\xff");
  Put("tbl/ns/a", value);
  for (const std::string& other : {std::string(), std::string("value"), absl::StrCat(value, "x"),
                                   absl::StrCat(value, std::string(1, '\0')), std::string("Value\0\xff", 7)}) {
    EXPECT_EQ(Swap("tbl/ns/a", other, "new"), CompareAndSetOutcome::kMismatch);
    EXPECT_EQ(Value("tbl/ns/a"), value);
  }
  EXPECT_EQ(Swap("tbl/ns/a", value, AllBytes()), CompareAndSetOutcome::kSwapped);
  EXPECT_EQ(Value("tbl/ns/a"), AllBytes());
  EXPECT_EQ(Swap("tbl/ns/a", AllBytes(), ""), CompareAndSetOutcome::kSwapped);
  EXPECT_EQ(Swap("tbl/ns/a", "", ""), CompareAndSetOutcome::kSwapped);
  EXPECT_EQ(Value("tbl/ns/a"), "");
}

TEST_P(MetaStoreContractTest, CompareAndSetMakesNoKey) {
  EXPECT_EQ(Swap("tbl/ns/a", "", "new"), CompareAndSetOutcome::kMismatch);
  Put("tbl/ns/b", "");
  Erase("tbl/ns/b");
  EXPECT_EQ(Swap("tbl/ns/b", "", "new"), CompareAndSetOutcome::kMismatch);
  EXPECT_THAT(Walk(store(), "tbl/", 10).keys(), IsEmpty());
}

TEST_P(MetaStoreContractTest, CompareAndSetChangesOneKeyOnly) {
  PutTables(3);
  ASSERT_EQ(Swap(TableKey(1), TableKey(1), "new"), CompareAndSetOutcome::kSwapped);
  EXPECT_EQ(Value(TableKey(0)), TableKey(0));
  EXPECT_EQ(Value(TableKey(2)), TableKey(2));
}

TEST_P(MetaStoreContractTest, CompetingCompareAndSetsLoseNoIncrement) {
  static constexpr int kThreads = 4;
  static constexpr int kIncrements = 250;
  Put("tbl/ns/count", "0");
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this] {
      for (int swapped = 0; swapped < kIncrements && !HasFailure();) {
        const std::string before = Value("tbl/ns/count");
        int count = 0;
        EXPECT_TRUE(absl::SimpleAtoi(before, &count));
        if (Swap("tbl/ns/count", before, absl::StrCat(count + 1)) == CompareAndSetOutcome::kSwapped) ++swapped;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Value("tbl/ns/count"), absl::StrCat(kThreads * kIncrements));
}

}  // namespace caretaker::testing
