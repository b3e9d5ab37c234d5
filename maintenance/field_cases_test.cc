// What went wrong for people who run background maintenance elsewhere, as cases for the sweep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "maintenance/table_sweep.h"
#include "registry/registration_codec.h"
#include "testing/fakes/counting_metastore.h"
#include "testing/fakes/fake_host.h"
#include "testing/fakes/in_memory_metastore.h"

namespace caretaker::maintenance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Registration(uint64_t version) {
  return absl::StrCat(R"({"location":"l","engine":"e","current_version":)", version, "}");
}

std::string Table(int number) { return absl::StrCat("tbl/n/", 1'000'000 + number); }

class FieldCasesTest : public ::testing::Test {
 protected:
  std::unique_ptr<TableSweep> Sweep(registry::MetaStore* store,
                                    const std::vector<std::pair<Setting, int64_t>>& settings) {
    std::vector<std::string> texts;
    for (const auto& [setting, value] : settings) texts.push_back(absl::StrCat(value));
    std::vector<GivenSetting> given;
    for (size_t i = 0; i < settings.size(); ++i) {
      given.push_back({settings[i].first, SettingSource::kOption, texts[i]});
    }
    const SweepHost host{store, &codec_, &locks_, &engine_, &control_, &clock_, true};
    return std::make_unique<TableSweep>(host, *MaintenanceLimits::TryNew(given), "tbl/");
  }

  testing::InMemoryMetaStore store_;
  registry::JsonRegistrationCodec codec_;
  testing::FakeClock clock_;
  testing::FakeTableLocks locks_{&clock_};
  testing::FakeEngine engine_;
  testing::FakeControl control_;
  TickResult result_;
};

// A metastore whose pages come in no order of keys, as those of a hash table do. Its continuation is how far it came.
class UnorderedStore : public registry::MetaStore {
 public:
  UnorderedStore(registry::MetaStore* store, std::vector<std::string> keys) : store_(*store), keys_(std::move(keys)) {}

  absl::Status ScanPage(const registry::MetaStoreCall& call, absl::string_view, absl::string_view continuation,
                        uint32_t limit, registry::PageSink& sink) override {
    size_t next = 0;
    if (!continuation.empty() && !absl::SimpleAtoi(continuation, &next)) return absl::OutOfRangeError("not mine");
    for (uint32_t taken = 0; taken < limit && next < keys_.size(); ++taken, ++next) {
      std::string value;
      class Into : public registry::ValueSink {
       public:
        explicit Into(std::string* to) : to_(*to) {}
        absl::Status Value(absl::string_view bytes) override {
          to_ = std::string(bytes);
          return absl::OkStatus();
        }

       private:
        std::string& to_;
      } into(&value);
      if (store_.Get(call, keys_[next], into).ok()) sink.Entry(keys_[next], value);
    }
    next < keys_.size() ? sink.ContinueAfter(absl::StrCat(next)) : sink.EndOfPrefix();
    return absl::OkStatus();
  }
  absl::Status Get(const registry::MetaStoreCall& call, absl::string_view key, registry::ValueSink& sink) override {
    return store_.Get(call, key, sink);
  }
  absl::Status CompareAndSet(const registry::MetaStoreCall& call, absl::string_view key, absl::string_view expected,
                             absl::string_view desired, registry::CompareAndSetOutcome* outcome) override {
    return store_.CompareAndSet(call, key, expected, desired, outcome);
  }

 private:
  registry::MetaStore& store_;
  const std::vector<std::string> keys_;
};

// Some never picked, the same few always: for any number of tables, page size and operation budget, in any order of
// keys, each table is visited exactly once a cycle.
TEST_F(FieldCasesTest, EachTableIsVisitedOnceACycleInAnyOrderOfKeys) {
  std::mt19937 random(7);
  for (const int tables : {0, 1, 2, 7, 40}) {
    std::vector<std::string> keys;
    testing::InMemoryMetaStore store;
    for (int i = 0; i < tables; ++i) {
      keys.push_back(Table(i));
      store.Put(Table(i), Registration(1));
    }
    for (const int page_size : {1, 2, 3, 40, 100}) {
      for (const int operations : {0, 1, 5}) {
        std::shuffle(keys.begin(), keys.end(), random);
        UnorderedStore unordered(&store, keys);
        const auto sweep =
            Sweep(&unordered, {{Setting::kTablePageSize, page_size}, {Setting::kMaxOperations, operations}});
        for (int cycle = 0; cycle < 2; ++cycle) {
          engine_.operations.clear();
          int ticks = 0;
          do {
            sweep->Tick(&result_);
            ASSERT_TRUE(result_.status.ok()) << result_.status;
            ASSERT_LT(++ticks, 1000);
          } while (!result_.cycle_completed);
          std::vector<std::string> visited;
          for (const std::string& table : engine_.tables()) visited.push_back("tbl/" + table);
          ASSERT_EQ(visited, keys) << tables << " tables, page " << page_size << ", operations " << operations;
        }
      }
    }
  }
}

// One table would take an hour: with a limit per table all others are visited in the same cycle.
TEST_F(FieldCasesTest, ATableThatWouldTakeAnHourDelaysNoOther) {
  for (int i = 0; i < 5; ++i) store_.Put(Table(i), Registration(1));
  const auto sweep = Sweep(&store_, {{Setting::kTableTimeoutMs, 1000}});
  engine_.on_maintain = [&](const testing::FakeEngine::Operation& operation) {
    if (operation.table != "n/1000001") return;
    // An engine that keeps its deadline.
    ASSERT_TRUE(operation.call.remaining_ns.has_value());
    clock_.now_ns += *operation.call.remaining_ns;
    engine_.failures[operation.table] = absl::DeadlineExceededError("an hour");
  };
  sweep->Tick(&result_);
  EXPECT_TRUE(result_.cycle_completed);
  EXPECT_EQ(result_.outcome(Outcome::kEngineTimedOut), 1u);
  EXPECT_EQ(result_.outcome(Outcome::kMaintained), 4u);
  EXPECT_EQ(result_.engine_ns, 1'000'000'000);
}

// A million tables created, failed and dropped: what is remembered has its bound, and every table that had to be
// forgotten is counted.
TEST_F(FieldCasesTest, AMillionTablesThatFailAreForgotten) {
  constexpr int kPage = 10'000;
  constexpr int kTicks = 100;
  const auto sweep = Sweep(&store_, {{Setting::kTablePageSize, kPage}});
  engine_.on_maintain = [&](const testing::FakeEngine::Operation& operation) {
    engine_.operations.clear();
    engine_.failures = {{operation.table, absl::InternalError("bug")}};
  };
  uint64_t failed = 0;
  for (int tick = 0; tick < kTicks; ++tick) {
    for (int i = 0; i < kPage; ++i) store_.Put(Table(tick * kPage + i), Registration(1));
    sweep->Tick(&result_);
    failed += result_.outcome(Outcome::kEngineFailed);
    ASSERT_LE(sweep->failures().bytes(), FailureMemory::kBytesMax);
    // Those of this tick are all that can still be there: who was not met in a cycle is forgotten.
    ASSERT_EQ(sweep->failures().size(), static_cast<size_t>(kPage) - result_.failures_evicted);
    for (int i = 0; i < kPage; ++i) store_.Erase(Table(tick * kPage + i));
    sweep->Tick(&result_);
    ASSERT_EQ(sweep->failures().size(), 0u) << "dropped";
  }
  EXPECT_EQ(failed, 1'000'000u);
}

// Whatever happens to whichever table, in any tick: the counts add up, locks balance, bounds hold, and a table that
// stays is visited at most once a cycle.
TEST_F(FieldCasesTest, CountsAddUpWhateverHappens) {
  std::mt19937 random(20261201);
  const auto one_in = [&](int n) { return std::uniform_int_distribution<int>(1, n)(random) == 1; };
  const absl::Status failures[] = {absl::InternalError("bug"), absl::DeadlineExceededError("slow"),
                                   absl::CancelledError("stop"), absl::UnavailableError("down"),
                                   absl::ResourceExhaustedError("full")};
  testing::CountingMetaStore metastore(&store_);
  const auto sweep = Sweep(&metastore, {{Setting::kTablePageSize, 7}, {Setting::kMaxOperations, 5}});
  std::map<Outcome, uint64_t> seen;
  uint64_t cycle = 1;
  std::multiset<std::string> operated;
  for (int tick = 0; tick < 5000; ++tick) {
    SCOPED_TRACE(tick);
    const int number = std::uniform_int_distribution<int>(0, 30)(random);
    if (one_in(2)) store_.Put(Table(number), one_in(5) ? "corrupt" : Registration(1));
    if (one_in(4)) store_.Erase(Table(std::uniform_int_distribution<int>(0, 30)(random)));
    const std::string table = absl::StrCat("n/", 1'000'000 + number);
    if (one_in(3)) engine_.failures[table] = failures[static_cast<size_t>(tick) % 5];
    if (one_in(2)) engine_.failures.clear();
    one_in(4) ? (void)locks_.held.insert(table) : locks_.held.clear();
    if (one_in(8)) locks_.failures[table] = absl::UnavailableError("lock service");
    if (one_in(2)) locks_.failures.clear();
    metastore.scan_answers.clear();
    if (one_in(10))
      metastore.scan_answers = {one_in(2) ? absl::OutOfRangeError("moved") : absl::UnavailableError("no")};
    metastore.get_answers.clear();
    if (one_in(6)) metastore.get_answers = {absl::UnavailableError("no")};
    metastore.compare_answer = one_in(9) ? absl::UnavailableError("no") : absl::OkStatus();
    metastore.loses_answer = one_in(7);
    metastore.loses_write = metastore.loses_answer && one_in(2);
    control_ = testing::FakeControl();
    if (one_in(6)) control_.cancelled_from = std::uniform_int_distribution<uint64_t>(1, 9)(random);
    if (one_in(6)) control_.fenced_from = std::uniform_int_distribution<uint64_t>(1, 9)(random);
    metastore.scans.clear();
    metastore.gets.clear();
    engine_.operations.clear();
    engine_.changes = !one_in(3);
    engine_.on_maintain = [&](const testing::FakeEngine::Operation& operation) {
      if (one_in(9)) store_.Put("tbl/" + operation.table, Registration(operation.version + 7));
    };

    sweep->Tick(&result_);
    ASSERT_TRUE(result_.CountsAddUp()) << EventText(result_);
    ASSERT_EQ(locks_.open(), 0u);
    ASSERT_LE(result_.scanned, 7u);
    ASSERT_LE(engine_.operations.size(), 5u);
    ASSERT_EQ(engine_.operations.size(), result_.operations);
    ASSERT_LE(metastore.scans.size(), 16u);
    ASSERT_LE(metastore.gets.size(), 2u * 7u);
    for (size_t i = 0; i < kOutcomeCount; ++i) seen[static_cast<Outcome>(i)] += result_.outcomes[i];
    if (result_.cycle_number != cycle) {
      operated.clear();
      cycle = result_.cycle_number;
    }
    for (const std::string& name : engine_.tables()) {
      operated.insert(name);
      ASSERT_EQ(operated.count(name), 1u) << name << " twice in cycle " << cycle;
    }
  }
  for (const auto& [outcome, count] : seen) {
    // Nobody keeps drop markers here.
    const uint64_t expected = outcome == Outcome::kDropping ? 0 : 1;
    EXPECT_GE(count, expected) << OutcomeName(outcome) << " never came";
  }
}

// Eight of ten locks are busy: what is waited for is bounded per tick, whatever the page, and told apart from engine
// time.
TEST_F(FieldCasesTest, MostLocksBusyCostOneBudget) {
  for (int i = 0; i < 1000; ++i) {
    store_.Put(Table(i), Registration(1));
    if (i % 10 < 8) locks_.held.insert(absl::StrCat("n/", 1'000'000 + i));
  }
  engine_.on_maintain = [&](const testing::FakeEngine::Operation&) { clock_.AdvanceMs(1); };
  const auto sweep = Sweep(&store_, {{Setting::kTablePageSize, 1000}, {Setting::kLockBudgetMs, 5000}});
  sweep->Tick(&result_);
  EXPECT_EQ(result_.outcome(Outcome::kLockBusy), 800u);
  EXPECT_EQ(result_.outcome(Outcome::kMaintained), 200u);
  EXPECT_EQ(result_.lock_wait_ns, 5'000'000'000);
  EXPECT_EQ(result_.engine_ns, 200'000'000);
}

}  // namespace
}  // namespace caretaker::maintenance
