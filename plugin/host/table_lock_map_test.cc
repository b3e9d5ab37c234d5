#include "plugin/host/table_lock_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <future>
#include <new>
#include <thread>
#include <vector>

namespace {

// Counts down to a failing allocation of this thread. Negative: none fails.
thread_local long g_allocations_until_failure = -1;

}  // namespace

void* operator new(size_t size) {
  if (g_allocations_until_failure == 0) throw std::bad_alloc();
  if (g_allocations_until_failure > 0) --g_allocations_until_failure;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

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

TEST(TableLockMapTest, WaitersAreServedInTheOrderOfTheirArrival) {
  TableLockMap map;
  uint64_t holder = 0;
  ASSERT_EQ(Lock(&map, "a", 0, &holder), LockOutcome::kAcquired);
  std::vector<int> order;  // Written under the table's lock.
  std::vector<std::thread> waiters;
  for (int waiter = 0; waiter < 4; ++waiter) {
    waiters.emplace_back([&map, &order, waiter] {
      uint64_t handle = 0;
      ASSERT_EQ(Lock(&map, "a", kLong, &handle), LockOutcome::kAcquired);
      order.push_back(waiter);
      ASSERT_TRUE(map.Unlock(handle).ok());
    });
    while (map.waiting() < static_cast<size_t>(waiter) + 1) std::this_thread::yield();
  }
  ASSERT_TRUE(map.Unlock(holder).ok());
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST(TableLockMapTest, TheLongestWaitWaits) {
  TableLockMap map;
  uint64_t holder = 0;
  ASSERT_EQ(Lock(&map, "a", 0, &holder), LockOutcome::kAcquired);
  std::future<LockOutcome> waiting = std::async(std::launch::async, [&] {
    uint64_t handle = 0;
    return Lock(&map, "a", INT64_MAX, &handle);
  });
  while (map.waiting() < 1) std::this_thread::yield();
  ASSERT_TRUE(map.Unlock(holder).ok());
  EXPECT_EQ(waiting.get(), LockOutcome::kAcquired);
}

// A table whose lock nobody could give back would be locked for ever.
TEST(TableLockMapTest, OutOfMemoryLeavesNoLockBehind) {
  TableLockMap map;
  bool failed = true;
  for (long allocation = 0; failed; ++allocation) {
    LockOutcome outcome = LockOutcome::kBusy;
    uint64_t handle = 0;
    failed = false;
    g_allocations_until_failure = allocation;
    try {
      (void)map.Lock("a-namespace-of-some-length", "and-a-name-of-some-length", 0, &outcome, &handle);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    g_allocations_until_failure = -1;
    ASSERT_EQ(map.size(), failed ? 0u : 1u) << allocation;
    if (!failed) {
      EXPECT_GT(allocation, 3) << "not much failed";
      EXPECT_EQ(outcome, LockOutcome::kAcquired);
      EXPECT_TRUE(map.Unlock(handle).ok());
    }
  }
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
