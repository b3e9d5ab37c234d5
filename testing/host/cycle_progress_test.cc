#include "testing/host/cycle_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace caretaker::reference_host {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr CycleProgress::Time kBegin{};

maintenance_tick_context Tick(uint64_t cycle, uint64_t maintained, uint64_t corrupt, bool completed = false) {
  maintenance_tick_context tick{};
  tick.cycle_number = cycle;
  tick.outcomes[MAINTENANCE_OUTCOME_MAINTAINED] = maintained;
  tick.outcomes[MAINTENANCE_OUTCOME_CORRUPT] = corrupt;
  tick.cycle_completed = completed ? 1 : 0;
  tick.duration_ns = 1'000'000'000;
  return tick;
}

TEST(CycleProgressTest, ShowsPositionSpeedAndTimeLeft) {
  CycleProgress progress(2000, kBegin);
  progress.TickEnded(Tick(1, 400, 100), kBegin + seconds(5));
  EXPECT_EQ(progress.Text(80, kBegin + seconds(5)),
            "cycle 1 [======>                  ]  25 %  500 of ~2000 tables  100/s  15 s left");
}

TEST(CycleProgressTest, OperationsOfTheRunningTickCount) {
  CycleProgress progress(10, kBegin);
  progress.TickEnded(Tick(1, 2, 0), kBegin + seconds(1));
  progress.OperationEnded();
  EXPECT_THAT(progress.Text(80, kBegin + seconds(1)), HasSubstr(" 3 of ~10 tables"));
  progress.TickEnded(Tick(1, 4, 0), kBegin + seconds(2));
  EXPECT_THAT(progress.Text(80, kBegin + seconds(2)), HasSubstr(" 6 of ~10 tables"));
}

TEST(CycleProgressTest, AFirstCycleCountsTheTables) {
  CycleProgress progress(2000, kBegin);
  progress.TickEnded(Tick(1, 8, 0, /*completed=*/true), kBegin + seconds(1));
  EXPECT_THAT(progress.Text(80, kBegin + seconds(1)), HasSubstr("100 %  8 of 8 tables"));
  progress.TickEnded(Tick(2, 2, 0), kBegin + seconds(62));
  EXPECT_THAT(progress.Text(80, kBegin + seconds(62)), HasSubstr("cycle 2 ["));
  // The new cycle began with its first tick, which took a second.
  EXPECT_THAT(progress.Text(80, kBegin + seconds(62)), HasSubstr(" 25 %  2 of 8 tables  2.0/s  3 s left"));
}

TEST(CycleProgressTest, ARegistryThatIsLargerThanItsEstimateIsNeverOverFull) {
  CycleProgress progress(5, kBegin);
  progress.TickEnded(Tick(1, 50, 0), kBegin + seconds(1));
  EXPECT_THAT(progress.Text(80, kBegin + seconds(1)), HasSubstr("100 %  50 of ~50 tables"));
}

TEST(CycleProgressTest, AnEmptyRegistryHasNoSpeed) {
  const CycleProgress progress(0, kBegin);
  EXPECT_THAT(progress.Text(80, kBegin + seconds(1)), HasSubstr("  0 %  0 of ~0 tables"));
  EXPECT_THAT(progress.Text(80, kBegin), Not(HasSubstr("left")));
}

TEST(CycleProgressTest, ItFitsIntoAnyTerminal) {
  CycleProgress progress(1'000'000, kBegin);
  progress.TickEnded(Tick(1, 1000, 0), kBegin + seconds(100));
  for (size_t columns = 0; columns < 200; ++columns) {
    const std::string text = progress.Text(columns, kBegin + seconds(100));
    EXPECT_LE(text.size(), columns);
    EXPECT_EQ(text.size(), std::min<size_t>(columns, text.size()));
  }
  EXPECT_THAT(progress.Text(200, kBegin + seconds(100)), HasSubstr("27 h 45 min left"));
}

TEST(CycleProgressTest, DurationsHaveTwoUnits) {
  EXPECT_EQ(Duration(seconds(0)), "0 s");
  EXPECT_EQ(Duration(seconds(59)), "59 s");
  EXPECT_EQ(Duration(seconds(60)), "1 min 0 s");
  EXPECT_EQ(Duration(seconds(3599)), "59 min 59 s");
  EXPECT_EQ(Duration(seconds(3600)), "1 h 0 min");
  EXPECT_EQ(Duration(seconds(359'999)), "99 h 59 min");
  EXPECT_EQ(Duration(seconds(360'000)), "more than 99 h");
}

}  // namespace
}  // namespace caretaker::reference_host
