#include "maintenance/visit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"

namespace caretaker::maintenance {
namespace {

TEST(VisitLogTest, TellsWhatRunsAndSinceWhen) {
  VisitLog log;
  EXPECT_EQ(log.Running().phase, Phase::kIdle);
  log.Begin("tbl/n/a", 100);
  EXPECT_EQ(log.Running().phase, Phase::kLock);
  EXPECT_EQ(log.Running().key, "tbl/n/a");
  log.Enter(Phase::kOperation, 200);
  EXPECT_EQ(log.Running().phase, Phase::kOperation);
  EXPECT_EQ(log.Running().since_ns, 200);
  EXPECT_EQ(log.Running().key, "tbl/n/a");
  log.Rest(300);
  EXPECT_EQ(log.Running().phase, Phase::kIdle);
  EXPECT_EQ(log.Running().key, "");
}

TEST(VisitLogTest, KeepsTheNewestVisitsNewestFirst) {
  VisitLog log;
  EXPECT_TRUE(log.Recent().empty());
  for (int i = 0; i < 200; ++i) {
    log.Finish(absl::StrCat("tbl/n/", i), Outcome::kUnchanged, 7, i);
    EXPECT_EQ(log.Recent().size(), std::min<size_t>(static_cast<size_t>(i) + 1, VisitLog::kRecentMax));
    EXPECT_EQ(log.Recent()[0].key, absl::StrCat("tbl/n/", i));
  }
  EXPECT_EQ(log.Recent().back().key, "tbl/n/136");
  EXPECT_EQ(log.Recent().back().at_ns, 136);
  EXPECT_EQ(log.Recent().back().cycle, 7u);
}

TEST(VisitLogTest, LongKeysAreCut) {
  VisitLog log;
  log.Begin(std::string(1024, 'k'), 0);
  EXPECT_EQ(log.Running().key.size(), VisitLog::kKeySizeMax);
  log.Finish(std::string(1024, 'k'), Outcome::kCorrupt, 1, 0);
  EXPECT_EQ(log.Recent()[0].key.size(), VisitLog::kKeySizeMax);
}

// For the thread sanitizer.
TEST(VisitLogTest, IsReadWhileATickWritesIt) {
  VisitLog log;
  std::atomic<bool> over{false};
  std::thread reader([&] {
    while (!over) {
      const RunningVisit running = log.Running();
      EXPECT_TRUE(running.key.empty() || running.key == "tbl/n/a");
      for (const RecentVisit& visit : log.Recent()) EXPECT_EQ(visit.key, "tbl/n/a");
    }
  });
  for (int i = 0; i < 10'000; ++i) {
    log.Begin("tbl/n/a", i);
    log.Enter(Phase::kOperation, i);
    log.Finish("tbl/n/a", Outcome::kMaintained, 1, i);
    log.Rest(i);
  }
  over = true;
  reader.join();
}

}  // namespace
}  // namespace caretaker::maintenance
