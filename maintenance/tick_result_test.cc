#include "maintenance/tick_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "maintenance/outcome.h"

namespace caretaker::maintenance {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(TickResultTest, EveryEventHasTheSameWords) {
  const auto words = [](const TickResult& result) {
    std::string names;
    for (const absl::string_view word : absl::StrSplit(EventText(result), ' ')) {
      absl::StrAppend(&names, word.substr(0, word.find('=')), " ");
    }
    return names;
  };
  TickResult busy;
  busy.tick_number = 9;
  busy.outcomes.fill(3);
  busy.ended_by = EndedBy::kTime;
  EXPECT_EQ(words(TickResult()), words(busy));
  EXPECT_THAT(EventText(busy), HasSubstr(" engine_timed_out=3 "));
  EXPECT_THAT(EventText(busy), HasSubstr(" ended_by=time "));
}

TEST(TickResultTest, EventsAreBoundedAndPrintable) {
  TickResult result;
  result.status = absl::InternalError(std::string(10000, '\n'));
  for (size_t i = 0; i < TickResult::kSamplesMax; ++i) {
    result.samples.push_back({Outcome::kCorrupt, std::string(2000, 'x')});
  }
  const std::string text = EventText(result);
  EXPECT_EQ(text.size(), kEventTextSizeMax);
  EXPECT_THAT(text, EndsWith("..."));
  EXPECT_THAT(text, HasSubstr("error=\"\\x0a\\x0a"));
  for (const char c : text) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
}

TEST(TickResultTest, SeverityFollowsTheWorstThing) {
  TickResult result;
  EXPECT_EQ(EventSeverity(result), Severity::kInfo);
  for (size_t i = 0; i < kOutcomeCount; ++i) {
    TickResult one;
    one.outcomes[i] = 1;
    const bool well = EndedWell(static_cast<Outcome>(i));
    EXPECT_EQ(EventSeverity(one), well ? Severity::kInfo : Severity::kWarning) << OutcomeName(static_cast<Outcome>(i));
  }
  EXPECT_TRUE(EndedWell(Outcome::kMaintained));
  EXPECT_FALSE(EndedWell(Outcome::kCorrupt));
  result.ended_by = EndedBy::kFenced;
  EXPECT_EQ(EventSeverity(result), Severity::kWarning);
  result.status = absl::UnavailableError("scan_page: no answer");
  EXPECT_EQ(EventSeverity(result), Severity::kError);
}

TEST(TickResultTest, CountsAddUpOnlyWhenTheyDo) {
  TickResult result;
  result.backlog_before = 2;
  result.scanned = 3;
  result.outcomes[0] = 1;
  result.outcomes[15] = 1;
  result.backlog_after = 3;
  EXPECT_TRUE(result.CountsAddUp());
  ++result.backlog_after;
  EXPECT_FALSE(result.CountsAddUp());
}

}  // namespace
}  // namespace caretaker::maintenance
