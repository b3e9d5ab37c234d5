#include "maintenance/cycle_accounting.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>

namespace caretaker::maintenance {
namespace {

CycleAccounting::TickEnd Visited(uint64_t tables) { return {tables, true, false, false, false}; }
CycleAccounting::TickEnd Completed(uint64_t tables) { return {tables, true, false, false, true}; }
constexpr CycleAccounting::TickEnd kNoProgress{0, false, false, false, false};
constexpr CycleAccounting::TickEnd kHeldBack{0, false, true, false, false};
constexpr CycleAccounting::TickEnd kRestarted{0, false, false, true, false};

TEST(CycleAccountingTest, ACycleIsCountedFromItsFirstTickToItsLast) {
  CycleAccounting cycles;
  EXPECT_FALSE(cycles.status().started_ns.has_value());
  cycles.TickBegins(100);
  EXPECT_FALSE(cycles.TickEnds(Visited(5), 150));
  cycles.TickBegins(400);
  EXPECT_EQ(cycles.status().started_ns, 100);
  EXPECT_EQ(cycles.status().visited, 5u);
  EXPECT_FALSE(cycles.TickEnds(Completed(3), 450));
  EXPECT_EQ(cycles.status().number, 2u);
  EXPECT_EQ(cycles.status().completed, 1u);
  EXPECT_EQ(cycles.status().last_visited, 8u);
  EXPECT_EQ(cycles.status().last_duration_ns, 350);
  EXPECT_EQ(cycles.status().visited, 0u);
  EXPECT_FALSE(cycles.status().started_ns.has_value());
}

TEST(CycleAccountingTest, ACycleOfLessThanHalfIsShort) {
  for (const auto& [before, now, is_short] : {std::tuple<uint64_t, uint64_t, bool>{4, 2, false},
                                              {4, 1, true},
                                              {5, 2, true},
                                              {5, 3, false},
                                              {1, 0, true},
                                              {0, 0, false},
                                              {0, 9, false},
                                              {9, 100, false},
                                              {UINT64_MAX, 1, true}}) {
    CycleAccounting cycles;
    EXPECT_FALSE(cycles.TickEnds(Completed(before), 0)) << "the first has nothing to be compared with";
    EXPECT_EQ(cycles.TickEnds(Completed(now), 0), is_short) << now << " of " << before;
    EXPECT_EQ(cycles.status().short_cycles, is_short ? 1u : 0u);
  }
}

TEST(CycleAccountingTest, ARestartedCycleIsNeitherCompleteNorShort) {
  CycleAccounting cycles;
  cycles.TickEnds(Completed(10), 0);
  cycles.TickBegins(5);
  cycles.TickEnds(Visited(1), 6);
  EXPECT_FALSE(cycles.TickEnds(kRestarted, 7));
  EXPECT_EQ(cycles.status().restarted, 1u);
  EXPECT_EQ(cycles.status().number, 3u);
  EXPECT_EQ(cycles.status().completed, 1u);
  EXPECT_EQ(cycles.status().last_visited, 10u);
  EXPECT_EQ(cycles.status().visited, 0u);
}

TEST(CycleAccountingTest, ThreeTicksWithoutProgressAreStalled) {
  CycleAccounting cycles;
  cycles.TickEnds(kNoProgress, 0);
  cycles.TickEnds(kNoProgress, 0);
  EXPECT_EQ(cycles.StalledTicks(), 0u);
  cycles.TickEnds(kNoProgress, 0);
  EXPECT_EQ(cycles.StalledTicks(), 3u);
  cycles.TickEnds(kNoProgress, 0);
  EXPECT_EQ(cycles.StalledTicks(), 4u);
  cycles.TickEnds(Visited(1), 0);
  EXPECT_EQ(cycles.StalledTicks(), 0u);
}

TEST(CycleAccountingTest, EachKindOfProgressEndsAStall) {
  for (const CycleAccounting::TickEnd& progress :
       {CycleAccounting::TickEnd{1, false, false, false, false}, CycleAccounting::TickEnd{0, true, false, false, false},
        CycleAccounting::TickEnd{0, false, false, false, true}}) {
    CycleAccounting cycles;
    for (int tick = 0; tick < 5; ++tick) cycles.TickEnds(kNoProgress, 0);
    cycles.TickEnds(progress, 0);
    EXPECT_EQ(cycles.StalledTicks(), 0u);
  }
}

// A host that is not the leader may be held back for weeks.
TEST(CycleAccountingTest, AHostThatIsHeldBackIsNotStalled) {
  CycleAccounting cycles;
  for (int tick = 0; tick < 10; ++tick) cycles.TickEnds(kHeldBack, 0);
  EXPECT_EQ(cycles.StalledTicks(), 0u);
  for (int tick = 0; tick < 2; ++tick) cycles.TickEnds(kNoProgress, 0);
  cycles.TickEnds(kHeldBack, 0);
  cycles.TickEnds(kNoProgress, 0);
  EXPECT_EQ(cycles.StalledTicks(), 3u) << "nor is it progress";
}

TEST(CycleAccountingTest, AClockThatLeapsOverflowsNothing) {
  CycleAccounting cycles;
  cycles.TickBegins(INT64_MIN);
  cycles.TickEnds(Completed(1), INT64_MAX);
  EXPECT_EQ(cycles.status().last_duration_ns, 0);
  cycles.TickBegins(100);
  cycles.TickEnds(Completed(1), 50);
  EXPECT_EQ(cycles.status().last_duration_ns, 0);
}

}  // namespace
}  // namespace caretaker::maintenance
