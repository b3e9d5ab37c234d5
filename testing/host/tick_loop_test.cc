#include "testing/host/tick_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "plugin/boundary.h"

namespace caretaker::reference_host {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

// A plugin whose ticks end as the test says, and a clock that only notes what is waited for.
class TickLoopTest : public ::testing::Test {
 protected:
  struct Ended {
    absl::Status status;
    int64_t call_again_ms = 0;
    int64_t duration_ms = 0;
    bool cycle_completed = false;
    bool plugins_own = false;  // No tick ran.
  };

  TickLoopEnd Run(uint64_t cycles) {
    TickLoopCalls calls;
    calls.tick = [this](maintenance_tick_context* tick) {
      const Ended& ended = script_[ticks_ < script_.size() ? ticks_ : script_.size() - 1];
      ++ticks_;
      *tick = boundary::Sized<maintenance_tick_context>();
      tick->tick_number = ended.plugins_own ? 0 : ticks_;
      tick->call_again_ms = ended.call_again_ms;
      tick->duration_ns = ended.duration_ms * 1'000'000;
      tick->cycle_completed = ended.cycle_completed ? 1 : 0;
      return ended.status;
    };
    calls.told = [this](const absl::Status&, const maintenance_tick_context&) { ++told_; };
    calls.wait = [this](milliseconds time) {
      waits_.push_back(time.count());
      return waits_.size() > waits_until_stop_;
    };
    return RunTicks({cycles, milliseconds(60000)}, calls);
  }

  std::vector<Ended> script_;
  size_t waits_until_stop_ = 1000;
  size_t ticks_ = 0;
  size_t told_ = 0;
  std::vector<int64_t> waits_;
};

TEST_F(TickLoopTest, ItEndsAfterItsCyclesWithoutAWait) {
  script_ = {{absl::OkStatus(), 10, 0, false}, {absl::OkStatus(), 10, 0, true}};
  const TickLoopEnd cycles = Run(1);
  ASSERT_TRUE(cycles.status.ok());
  EXPECT_EQ(cycles.cycles, 1u);
  EXPECT_EQ(ticks_, 2u);
  EXPECT_EQ(told_, 2u);
  EXPECT_THAT(waits_, ElementsAre(0, 10));
}

TEST_F(TickLoopTest, TicksBeginAtTheirInterval) {
  script_ = {{absl::OkStatus(), 1000, 300, false},
             {absl::OkStatus(), 1000, 1700, false},
             {absl::OkStatus(), 0, 5, false},
             {absl::OkStatus(), 1000, 0, true}};
  ASSERT_TRUE(Run(1).status.ok());
  EXPECT_THAT(waits_, ElementsAre(0, 700, 0, 0)) << "the rest, none when late, none when asked for none";
}

TEST_F(TickLoopTest, AStopEndsItAtTheNextWait) {
  script_ = {{absl::OkStatus(), 10, 0, true}};
  waits_until_stop_ = 3;
  const TickLoopEnd cycles = Run(0);
  ASSERT_TRUE(cycles.status.ok());
  EXPECT_EQ(cycles.cycles, 3u);
  EXPECT_EQ(ticks_, 3u);
}

TEST_F(TickLoopTest, AStopBeforeTheFirstTickRunsNone) {
  script_ = {{absl::OkStatus(), 10, 0, true}};
  waits_until_stop_ = 0;
  ASSERT_TRUE(Run(1).status.ok());
  EXPECT_EQ(ticks_, 0u);
}

TEST_F(TickLoopTest, AFailedTickIsFollowedByOthersAfterTheInterval) {
  script_ = {{absl::UnavailableError("no disk"), 0, 0, false}, {absl::OkStatus(), 10, 0, true}};
  ASSERT_TRUE(Run(1).status.ok());
  EXPECT_EQ(told_, 2u);
  EXPECT_THAT(waits_, ElementsAre(0, 60000));
}

TEST_F(TickLoopTest, FailuresInARowEndAHostThatHasCyclesToDo) {
  script_ = {{absl::UnavailableError("no disk"), 0, 0, false}};
  EXPECT_EQ(Run(1).status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(ticks_, static_cast<size_t>(kFailedTicksMax));
}

TEST_F(TickLoopTest, AServingHostGoesOnWhateverFails) {
  script_ = {{absl::UnavailableError("no disk"), 0, 0, false}};
  waits_until_stop_ = 100;
  ASSERT_TRUE(Run(0).status.ok());
  EXPECT_EQ(ticks_, 100u);
}

TEST_F(TickLoopTest, WhatNoLaterTickCanDoBetterEndsIt) {
  script_ = {{absl::FailedPreconditionError("another process"), 0, 0, false, true}};
  EXPECT_EQ(Run(0).status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ticks_, 1u);
}

TEST_F(TickLoopTest, TheSameStatusOfAScanDoesNot) {
  script_ = {{absl::FailedPreconditionError("family dropped"), 0, 0, false}, {absl::OkStatus(), 10, 0, true}};
  EXPECT_TRUE(Run(1).status.ok());
  EXPECT_EQ(ticks_, 2u);
}

TEST_F(TickLoopTest, CyclesThatWereDoneCountAlsoWhenItGivesUp) {
  script_ = {{absl::OkStatus(), 0, 0, true}, {absl::OkStatus(), 0, 0, true}, {absl::UnavailableError("no disk"), 0, 0}};
  const TickLoopEnd end = Run(3);
  EXPECT_EQ(end.status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(end.cycles, 2u);
}

TEST_F(TickLoopTest, NoWaitIsLongerThanADay) {
  script_ = {
      {absl::OkStatus(), INT64_MAX, 0, false}, {absl::OkStatus(), INT64_MIN, 0, false}, {absl::OkStatus(), 0, 0, true}};
  EXPECT_TRUE(Run(1).status.ok());
  EXPECT_THAT(waits_, ElementsAre(0, 86'400'000, 0));
}

}  // namespace
}  // namespace caretaker::reference_host
