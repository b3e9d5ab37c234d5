// What turns the stop switch, and what it does then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/string_view.h"
#include "testing/host/stop_signals.h"
#include "testing/host/stop_switch.h"

namespace caretaker::reference_host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::chrono::hours kLong(1);

void SayNothing(absl::string_view) {}

bool IsCancelled(StopSwitch* stop) {
  bool cancelled = false;
  EXPECT_TRUE(stop->IsCancelled(&cancelled).ok());
  return cancelled;
}

TEST(StopSwitchTest, ItIsTurnedOnce) {
  StopSwitch stop;
  int acted = 0;
  const StopSwitch::Action action(&stop, [&acted] { ++acted; });
  EXPECT_FALSE(stop.stopped());
  EXPECT_FALSE(IsCancelled(&stop));
  stop.Stop();
  stop.Stop();
  EXPECT_TRUE(stop.stopped());
  EXPECT_TRUE(IsCancelled(&stop));
  EXPECT_EQ(acted, 1);
}

TEST(StopSwitchTest, ALateActionIsRunAtOnce) {
  StopSwitch stop;
  stop.Stop();
  int acted = 0;
  const StopSwitch::Action action(&stop, [&acted] { ++acted; });
  EXPECT_EQ(acted, 1);
}

TEST(StopSwitchTest, AnActionEndsWithItsObject) {
  StopSwitch stop;
  int acted = 0;
  {
    const StopSwitch::Action action(&stop, [&acted] { ++acted; });
  }
  stop.Stop();
  EXPECT_EQ(acted, 0);
}

TEST(StopSwitchTest, StopWakesWhoeverWaits) {
  StopSwitch stop;
  std::thread stopper([&stop] { stop.Stop(); });
  EXPECT_TRUE(stop.WaitFor(kLong));
  stopper.join();
  EXPECT_TRUE(stop.WaitFor(std::chrono::milliseconds(0)));
}

TEST(StopSwitchTest, TheHostMayActUntilItEnds) {
  StopSwitch stop;
  bool may_act = false;
  std::optional<uint64_t> fence_token;
  EXPECT_TRUE(stop.MayAct(&may_act, &fence_token).ok());
  EXPECT_TRUE(may_act);
  EXPECT_FALSE(fence_token.has_value());
}

class StopSignalsTest : public ::testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() { StopSignals::Block(); }
};

TEST_P(StopSignalsTest, TheFirstSignalTurnsTheSwitch) {
  StopSwitch stop;
  const auto signals = StopSignals::Start(&stop, SayNothing, kLong);
  ASSERT_TRUE(signals.ok()) << signals.status();
  kill(getpid(), GetParam());
  EXPECT_TRUE(stop.WaitFor(kLong));
}

TEST_P(StopSignalsTest, ASignalBeforeTheStartIsNotLost) {
  kill(getpid(), GetParam());
  StopSwitch stop;
  const auto signals = StopSignals::Start(&stop, SayNothing, kLong);
  ASSERT_TRUE(signals.ok()) << signals.status();
  EXPECT_TRUE(stop.WaitFor(kLong));
}

TEST_P(StopSignalsTest, ASecondSignalEndsTheProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        StopSignals::Block();
        StopSwitch stop;
        const auto signals = StopSignals::Start(&stop, SayNothing, kLong);
        kill(getpid(), GetParam());
        stop.WaitFor(kLong);
        kill(getpid(), GetParam());
        pause();
      },
      ::testing::ExitedWithCode(128 + GetParam()), "");
}

TEST_P(StopSignalsTest, TheHostSaysThatItStopsAndWhatItIsLateWith) {
  StopSwitch stop;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> said;
  const auto say = [&](absl::string_view words) {
    const std::lock_guard<std::mutex> lock(mutex);
    said.emplace_back(words);
    changed.notify_one();
  };
  auto signals = StopSignals::Start(&stop, say, std::chrono::milliseconds(0));
  ASSERT_TRUE(signals.ok()) << signals.status();
  (*signals)->set_phase("opening the database");
  kill(getpid(), GetParam());
  {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return said.size() == 2; });
  }
  signals->reset();
  EXPECT_THAT(said, ElementsAre("stops at the next table; a second signal ends the process at once",
                                HasSubstr("still stopping after 0 ms: opening the database; a second signal")));
}

TEST(ReportSignalTest, ItIsAnsweredAndStopsNothing) {
  StopSignals::Block();
  StopSwitch stop;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> said;
  const auto say = [&](absl::string_view words) {
    const std::lock_guard<std::mutex> lock(mutex);
    said.emplace_back(words);
    changed.notify_one();
  };
  const auto wait_for = [&](size_t count) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return said.size() == count; });
  };
  const auto signals = StopSignals::Start(&stop, say, kLong);
  ASSERT_TRUE(signals.ok()) << signals.status();
  (*signals)->set_phase("opening the database");
  kill(getpid(), SIGUSR1);
  wait_for(1);
  {
    const StopSignals::Report report(signals->get(), [&] { say("the report"); });
    kill(getpid(), SIGUSR1);
    wait_for(2);
  }
  kill(getpid(), SIGUSR1);
  wait_for(3);
  EXPECT_THAT(said, ElementsAre("nothing to report yet: opening the database", "the report",
                                "nothing to report yet: opening the database"));
  EXPECT_FALSE(stop.stopped());
}

INSTANTIATE_TEST_SUITE_P(Signals, StopSignalsTest, ::testing::Values(SIGTERM, SIGINT));

}  // namespace
}  // namespace caretaker::reference_host
