#include "testing/host/stop_signals.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "absl/strings/str_cat.h"
#include "plugin/host/table_lock_map.h"
#include "testing/host/database.h"
#include "testing/host/rocksdb_engine.h"

namespace caretaker::reference_host {
namespace {

TEST(StopSignalsTest, ASignalStopsEverythingAndABusyHostIsSaidToBeBusy) {
  const sigset_t blocked = StopSignals::Blocked();
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, nullptr), 0);
  const std::string path = absl::StrCat(::testing::TempDir(), "/db");
  ASSERT_TRUE(Database::Seed(path, 2).ok());
  auto database = Database::Open(path);
  ASSERT_TRUE(database.ok()) << database.status();
  host::TableLockMap locks;
  RocksDbEngine engine((*database)->db(), (*database)->data(), 50);
  uint64_t handle = 0;
  maintenance::LockOutcome outcome = maintenance::LockOutcome::kBusy;
  ASSERT_TRUE(locks.Lock("n", "held", 0, &outcome, &handle).ok());

  std::promise<void> still_busy;
  {
    StopSignals signals(&engine, &locks, [&] { still_busy.set_value(); });
    bool cancelled = true;
    EXPECT_TRUE(signals.IsCancelled(&cancelled).ok());
    EXPECT_FALSE(cancelled);
    ASSERT_EQ(kill(getpid(), SIGTERM), 0);
    // This host does not end in time, as one in a flush of RocksDB would not.
    still_busy.get_future().get();
    EXPECT_TRUE(signals.IsCancelled(&cancelled).ok());
    EXPECT_TRUE(cancelled);
  }
  maintenance::TableGeneration generation;
  generation.location = "tables/00000001";
  maintenance::OperationResult result;
  EXPECT_EQ(engine.Maintain({}, generation, &result).code(), absl::StatusCode::kCancelled);
  uint64_t never = 0;
  ASSERT_TRUE(locks.Lock("n", "held", int64_t{3600} * 1'000'000'000, &outcome, &never).ok());
  EXPECT_EQ(outcome, maintenance::LockOutcome::kCancelled);
}

}  // namespace
}  // namespace caretaker::reference_host
