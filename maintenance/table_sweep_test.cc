#include "maintenance/table_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "maintenance/maintenance_limits.h"
#include "maintenance/tick_budget.h"
#include "registry/contract_violation.h"
#include "registry/registration_codec.h"
#include "testing/fakes/counting_metastore.h"
#include "testing/fakes/fake_host.h"
#include "testing/fakes/in_memory_metastore.h"

namespace caretaker::maintenance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Registration(uint64_t version, absl::string_view incarnation = "i1") {
  return absl::StrCat(R"({"location":"at/)", incarnation, R"(","engine":"e","current_version":)", version,
                      R"(,"incarnation_id":")", incarnation, "\"}");
}

class TableSweepTest : public ::testing::Test {
 protected:
  void PutTables(const std::vector<std::string>& names) {
    for (const std::string& name : names) store_.Put("tbl/n/" + name, Registration(1));
  }

  // Settings by name without the prefix, for the sweep that the next Tick makes.
  void Set(Setting setting, int64_t value) { texts_.push_back({setting, absl::StrCat(value)}); }

  const TickResult& Tick() {
    if (sweep_ == nullptr) {
      std::vector<GivenSetting> given;
      for (const auto& [setting, text] : texts_) given.push_back({setting, SettingSource::kOption, text});
      const auto limits = MaintenanceLimits::TryNew(given);
      EXPECT_TRUE(limits.ok()) << limits.status();
      SweepHost host;
      host.metastore = &metastore_;
      host.codec = &codec_;
      host.locks = &locks_;
      host.engine = &engine_;
      host.control = &control_;
      host.clock = &clock_;
      host.publishes = publishes_;
      sweep_ = std::make_unique<TableSweep>(host, *limits, "tbl/");
    }
    sweep_->Tick(&result_);
    EXPECT_TRUE(result_.CountsAddUp()) << EventText(result_);
    EXPECT_EQ(locks_.open(), 0u) << "a lock was kept";
    return result_;
  }

  uint64_t Count(Outcome outcome) const { return result_.outcome(outcome); }
  std::string Version(const std::string& name) { return store_.Read("tbl/n/" + name).value_or("gone"); }

  testing::InMemoryMetaStore store_;
  testing::CountingMetaStore metastore_{&store_};
  registry::JsonRegistrationCodec codec_;
  testing::FakeClock clock_;
  testing::FakeTableLocks locks_{&clock_};
  testing::FakeEngine engine_;
  testing::FakeControl control_;
  bool publishes_ = true;
  std::vector<std::pair<Setting, std::string>> texts_;
  std::unique_ptr<TableSweep> sweep_;
  TickResult result_;
};

// ---------------------------------------------------------------- pages and cycles

TEST_F(TableSweepTest, TableMaintenancePagesResumeWithoutFullRegistrySweep) {
  PutTables({"a", "b", "c"});
  Set(Setting::kTablePageSize, 2);

  EXPECT_EQ(Tick().operations, 2u);
  EXPECT_EQ(result_.ended_by, EndedBy::kPageDone);
  EXPECT_FALSE(result_.cycle_completed);
  ASSERT_EQ(metastore_.scans.size(), 1u);
  EXPECT_EQ(metastore_.scans[0].limit, 2u);

  EXPECT_EQ(Tick().operations, 1u);
  EXPECT_TRUE(result_.cycle_completed);
  EXPECT_EQ(metastore_.scans.size(), 2u);
  EXPECT_THAT(metastore_.gets, ElementsAre("tbl/n/a", "tbl/n/b", "tbl/n/c"));
  EXPECT_THAT(engine_.tables(), ElementsAre("n/a", "n/b", "n/c"));
  EXPECT_EQ(metastore_.publications.size(), 3u);
  EXPECT_EQ(Version("c"), Registration(2));
}

TEST_F(TableSweepTest, NextCycleBeginsAtTheFirstKey) {
  PutTables({"a", "b"});
  Set(Setting::kTablePageSize, 2);
  Tick();
  EXPECT_TRUE(result_.cycle_completed);
  EXPECT_EQ(result_.cycle_number, 1u);
  Tick();
  EXPECT_EQ(result_.cycle_number, 2u);
  EXPECT_THAT(engine_.tables(), ElementsAre("n/a", "n/b", "n/a", "n/b"));
  EXPECT_EQ(sweep_->cycle().last_visited, 2u);
  EXPECT_EQ(Version("a"), Registration(3));
}

TEST_F(TableSweepTest, ACycleIsCompleteOnce) {
  PutTables({"a"});
  Tick();
  EXPECT_TRUE(result_.cycle_completed);
  control_.cancelled_from = 0;
  Tick();
  EXPECT_FALSE(result_.cycle_completed) << "a tick that read nothing completes nothing";
  EXPECT_EQ(sweep_->cycle().completed, 1u);
}

TEST_F(TableSweepTest, AnEmptyRegistryIsACompleteCycle) {
  Tick();
  EXPECT_TRUE(result_.status.ok());
  EXPECT_EQ(result_.ended_by, EndedBy::kNothingToDo);
  EXPECT_TRUE(result_.cycle_completed);
  EXPECT_EQ(result_.call_again_ms, 60000);
}

TEST_F(TableSweepTest, TableMaintenanceReresolvesAfterScannedGenerationChanges) {
  PutTables({"a"});
  // Another party holds the table's lock while the page is scanned, and replaces the table before it lets go.
  bool scanned = false;
  locks_.held.insert("n/a");
  metastore_.on_scanned = [&] { scanned = true; };
  locks_.on_lock = [&](const std::string&) {
    ASSERT_TRUE(scanned);
    store_.Put("tbl/n/a", Registration(7, "i2"));
    locks_.held.erase("n/a");
  };
  Tick();
  ASSERT_EQ(engine_.operations.size(), 1u);
  EXPECT_EQ(engine_.operations[0].incarnation, "i2");
  EXPECT_EQ(engine_.operations[0].location, "at/i2");
  EXPECT_EQ(engine_.operations[0].version, 7u);
  EXPECT_EQ(engine_.operations[0].value, Registration(7, "i2"));
  EXPECT_EQ(result_.generation_changed, 1u);
  EXPECT_EQ(Version("a"), Registration(8, "i2"));
}

TEST_F(TableSweepTest, UndecodableTablesStopNothing) {
  PutTables({"a", "b", "d", "e"});
  store_.Put("tbl/n/c", "{\"location\":");
  store_.Put("tbl/nameless", Registration(1));
  Set(Setting::kTablePageSize, 2);
  uint64_t corrupt = 0;
  for (int tick = 0; tick < 3; ++tick) corrupt += Tick().outcome(Outcome::kCorrupt);
  EXPECT_TRUE(result_.cycle_completed);
  EXPECT_EQ(corrupt, 2u);
  EXPECT_THAT(engine_.tables(), ElementsAre("n/a", "n/b", "n/d", "n/e"));
}

TEST_F(TableSweepTest, EmptyPagesAreNotTheEnd) {
  PutTables({"a"});
  Set(Setting::kScanRequestsMax, 3);
  // A hole of deleted keys: pages without entries that go on.
  int empty_pages = 4;
  class Hole : public registry::MetaStore {
   public:
    Hole(registry::MetaStore* store, int* left) : store_(store), left_(left) {}
    absl::Status ScanPage(const registry::MetaStoreCall& call, absl::string_view prefix, absl::string_view continuation,
                          uint32_t limit, registry::PageSink& sink) override {
      if (--*left_ < 0) return store_->ScanPage(call, prefix, "", limit, sink);
      sink.ContinueAfter(absl::StrCat(continuation, "x"));
      return absl::OkStatus();
    }
    absl::Status Get(const registry::MetaStoreCall& call, absl::string_view key, registry::ValueSink& sink) override {
      return store_->Get(call, key, sink);
    }
    absl::Status CompareAndSet(const registry::MetaStoreCall& call, absl::string_view key, absl::string_view expected,
                               absl::string_view desired, registry::CompareAndSetOutcome* outcome) override {
      return store_->CompareAndSet(call, key, expected, desired, outcome);
    }

   private:
    registry::MetaStore* store_;
    int* left_;
  } hole(&store_, &empty_pages);
  SweepHost host{&hole, &codec_, &locks_, &engine_, nullptr, &clock_, true};
  const GivenSetting three{Setting::kScanRequestsMax, SettingSource::kOption, "3"};
  TableSweep sweep(host, *MaintenanceLimits::TryNew({three}), "tbl/");
  sweep.Tick(&result_);
  EXPECT_EQ(result_.scan_requests, 3u);
  EXPECT_EQ(result_.ended_by, EndedBy::kNothingToDo);
  EXPECT_EQ(result_.call_again_ms, 0);
  EXPECT_FALSE(result_.cycle_completed);
  sweep.Tick(&result_);
  EXPECT_EQ(result_.scan_requests, 2u);
  EXPECT_EQ(result_.operations, 1u);
  EXPECT_EQ(result_.call_again_ms, 60000);
  EXPECT_TRUE(result_.cycle_completed);
}

TEST_F(TableSweepTest, AFailedScanKeepsTheCursor) {
  PutTables({"a", "b", "c"});
  Set(Setting::kTablePageSize, 2);
  Tick();
  metastore_.scan_answers = {absl::UnavailableError("no answer")};
  Tick();
  EXPECT_EQ(result_.status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(result_.ended_by, EndedBy::kUnset);
  EXPECT_EQ(result_.scanned, 0u);
  Tick();
  EXPECT_THAT(engine_.tables(), ElementsAre("n/a", "n/b", "n/c"));
  EXPECT_EQ(metastore_.scans[1].continuation, metastore_.scans[2].continuation);
}

TEST_F(TableSweepTest, ARejectedContinuationBeginsAgain) {
  PutTables({"a", "b", "c"});
  Set(Setting::kTablePageSize, 2);
  Tick();
  metastore_.scan_answers = {absl::OutOfRangeError("another layout")};
  Tick();
  EXPECT_EQ(result_.status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(result_.cycle_restarted);
  EXPECT_FALSE(result_.cycle_completed);
  EXPECT_TRUE(Tick().status.ok());
  EXPECT_EQ(result_.cycle_number, 2u);
  EXPECT_EQ(metastore_.scans[2].continuation, "");
  EXPECT_THAT(engine_.tables(), ElementsAre("n/a", "n/b", "n/a", "n/b"));
}

// ---------------------------------------------------------------- budgets

TEST_F(TableSweepTest, AnOperationBudgetBelowThePageReachesEverything) {
  PutTables({"a", "b", "c", "d", "e"});
  Set(Setting::kTablePageSize, 3);
  Set(Setting::kMaxOperations, 2);
  EXPECT_EQ(Tick().ended_by, EndedBy::kOperations);
  EXPECT_EQ(result_.backlog_after, 1u);
  EXPECT_EQ(Tick().ended_by, EndedBy::kPageDone);
  EXPECT_EQ(result_.backlog_before, 1u);
  EXPECT_EQ(result_.scanned, 0u) << "a tick with a backlog scans nothing";
  EXPECT_EQ(Tick().ended_by, EndedBy::kPageDone);
  EXPECT_TRUE(result_.cycle_completed);
  EXPECT_THAT(engine_.tables(), ElementsAre("n/a", "n/b", "n/c", "n/d", "n/e"));
}

TEST_F(TableSweepTest, ASpentTickStillTakesOneTable) {
  PutTables({"a", "b", "c"});
  Set(Setting::kTickBudgetMs, 100);
  engine_.on_maintain = [&](const testing::FakeEngine::Operation&) { clock_.AdvanceMs(250); };
  for (const char* table : {"n/a", "n/b"}) {
    Tick();
    EXPECT_EQ(engine_.tables().back(), table);
    EXPECT_EQ(result_.operations, 1u);
    EXPECT_EQ(result_.ended_by, EndedBy::kTime);
    EXPECT_EQ(result_.overrun_ns, 150'000'000);
  }
  EXPECT_EQ(Tick().ended_by, EndedBy::kPageDone);
}

TEST_F(TableSweepTest, AScanThatSpentTheTickIsStillFollowedByOneTable) {
  PutTables({"a", "b"});
  Set(Setting::kTickBudgetMs, 100);
  metastore_.on_scanned = [&] { clock_.AdvanceMs(500); };
  EXPECT_EQ(Tick().ended_by, EndedBy::kTime);
  EXPECT_THAT(engine_.tables(), ElementsAre("n/a"));
}

TEST_F(TableSweepTest, TheBudgetIsExactAtItsEdge) {
  PutTables({"a", "b"});
  Set(Setting::kTickBudgetMs, 100);
  engine_.on_maintain = [&](const testing::FakeEngine::Operation&) { clock_.now_ns += 99'999'999; };
  EXPECT_EQ(Tick().operations, 2u);
  sweep_.reset();
  engine_.on_maintain = [&](const testing::FakeEngine::Operation&) { clock_.now_ns += 100'000'000; };
  EXPECT_EQ(Tick().operations, 1u);
}

TEST_F(TableSweepTest, CallsAreToldTheTimeThatRemains) {
  PutTables({"a"});
  Set(Setting::kTickBudgetMs, 5000);
  Set(Setting::kTableTimeoutMs, 700);
  engine_.on_maintain = [&](const testing::FakeEngine::Operation&) { clock_.AdvanceMs(4900); };
  Tick();
  ASSERT_EQ(metastore_.calls.size(), 3u);
  EXPECT_EQ(metastore_.calls[0].remaining_ns, 5'000'000'000);
  EXPECT_EQ(engine_.operations[0].call.remaining_ns, 700'000'000);
  EXPECT_EQ(metastore_.calls[2].remaining_ns, 1'000'000'000) << "a publication is given time even when none is left";
}

TEST_F(TableSweepTest, WithoutBudgetsNothingIsLimited) {
  PutTables({"a"});
  Set(Setting::kTableTimeoutMs, 0);
  Tick();
  EXPECT_FALSE(metastore_.calls[0].remaining_ns.has_value());
  EXPECT_FALSE(engine_.operations[0].call.remaining_ns.has_value());
}

TEST_F(TableSweepTest, AClockThatGoesBackHurtsNothing) {
  PutTables({"a", "b", "c"});
  Set(Setting::kTickBudgetMs, 100);
  engine_.on_maintain = [&](const testing::FakeEngine::Operation&) { clock_.AdvanceMs(-1000); };
  EXPECT_EQ(Tick().operations, 3u);
  EXPECT_GE(result_.duration_ns, 0);
  EXPECT_GE(result_.engine_ns, 0);
}

TEST_F(TableSweepTest, AClockThatLeapsOverflowsNothing) {
  PutTables({"a", "b"});
  clock_.now_ns = INT64_MIN;
  locks_.on_lock = [&](const std::string&) { clock_.now_ns = INT64_MAX; };
  engine_.on_maintain = [&](const testing::FakeEngine::Operation&) { clock_.now_ns = INT64_MIN; };
  EXPECT_TRUE(Tick().status.ok());
  EXPECT_EQ(result_.operations, 2u);
  for (const int64_t time : {result_.duration_ns, result_.lock_wait_ns, result_.engine_ns, result_.scan_ns}) {
    EXPECT_GE(time, 0);
    EXPECT_LE(time, TickBudget::kElapsedNsMax);
  }
}

// ---------------------------------------------------------------- locks

TEST_F(TableSweepTest, AHeldLockDelaysNoOtherTable) {
  PutTables({"a", "b", "c"});
  locks_.held.insert("n/a");
  Tick();
  EXPECT_THAT(engine_.tables(), ElementsAre("n/b", "n/c"));
  EXPECT_EQ(Count(Outcome::kLockBusy), 1u);
  // Waited for once, then tried once more at the end without waiting.
  ASSERT_EQ(locks_.attempts.size(), 4u);
  EXPECT_EQ(locks_.attempts[0].wait_ns, 1'000'000'000);
  EXPECT_EQ(locks_.attempts[3].table, "n/a");
  EXPECT_EQ(locks_.attempts[3].wait_ns, 0);
  EXPECT_EQ(result_.lock_wait_ns, 1'000'000'000);
}

TEST_F(TableSweepTest, ABusyTableIsTriedAgainAtTheEnd) {
  PutTables({"a", "b"});
  locks_.held.insert("n/a");
  engine_.on_maintain = [&](const testing::FakeEngine::Operation&) { locks_.held.erase("n/a"); };
  Tick();
  EXPECT_THAT(engine_.tables(), ElementsAre("n/b", "n/a"));
  EXPECT_EQ(Count(Outcome::kLockBusy), 0u);
}

TEST_F(TableSweepTest, BusyTablesEndWithTheTickThatMetThem) {
  PutTables({"a", "b", "c"});
  locks_.held.insert("n/a");
  Set(Setting::kMaxOperations, 1);
  EXPECT_EQ(Tick().ended_by, EndedBy::kOperations);
  EXPECT_EQ(Count(Outcome::kLockBusy), 1u);
  EXPECT_EQ(result_.backlog_after, 1u);
  Tick();
  EXPECT_THAT(engine_.tables(), ElementsAre("n/b", "n/c"));
  EXPECT_TRUE(result_.cycle_completed);
}

TEST_F(TableSweepTest, ASecondTryThatIsCutKeepsTheTable) {
  PutTables({"a", "b"});
  locks_.held.insert("n/a");
  engine_.on_maintain = [&](const testing::FakeEngine::Operation&) { locks_.held.erase("n/a"); };
  // Cancel arrives right after the second try got the lock: two questions before and after each lock, one at the start.
  control_.cancelled_from = 6;
  EXPECT_EQ(Tick().ended_by, EndedBy::kCancelled);
  EXPECT_EQ(locks_.attempts.size(), 3u);
  EXPECT_EQ(result_.backlog_after, 1u);
  EXPECT_EQ(Count(Outcome::kLockBusy), 0u);
  control_ = testing::FakeControl();
  Tick();
  EXPECT_THAT(engine_.tables(), ElementsAre("n/b", "n/a"));
}

TEST_F(TableSweepTest, LockWaitsAreBoundedPerTick) {
  std::vector<std::string> names;
  for (char name = 'a'; name <= 'j'; ++name) names.emplace_back(1, name);
  PutTables(names);
  for (size_t i = 0; i < 8; ++i) locks_.held.insert("n/" + names[i]);
  Set(Setting::kLockWaitMs, 1000);
  Set(Setting::kLockBudgetMs, 2500);
  Tick();
  EXPECT_EQ(result_.lock_wait_ns, 2'500'000'000);
  EXPECT_EQ(result_.engine_ns, 0);
  EXPECT_EQ(Count(Outcome::kLockBusy), 8u);
  EXPECT_THAT(engine_.tables(), ElementsAre("n/i", "n/j")) << "a spent lock budget ends no tick";
  EXPECT_EQ(locks_.attempts[2].wait_ns, 500'000'000);
  EXPECT_EQ(locks_.attempts[3].wait_ns, 0);
}

TEST_F(TableSweepTest, ALockBudgetOfZeroOnlyTries) {
  PutTables({"a"});
  locks_.held.insert("n/a");
  Set(Setting::kLockBudgetMs, 0);
  Tick();
  for (const auto& attempt : locks_.attempts) EXPECT_EQ(attempt.wait_ns, 0);
  EXPECT_EQ(result_.lock_wait_ns, 0);
}

TEST_F(TableSweepTest, ALockWaitEndsWithTheTick) {
  PutTables({"a"});
  locks_.held.insert("n/a");
  Set(Setting::kTickBudgetMs, 300);
  Tick();
  EXPECT_EQ(locks_.attempts[0].wait_ns, 300'000'000);
}

TEST_F(TableSweepTest, AFailingLockIsTheTablesOutcome) {
  PutTables({"a", "b"});
  locks_.failures["n/a"] = absl::UnavailableError("lock service");
  Tick();
  EXPECT_EQ(Count(Outcome::kLockFailed), 1u);
  EXPECT_THAT(engine_.tables(), ElementsAre("n/b"));
}

TEST_F(TableSweepTest, ACancelledWaitEndsTheTickAndKeepsTheTable) {
  PutTables({"a", "b"});
  locks_.cancelling = true;
  EXPECT_EQ(Tick().ended_by, EndedBy::kCancelled);
  EXPECT_EQ(result_.backlog_after, 2u);
  locks_.cancelling = false;
  Tick();
  EXPECT_THAT(engine_.tables(), ElementsAre("n/a", "n/b"));
}

// ---------------------------------------------------------------- cancel and fence

TEST_F(TableSweepTest, CancelBeatsEverything) {
  PutTables({"a"});
  control_.cancelled_from = 1;
  EXPECT_EQ(Tick().ended_by, EndedBy::kCancelled);
  EXPECT_THAT(metastore_.scans, IsEmpty());
}

TEST_F(TableSweepTest, EveryCutKeepsWhatWasNotReached) {
  // Cut at each question in turn; whatever was not finished comes first in the next tick, and nothing twice.
  for (uint64_t question = 1; question <= 9; ++question) {
    for (const bool by_fence : {false, true}) {
      SCOPED_TRACE(absl::StrCat("question ", question, by_fence ? " fenced" : " cancelled"));
      PutTables({"a", "b", "c", "d"});
      sweep_.reset();
      engine_ = testing::FakeEngine();
      engine_.changes = false;
      control_ = testing::FakeControl();
      (by_fence ? control_.fenced_from : control_.cancelled_from) = question;
      Tick();
      EXPECT_EQ(result_.ended_by, by_fence ? EndedBy::kFenced : EndedBy::kCancelled);
      EXPECT_EQ(engine_.operations.size(), question < 3 ? 0 : (question - 2) / 2);
      control_ = testing::FakeControl();
      Tick();
      EXPECT_THAT(engine_.tables(), ElementsAre("n/a", "n/b", "n/c", "n/d"));
      EXPECT_TRUE(result_.cycle_completed);
    }
  }
}

TEST_F(TableSweepTest, TheRightToActIsAskedForBeforePublication) {
  PutTables({"a", "b"});
  engine_.on_maintain = [&](const testing::FakeEngine::Operation&) { control_.fenced_from = 0; };
  EXPECT_EQ(Tick().ended_by, EndedBy::kFenced);
  EXPECT_EQ(Count(Outcome::kFenced), 1u);
  EXPECT_THAT(metastore_.publications, IsEmpty());
  EXPECT_EQ(Version("a"), Registration(1));
  EXPECT_EQ(result_.backlog_after, 1u);
}

TEST_F(TableSweepTest, TheFenceTokenGoesAlong) {
  PutTables({"a"});
  control_.fence_token = 77;
  Tick();
  EXPECT_EQ(engine_.operations[0].call.fence_token, 77u);
  EXPECT_EQ(metastore_.calls.back().fence_token, 77u);
  // A store that knows a newer host refuses the old token.
  store_.RequireFenceToken(78);
  Tick();
  EXPECT_EQ(Count(Outcome::kFenced), 1u);
  EXPECT_EQ(result_.ended_by, EndedBy::kFenced);
  EXPECT_EQ(Version("a"), Registration(2));
}

TEST_F(TableSweepTest, AHostThatCannotAnswerIsTakenForTheSafeAnswer) {
  PutTables({"a"});
  control_.cancel_answer = absl::UnavailableError("no answer");
  EXPECT_EQ(Tick().ended_by, EndedBy::kCancelled);
  control_ = testing::FakeControl();
  control_.act_answer = absl::UnavailableError("no answer");
  EXPECT_EQ(Tick().ended_by, EndedBy::kFenced);
  EXPECT_THAT(engine_.operations, IsEmpty());
}

// ---------------------------------------------------------------- outcomes

TEST_F(TableSweepTest, UnchangedTablesAreNotPublished) {
  PutTables({"a"});
  engine_.changes = false;
  Tick();
  EXPECT_EQ(Count(Outcome::kUnchanged), 1u);
  EXPECT_THAT(metastore_.publications, IsEmpty());
}

TEST_F(TableSweepTest, TablesGoneBeforeTheLockAreGone) {
  PutTables({"a"});
  metastore_.on_scanned = [&] { store_.Erase("tbl/n/a"); };
  Tick();
  EXPECT_EQ(Count(Outcome::kGone), 1u);
  EXPECT_THAT(engine_.operations, IsEmpty());
}

TEST_F(TableSweepTest, DropMarkersAreReadOnlyWhenAskedFor) {
  PutTables({"a", "b"});
  store_.Put("drop/n/a", "");
  Tick();
  EXPECT_EQ(engine_.operations.size(), 2u);
  EXPECT_EQ(metastore_.gets.size(), 2u);
  sweep_.reset();
  engine_.operations.clear();
  Set(Setting::kCheckDropMarkers, 1);
  Tick();
  EXPECT_EQ(Count(Outcome::kDropping), 1u);
  EXPECT_THAT(engine_.tables(), ElementsAre("n/b"));
}

TEST_F(TableSweepTest, AFailedReadIsTheTablesOutcome) {
  PutTables({"a", "b"});
  metastore_.get_answers = {absl::DataLossError("checksum")};
  Tick();
  EXPECT_EQ(Count(Outcome::kReadFailed), 1u);
  EXPECT_EQ(Count(Outcome::kMaintained), 1u);
}

TEST_F(TableSweepTest, EngineAnswersAreToldApart) {
  PutTables({"a", "b", "c", "d", "e"});
  engine_.failures["n/a"] = absl::DeadlineExceededError("slow");
  engine_.failures["n/b"] = absl::CancelledError("stop");
  engine_.failures["n/c"] = absl::InternalError("bug");
  engine_.failures["n/d"] = absl::UnavailableError("busy");
  Tick();
  EXPECT_EQ(Count(Outcome::kEngineTimedOut), 1u);
  EXPECT_EQ(Count(Outcome::kInterrupted), 1u);
  EXPECT_EQ(Count(Outcome::kEngineFailed), 2u);
  EXPECT_EQ(Count(Outcome::kMaintained), 1u);
  EXPECT_EQ(result_.ended_by, EndedBy::kPageDone);
}

TEST_F(TableSweepTest, AnEngineInTroubleEndsTheTickAfterThree) {
  PutTables({"a", "b", "c", "d", "e", "f"});
  engine_.failures["n/a"] = absl::UnavailableError("down");
  engine_.failures["n/c"] = absl::UnavailableError("down");
  engine_.failures["n/d"] = absl::ResourceExhaustedError("full");
  engine_.failures["n/e"] = absl::UnavailableError("down");
  EXPECT_EQ(Tick().ended_by, EndedBy::kEngineUnavailable);
  EXPECT_EQ(result_.operations, 5u) << "the success of b begins the count anew";
  EXPECT_EQ(result_.backlog_after, 1u);
}

TEST_F(TableSweepTest, AConflictLeavesTheNewGenerationAlone) {
  PutTables({"a"});
  engine_.on_maintain = [&](const testing::FakeEngine::Operation&) { store_.Put("tbl/n/a", Registration(1, "i2")); };
  Tick();
  EXPECT_EQ(Count(Outcome::kConflict), 1u);
  EXPECT_EQ(Version("a"), Registration(1, "i2"));
}

TEST_F(TableSweepTest, AFailedPublicationWritesNothing) {
  PutTables({"a"});
  metastore_.compare_answer = absl::UnavailableError("no answer");
  Tick();
  EXPECT_EQ(Count(Outcome::kPublishFailed), 1u);
  EXPECT_EQ(Version("a"), Registration(1));
}

TEST_F(TableSweepTest, AnIndeterminatePublicationIsReadBackOnce) {
  struct Case {
    bool loses_write;
    absl::Status read_back;
    Outcome outcome;
  };
  for (const Case& one :
       {Case{false, absl::OkStatus(), Outcome::kMaintained}, Case{true, absl::OkStatus(), Outcome::kPublishUnknown},
        Case{false, absl::UnavailableError("no answer"), Outcome::kPublishUnknown}}) {
    PutTables({"a"});
    sweep_.reset();
    metastore_.loses_answer = true;
    metastore_.loses_write = one.loses_write;
    metastore_.gets.clear();
    metastore_.get_answers = {absl::OkStatus(), one.read_back};
    Tick();
    EXPECT_EQ(Count(one.outcome), 1u) << OutcomeName(one.outcome);
    EXPECT_EQ(metastore_.gets.size(), 2u);
  }
  // Somebody else's bytes: not ours to publish over.
  PutTables({"a"});
  sweep_.reset();
  metastore_.get_answers.clear();
  metastore_.on_compare_and_set = [&](const std::string& key) { store_.Put(key, Registration(5, "i2")); };
  Tick();
  EXPECT_EQ(Count(Outcome::kConflict), 1u);
}

TEST_F(TableSweepTest, AnEngineThatPublishesItselfIsLeftToIt) {
  PutTables({"a"});
  publishes_ = false;
  Tick();
  EXPECT_EQ(Count(Outcome::kMaintained), 1u);
  EXPECT_THAT(metastore_.publications, IsEmpty());
}

// ---------------------------------------------------------------- failures

TEST_F(TableSweepTest, AFailingTableIsTriedEverMoreRarely) {
  PutTables({"a", "b"});
  engine_.failures["n/a"] = absl::InternalError("bug");
  Set(Setting::kBackoffCyclesMax, 4096);
  uint64_t backed_off = 0;
  for (int cycle = 0; cycle < 64; ++cycle) backed_off += Tick().outcome(Outcome::kBackedOff);
  const std::vector<std::string> tables = engine_.tables();
  EXPECT_EQ(std::count(tables.begin(), tables.end(), "n/a"), 6);
  EXPECT_EQ(std::count(tables.begin(), tables.end(), "n/b"), 64);
  EXPECT_EQ(backed_off, 58u);
}

TEST_F(TableSweepTest, ANewGenerationOrSuccessEndsTheBackoff) {
  PutTables({"a"});
  engine_.failures["n/a"] = absl::InternalError("bug");
  Tick();
  EXPECT_EQ(Tick().outcome(Outcome::kBackedOff), 1u);
  store_.Put("tbl/n/a", Registration(2));
  EXPECT_EQ(Tick().outcome(Outcome::kEngineFailed), 1u);
  engine_.failures.clear();
  Tick();
  EXPECT_EQ(Tick().outcome(Outcome::kMaintained), 1u) << "its cool-down is over";
  EXPECT_EQ(sweep_->failures().size(), 0u);
}

TEST_F(TableSweepTest, AnOutageOfTheEngineIsNoTablesFailure) {
  PutTables({"a", "b", "c", "d"});
  for (const char* table : {"n/a", "n/b", "n/c", "n/d"}) engine_.failures[table] = absl::UnavailableError("down");
  for (int tick = 0; tick < 4; ++tick) Tick();
  EXPECT_EQ(sweep_->failures().size(), 0u);
  EXPECT_EQ(Count(Outcome::kBackedOff), 0u);
}

TEST_F(TableSweepTest, DroppedTablesAreForgotten) {
  PutTables({"a", "b"});
  store_.Put("tbl/n/b", "corrupt");
  Tick();
  EXPECT_EQ(sweep_->failures().size(), 1u);
  store_.Erase("tbl/n/b");
  Tick();
  EXPECT_EQ(sweep_->failures().size(), 0u);
}

// ---------------------------------------------------------------- hosts that break the rules

TEST_F(TableSweepTest, WhateverIsThrownTheTickIsWhole) {
  PutTables({"a", "b"});
  engine_.on_maintain = [](const testing::FakeEngine::Operation&) { throw std::runtime_error("not ours"); };
  EXPECT_EQ(Tick().status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(result_.backlog_after, 2u);
  EXPECT_EQ(locks_.unlocks, 1u);
  engine_.on_maintain = nullptr;
  EXPECT_TRUE(Tick().status.ok());
}

TEST_F(TableSweepTest, AVersionThatDoesNotRiseIsAViolation) {
  for (const uint64_t version : {uint64_t{0}, uint64_t{1}}) {
    PutTables({"a", "b"});
    sweep_.reset();
    engine_.new_version = version;
    Tick();
    EXPECT_TRUE(registry::IsContractViolation(result_.status)) << result_.status;
    EXPECT_THAT(std::string(result_.status.message()), HasSubstr("rule E-3"));
    EXPECT_EQ(Count(Outcome::kEngineFailed), 1u);
    EXPECT_EQ(result_.backlog_after, 1u);
    engine_.new_version.reset();
    EXPECT_TRUE(Tick().status.ok()) << "the next tick works";
  }
}

TEST_F(TableSweepTest, AContinuationThatDoesNotMoveIsAViolation) {
  class Stuck : public testing::InMemoryMetaStore {
   public:
    absl::Status ScanPage(const registry::MetaStoreCall&, absl::string_view, absl::string_view continuation, uint32_t,
                          registry::PageSink& sink) override {
      continuations.emplace_back(continuation);
      sink.ContinueAfter("here");
      return absl::OkStatus();
    }
    std::vector<std::string> continuations;
  } stuck;
  SweepHost host{&stuck, &codec_, &locks_, &engine_, nullptr, &clock_, true};
  TableSweep sweep(host, *MaintenanceLimits::TryNew({}), "tbl/");
  sweep.Tick(&result_);
  EXPECT_TRUE(registry::IsContractViolation(result_.status)) << result_.status;
  EXPECT_TRUE(result_.cycle_restarted);
  sweep.Tick(&result_);
  EXPECT_THAT(stuck.continuations, ElementsAre("", "here", "", "here"));
}

TEST_F(TableSweepTest, SamplesOfBadTablesAreBounded) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back(absl::StrCat("t", i));
  PutTables(names);
  for (const std::string& name : names) engine_.failures["n/" + name] = absl::InternalError("bug\n");
  Tick();
  EXPECT_EQ(Count(Outcome::kEngineFailed), 100u);
  ASSERT_EQ(result_.samples.size(), TickResult::kSamplesMax);
  EXPECT_EQ(result_.samples[0].text, "tbl/n/t0: bug\\x0a");
  EXPECT_LE(EventText(result_).size(), kEventTextSizeMax);
}

TEST_F(TableSweepTest, HostCallsAreBoundedByThePage) {
  for (int i = 0; i < 10'000; ++i) store_.Put(absl::StrCat("tbl/n/", i), Registration(1));
  engine_.changes = false;
  for (int tick = 0; tick < 3; ++tick) {
    metastore_ = testing::CountingMetaStore(&store_);
    locks_.attempts.clear();
    Tick();
    EXPECT_EQ(metastore_.scans.size(), 1u);
    EXPECT_EQ(metastore_.gets.size(), 128u);
    EXPECT_EQ(locks_.attempts.size(), 128u);
    EXPECT_EQ(result_.operations, 128u);
  }
}

// ---------------------------------------------------------------- dry runs

// Over random registries, page sizes, budgets, failures and drop markers, tick by tick: what a dry run names is what
// the tick after it visits, and nothing else has changed.
TEST_F(TableSweepTest, ADryRunNamesExactlyWhatTheNextTickVisits) {
  std::mt19937 random(20261201);
  const auto up_to = [&](int max) { return std::uniform_int_distribution<int>(0, max)(random); };
  uint64_t named_in_all = 0;
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    testing::InMemoryMetaStore store;
    testing::CountingMetaStore metastore(&store);
    testing::FakeEngine engine;
    const int tables = up_to(30);
    for (int i = 0; i < tables; ++i) {
      const std::string name = absl::StrCat("n/t", 100 + i);
      store.Put("tbl/" + name, up_to(5) == 0 ? "corrupt" : Registration(1));
      if (up_to(5) == 0) store.Put("drop/" + name, "");
      if (up_to(5) == 0) engine.failures[name] = absl::InternalError("bug");
    }
    SweepHost host{&metastore, &codec_, &locks_, &engine, nullptr, &clock_, true};
    const std::string page_size = absl::StrCat(1 + up_to(9));
    const std::string operations = absl::StrCat(up_to(5));
    const std::vector<GivenSetting> settings = {{Setting::kTablePageSize, SettingSource::kOption, page_size},
                                                {Setting::kMaxOperations, SettingSource::kOption, operations},
                                                {Setting::kCheckDropMarkers, SettingSource::kOption, "true"}};
    TableSweep sweep(host, *MaintenanceLimits::TryNew(settings), "tbl/");
    for (int tick = 0; tick < 25; ++tick) {
      std::vector<std::string> named;
      const size_t operations_before = engine.operations.size();
      std::string cursor_before, cursor_after;
      sweep.ExportCursor(&cursor_before);
      sweep.DryRun(
          [&](absl::string_view key) {
            named.emplace_back(key);
            return absl::OkStatus();
          },
          &result_);
      ASSERT_TRUE(result_.status.ok()) << result_.status;
      const EndedBy predicted = result_.ended_by;
      sweep.ExportCursor(&cursor_after);
      ASSERT_EQ(cursor_before, cursor_after);
      ASSERT_EQ(engine.operations.size(), operations_before);
      ASSERT_EQ(locks_.open(), 0u);
      sweep.Tick(&result_);
      ASSERT_EQ(result_.finished(), named.size()) << EventText(result_);
      ASSERT_EQ(result_.ended_by, predicted) << EventText(result_);
      std::vector<std::string> maintained;
      for (size_t i = operations_before; i < engine.operations.size(); ++i) {
        maintained.push_back("tbl/" + engine.operations[i].table);
      }
      for (const std::string& key : maintained) ASSERT_THAT(named, ::testing::Contains(key));
      ASSERT_TRUE(std::is_sorted(named.begin(), named.end()));
      named_in_all += named.size();
    }
  }
  EXPECT_GT(named_in_all, 3000u);
}

TEST_F(TableSweepTest, ADryRunLeavesARejectedContinuationToTheTick) {
  PutTables({"a", "b"});
  Set(Setting::kTablePageSize, 1);
  Tick();
  metastore_.scan_answers = {absl::OutOfRangeError("moved")};
  sweep_->DryRun([](absl::string_view) { return absl::OkStatus(); }, &result_);
  EXPECT_EQ(result_.status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(sweep_->cycle().restarted, 0u);
  EXPECT_THAT(Tick().status.ok(), true);
  EXPECT_THAT(engine_.tables(), ElementsAre("n/a", "n/b"));
}

TEST_F(TableSweepTest, ADryRunPassesOverWhatAResumedCursorNames) {
  PutTables({"a", "b", "c"});
  SweepHost host{&metastore_, &codec_, &locks_, &engine_, nullptr, &clock_, true};
  TableSweep sweep(host, *MaintenanceLimits::TryNew({}), "tbl/", {"", {registry::Fingerprint("tbl/n/b")}});
  std::vector<std::string> named;
  sweep.DryRun(
      [&](absl::string_view key) {
        named.emplace_back(key);
        return absl::OkStatus();
      },
      &result_);
  EXPECT_THAT(named, ElementsAre("tbl/n/a", "tbl/n/c"));
}

// ---------------------------------------------------------------- found by a review

// A store whose scans are answered by a function.
class ScriptedScans : public testing::CountingMetaStore {
 public:
  using Script = std::function<absl::Status(absl::string_view continuation, registry::PageSink& sink)>;

  ScriptedScans(registry::MetaStore* store, Script script) : CountingMetaStore(store), script_(std::move(script)) {}
  absl::Status ScanPage(const registry::MetaStoreCall&, absl::string_view, absl::string_view continuation, uint32_t,
                        registry::PageSink& sink) override {
    return script_(continuation, sink);
  }

 private:
  const Script script_;
};

absl::Status Hole(absl::string_view continuation, registry::PageSink& sink) {
  sink.ContinueAfter(absl::StrCat(continuation, "x"));
  return absl::OkStatus();
}

TEST_F(TableSweepTest, CancelAndFenceAreAskedForBetweenScanRequests) {
  ScriptedScans hole(&store_, Hole);
  SweepHost host{&hole, &codec_, &locks_, &engine_, &control_, &clock_, true};
  TableSweep sweep(host, *MaintenanceLimits::TryNew({}), "tbl/");
  control_.cancelled_from = 3;  // The first question comes before the first scan.
  sweep.Tick(&result_);
  EXPECT_EQ(result_.ended_by, EndedBy::kCancelled);
  EXPECT_EQ(result_.scan_requests, 2u);
  control_ = testing::FakeControl();
  control_.fenced_from = 2;
  sweep.Tick(&result_);
  EXPECT_EQ(result_.ended_by, EndedBy::kFenced);
  EXPECT_EQ(result_.scan_requests, 1u);
}

TEST_F(TableSweepTest, CrossingAHoleIsProgress) {
  ScriptedScans hole(&store_, Hole);
  SweepHost host{&hole, &codec_, &locks_, &engine_, nullptr, &clock_, true};
  TableSweep sweep(host, *MaintenanceLimits::TryNew({}), "tbl/");
  for (int tick = 0; tick < 6; ++tick) {
    sweep.Tick(&result_);
    EXPECT_EQ(result_.finished(), 0u);
    EXPECT_EQ(result_.stalled_ticks, 0u) << "each tick is further in";
  }
}

TEST_F(TableSweepTest, ASpentBudgetEndsTheScanRequests) {
  ScriptedScans hole(&store_, [&](absl::string_view continuation, registry::PageSink& sink) {
    clock_.AdvanceMs(40);
    return Hole(continuation, sink);
  });
  SweepHost host{&hole, &codec_, &locks_, &engine_, nullptr, &clock_, true};
  const GivenSetting budget{Setting::kTickBudgetMs, SettingSource::kOption, "100"};
  TableSweep sweep(host, *MaintenanceLimits::TryNew({budget}), "tbl/");
  sweep.Tick(&result_);
  EXPECT_EQ(result_.ended_by, EndedBy::kTime);
  EXPECT_EQ(result_.scan_requests, 3u);
  EXPECT_EQ(result_.call_again_ms, 0);
}

TEST_F(TableSweepTest, AResumedPageWithNothingLeftIsStillThePageOfItsTick) {
  PutTables({"a", "b", "c", "d"});
  SweepHost host{&metastore_, &codec_, &locks_, &engine_, nullptr, &clock_, true};
  const GivenSetting page{Setting::kTablePageSize, SettingSource::kOption, "2"};
  TableSweep sweep(host, *MaintenanceLimits::TryNew({page}), "tbl/",
                   {"", {registry::Fingerprint("tbl/n/a"), registry::Fingerprint("tbl/n/b")}});
  sweep.Tick(&result_);
  EXPECT_EQ(metastore_.scans.size(), 1u) << "two entries were read, as many as a page has";
  EXPECT_EQ(result_.ended_by, EndedBy::kNothingToDo);
  EXPECT_EQ(result_.call_again_ms, 0);
  sweep.Tick(&result_);
  EXPECT_THAT(engine_.tables(), ElementsAre("n/c", "n/d"));
  EXPECT_TRUE(result_.cycle_completed);
}

TEST_F(TableSweepTest, ADropMarkerThatCanNotBeReadIsNotAbsent) {
  PutTables({"a", "b"});
  Set(Setting::kCheckDropMarkers, 1);
  metastore_.get_answers = {absl::OkStatus(), absl::UnavailableError("no answer")};
  Tick();
  EXPECT_EQ(Count(Outcome::kReadFailed), 1u);
  EXPECT_THAT(engine_.tables(), ElementsAre("n/b")) << "a may be being dropped";
}

TEST_F(TableSweepTest, ADropMarkerBeatsCorruption) {
  store_.Put("tbl/n/a", "half written");
  store_.Put("drop/n/a", "");
  Set(Setting::kCheckDropMarkers, 1);
  Tick();
  EXPECT_EQ(Count(Outcome::kDropping), 1u);
  EXPECT_EQ(Count(Outcome::kCorrupt), 0u);
}

TEST_F(TableSweepTest, TheLongestKeyHasNoDropMarker) {
  const std::string name(registry::kKeySizeMax - std::string("tbl/n/").size(), 'x');
  PutTables({name});
  Set(Setting::kCheckDropMarkers, 1);
  Tick();
  EXPECT_EQ(Count(Outcome::kMaintained), 1u);
  for (const std::string& key : metastore_.gets) EXPECT_LE(key.size(), registry::kKeySizeMax);
}

TEST_F(TableSweepTest, ATablesOwnFailureBeginsTheCountOfOutagesAnew) {
  PutTables({"a", "b", "c", "d", "e"});
  for (const char* name : {"n/a", "n/b", "n/d"}) engine_.failures[name] = absl::UnavailableError("down");
  engine_.failures["n/c"] = absl::InternalError("bug");
  EXPECT_EQ(Tick().ended_by, EndedBy::kPageDone);
  EXPECT_EQ(result_.operations, 5u);
}

TEST_F(TableSweepTest, ATokenThatIsNotGivenAgainDoesNotGoAlong) {
  PutTables({"a", "b"});
  control_.fence_token = 7;
  engine_.on_maintain = [&](const testing::FakeEngine::Operation& operation) {
    if (operation.table == "n/a") control_.fence_token.reset();
  };
  Tick();
  EXPECT_EQ(engine_.operations[0].call.fence_token, 7u);
  EXPECT_EQ(engine_.operations[1].call.fence_token, std::nullopt);
}

TEST_F(TableSweepTest, RestartsAreCountedOnceEach) {
  PutTables({"a", "b", "c"});
  Set(Setting::kTablePageSize, 1);
  Tick();
  metastore_.scan_answers = {absl::OutOfRangeError("moved"), absl::OutOfRangeError("moved")};
  EXPECT_EQ(Tick().status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(result_.cycle_restarted);
  EXPECT_EQ(result_.cycle_number, 1u);
  EXPECT_EQ(Tick().status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_FALSE(result_.cycle_restarted) << "the first key is where it is already";
  EXPECT_EQ(sweep_->cycle().restarted, 1u);
  EXPECT_TRUE(Tick().status.ok());
  EXPECT_EQ(result_.cycle_number, 2u);
  EXPECT_THAT(engine_.tables(), ElementsAre("n/a", "n/a"));
}

TEST_F(TableSweepTest, AnEncodingThatBreaksARuleHasWrittenNothing) {
  class BadEncoding : public registry::JsonRegistrationCodec {
   public:
    absl::Status EncodeVersion(absl::string_view, const registry::TableRegistration&, uint64_t, std::string*) override {
      return registry::ContractViolation("encode_version", "no bytes", "H-6");
    }
  } codec;
  PutTables({"a"});
  SweepHost host{&metastore_, &codec, &locks_, &engine_, nullptr, &clock_, true};
  TableSweep sweep(host, *MaintenanceLimits::TryNew({}), "tbl/");
  sweep.Tick(&result_);
  EXPECT_TRUE(registry::IsContractViolation(result_.status));
  EXPECT_THAT(metastore_.publications, IsEmpty());
  EXPECT_EQ(Count(Outcome::kPublishFailed), 1u);
}

TEST_F(TableSweepTest, AReadBackThatBreaksARuleIsAViolation) {
  PutTables({"a"});
  metastore_.loses_answer = true;
  metastore_.get_answers = {absl::OkStatus(), registry::ContractViolation("get", "junk", "H-6")};
  Tick();
  EXPECT_TRUE(registry::IsContractViolation(result_.status));
  EXPECT_EQ(Count(Outcome::kPublishUnknown), 1u);
}

}  // namespace
}  // namespace caretaker::maintenance
