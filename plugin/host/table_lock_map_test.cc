#include "plugin/host/table_lock_map.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

namespace caretaker::host {
namespace {

using maintenance::LockOutcome;

constexpr int64_t kLong = int64_t{3600} * 1'000'000'000;

LockOutcome Lock(TableLockMap* map, const char* name, int64_t wait_ns, uint64_t* handle) {
  LockOutcome outcome = LockOutcome::kBusy;
  EXPECT_TRUE(map->Lock("n", name, wait_ns, &outcome, handle).ok());
  return outcome;
}

TEST(TableLockMapTest, ALockIsExclusiveAndForgottenWhenIdle) {
  TableLockMap map;
  uint64_t first = 0;
  uint64_t other = 0;
  EXPECT_EQ(Lock(&map, "a", 0, &first), LockOutcome::kAcquired);
  EXPECT_EQ(Lock(&map, "a", 0, &other), LockOutcome::kBusy);
  EXPECT_EQ(Lock(&map, "a", 1'000'000, &other), LockOutcome::kBusy) << "a wait ends";
  EXPECT_EQ(Lock(&map, "b", 0, &other), LockOutcome::kAcquired) << "another table's lock is another lock";
  EXPECT_EQ(map.size(), 2u);
  EXPECT_TRUE(map.Unlock(first).ok());
  EXPECT_TRUE(map.Unlock(other).ok());
  EXPECT_EQ(map.size(), 0u);
  EXPECT_EQ(map.Unlock(first).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(TableLockMapTest, EightThreadsCountRight) {
  TableLockMap map;
  int count = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        uint64_t handle = 0;
        ASSERT_EQ(Lock(&map, "a", kLong, &handle), LockOutcome::kAcquired);
        ++count;
        ASSERT_TRUE(map.Unlock(handle).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 4000);
  EXPECT_EQ(map.size(), 0u);
}

TEST(TableLockMapTest, NobodyOvertakesAWaiter) {
  TableLockMap map;
  uint64_t holder = 0;
  ASSERT_EQ(Lock(&map, "a", 0, &holder), LockOutcome::kAcquired);
  std::future<uint64_t> waiter = std::async(std::launch::async, [&] {
    uint64_t handle = 0;
    EXPECT_EQ(Lock(&map, "a", kLong, &handle), LockOutcome::kAcquired);
    return handle;
  });
  while (map.waiting() < 1) std::this_thread::yield();
  ASSERT_TRUE(map.Unlock(holder).ok());
  uint64_t late = 0;
  EXPECT_EQ(Lock(&map, "a", 0, &late), LockOutcome::kBusy) << "the lock is the waiter's, also before it wakes";
  EXPECT_TRUE(map.Unlock(waiter.get()).ok());
  EXPECT_EQ(map.size(), 0u);
}

TEST(TableLockMapTest, CancelledWaitsEnd) {
  TableLockMap map;
  uint64_t handle = 0;
  ASSERT_EQ(Lock(&map, "a", 0, &handle), LockOutcome::kAcquired);
  std::future<LockOutcome> waiting = std::async(std::launch::async, [&] {
    uint64_t never = 0;
    return Lock(&map, "a", kLong, &never);
  });
  while (map.waiting() < 1) std::this_thread::yield();
  map.CancelWaits();
  EXPECT_EQ(waiting.get(), LockOutcome::kCancelled);
  EXPECT_TRUE(map.Unlock(handle).ok());
  EXPECT_EQ(Lock(&map, "a", kLong, &handle), LockOutcome::kAcquired) << "a free lock is given all the same";
  EXPECT_TRUE(map.Unlock(handle).ok());
}

}  // namespace
}  // namespace caretaker::host
