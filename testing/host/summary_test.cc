#include "testing/host/summary.h"

#include <gtest/gtest.h>

#include "plugin/boundary.h"

namespace caretaker::reference_host {
namespace {

maintenance_tick_context Tick(int64_t duration_ms) {
  auto tick = boundary::Sized<maintenance_tick_context>();
  tick.tick_number = 3;
  tick.cycle_number = 2;
  tick.scanned = 128;
  tick.backlog_after = 7;
  tick.ended_by = MAINTENANCE_ENDED_BY_OPERATIONS;
  tick.duration_ns = duration_ms * 1'000'000;
  return tick;
}

std::string Text(const Summary& summary) { return summary.Text(1, {100, 20}, {50, 10}); }

TEST(SummaryTest, ATickIsOneLineWithItsOutcomes) {
  maintenance_tick_context tick = Tick(12);
  tick.outcomes[MAINTENANCE_OUTCOME_MAINTAINED] = 96;
  tick.outcomes[MAINTENANCE_OUTCOME_CORRUPT] = 1;
  EXPECT_EQ(TickLine(absl::OkStatus(), tick),
            "tick 3 cycle 2 scanned 128 maintained 96 corrupt 1 backlog 7 ended_by operations 12.0 ms");
  EXPECT_EQ(TickLine(absl::UnavailableError("no disk"), Tick(1)),
            "tick 3 cycle 2 scanned 128 backlog 7 ended_by failed 1.0 ms");
}

TEST(SummaryTest, OutcomesAndReasonsOfALaterPluginAreShownByNumber) {
  maintenance_tick_context tick = Tick(1);
  tick.outcomes[20] = 4;
  tick.ended_by = 99;
  EXPECT_EQ(TickLine(absl::OkStatus(), tick),
            "tick 3 cycle 2 scanned 128 outcome_20 4 backlog 7 ended_by reason_99 1.0 ms");
}

TEST(SummaryTest, TicksAddUp) {
  Summary summary;
  maintenance_tick_context tick = Tick(1);
  tick.outcomes[MAINTENANCE_OUTCOME_MAINTAINED] = 2;
  summary.Add(absl::OkStatus(), tick);
  summary.Add(absl::OkStatus(), tick);
  summary.Add(absl::UnavailableError("no disk"), Tick(1));
  EXPECT_EQ(Text(summary),
            "visits by outcome:\n"
            "  maintained                   4\n"
            "ticks:                         3, 1 failed, 1 whole cycles\n"
            "tick time:          p50 1.0 ms, p99 1.0 ms, max 1.0 ms\n"
            "bytes on disk:               100 before,           50 after\n"
            "entries:                      20 before,           10 after\n");
}

TEST(SummaryTest, QuantilesAreTheNearestRanks) {
  Summary summary;
  for (int ms = 100; ms >= 1; --ms) summary.Add(absl::OkStatus(), Tick(ms));
  EXPECT_NE(Text(summary).find("p50 50.0 ms, p99 99.0 ms, max 100.0 ms"), std::string::npos) << Text(summary);
}

TEST(SummaryTest, ALongRunIsJudgedByItsLastTicks) {
  Summary summary;
  summary.Add(absl::OkStatus(), Tick(900));
  for (size_t i = 0; i < Summary::kTickTimesMax; ++i) summary.Add(absl::OkStatus(), Tick(400));
  for (size_t i = 0; i < Summary::kTickTimesMax; ++i) summary.Add(absl::OkStatus(), Tick(2));
  EXPECT_NE(Text(summary).find("p50 2.0 ms, p99 2.0 ms, max 900.0 ms"), std::string::npos) << Text(summary);
}

TEST(SummaryTest, NoTickAndNoCountAreSaid) {
  const std::string text = Summary().Text(0, {1, 2}, {1, std::nullopt});
  EXPECT_NE(text.find("0, 0 failed, 0 whole cycles"), std::string::npos) << text;
  EXPECT_NE(text.find("not counted after"), std::string::npos) << text;
}

}  // namespace
}  // namespace caretaker::reference_host
