#include "testing/host/operation_watchdog.h"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

namespace caretaker::reference_host {
namespace {

using Verdict = OperationWatchdog::Verdict;

constexpr int64_t kMillisecondNs = 1'000'000;

TEST(OperationWatchdogTest, OperationsWithoutDeadlineAreLeftAlone) {
  OperationWatchdog watchdog;
  watchdog.Begin(std::nullopt);
  EXPECT_FALSE(*watchdog.flag());
  EXPECT_EQ(watchdog.End(), Verdict::kInTime);
}

TEST(OperationWatchdogTest, TheFlagIsRaisedWhenTimeIsUp) {
  OperationWatchdog watchdog;
  watchdog.Begin(kMillisecondNs);
  while (!*watchdog.flag()) std::this_thread::yield();
  EXPECT_EQ(watchdog.End(), Verdict::kTimedOut);
}

TEST(OperationWatchdogTest, NoTimeRaisesTheFlagAtOnce) {
  OperationWatchdog watchdog;
  for (const int64_t remaining_ns : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    watchdog.Begin(remaining_ns);
    EXPECT_TRUE(*watchdog.flag());
    EXPECT_EQ(watchdog.End(), Verdict::kTimedOut);
  }
}

TEST(OperationWatchdogTest, TheLongestTimeDoesNotOverflow) {
  OperationWatchdog watchdog;
  watchdog.Begin(std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(*watchdog.flag());
  EXPECT_EQ(watchdog.End(), Verdict::kInTime);
}

TEST(OperationWatchdogTest, EachOperationHasItsOwnTime) {
  OperationWatchdog watchdog;
  watchdog.Begin(0);
  EXPECT_EQ(watchdog.End(), Verdict::kTimedOut);
  watchdog.Begin(std::nullopt);
  EXPECT_FALSE(*watchdog.flag());
  EXPECT_EQ(watchdog.End(), Verdict::kInTime);
}

TEST(OperationWatchdogTest, CancelIsForGoodAndBeatsTheDeadline) {
  OperationWatchdog watchdog;
  watchdog.Begin(0);
  watchdog.Cancel();
  EXPECT_TRUE(*watchdog.flag());
  EXPECT_EQ(watchdog.End(), Verdict::kCancelled);
  watchdog.Begin(std::nullopt);
  EXPECT_TRUE(*watchdog.flag());
  EXPECT_EQ(watchdog.End(), Verdict::kCancelled);
}

}  // namespace
}  // namespace caretaker::reference_host
