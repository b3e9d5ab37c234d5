#include "maintenance/failure_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "maintenance/outcome.h"

namespace caretaker::maintenance {
namespace {

using ::testing::ElementsAre;

constexpr Outcome kFailed = Outcome::kEngineFailed;

// The cycles of 1..count in which a table that always fails is tried.
std::vector<uint64_t> Attempts(FailureMemory* memory, uint64_t count) {
  std::vector<uint64_t> attempts;
  for (uint64_t cycle = 1; cycle <= count; ++cycle) {
    if (!memory->PassesOver("tbl/n/a", 7, cycle)) {
      attempts.push_back(cycle);
      memory->Failed("tbl/n/a", 7, cycle, kFailed, "bug");
    }
    memory->EndCycle(cycle);
  }
  return attempts;
}

TEST(FailureMemoryTest, AttemptsOfAFailingTableGrowRare) {
  FailureMemory memory(4096);
  EXPECT_THAT(Attempts(&memory, 64), ElementsAre(1, 3, 6, 11, 20, 37));
}

TEST(FailureMemoryTest, TheLimitOfCyclesIsExact) {
  FailureMemory memory(3);
  EXPECT_THAT(Attempts(&memory, 16), ElementsAre(1, 3, 6, 10, 14));
  FailureMemory longest(1);
  EXPECT_THAT(Attempts(&longest, 7), ElementsAre(1, 3, 5, 7));
}

TEST(FailureMemoryTest, ALimitOfZeroRemembersNothing) {
  FailureMemory memory(0);
  EXPECT_THAT(Attempts(&memory, 3), ElementsAre(1, 2, 3));
  EXPECT_EQ(memory.size(), 0u);
}

TEST(FailureMemoryTest, LongStreaksDoNotOverflow) {
  FailureMemory memory(4096);
  for (uint64_t failure = 0; failure < 100; ++failure) memory.Failed("k", 7, 1, kFailed, "");
  EXPECT_EQ(memory.Worst(1)[0].due_cycle, 4098u);
  EXPECT_EQ(memory.Worst(1)[0].streak, 100u);
}

TEST(FailureMemoryTest, EachWayOutGivesOneNewAttempt) {
  FailureMemory memory(8);
  const auto fail = [&] { memory.Failed("k", 7, 1, kFailed, ""); };
  fail();
  EXPECT_TRUE(memory.PassesOver("k", 7, 2));
  EXPECT_FALSE(memory.PassesOver("k", 8, 2)) << "a new generation";
  EXPECT_EQ(memory.size(), 0u);
  fail();
  EXPECT_TRUE(memory.Forget("k"));
  EXPECT_FALSE(memory.Forget("k"));
  EXPECT_FALSE(memory.PassesOver("k", 7, 2));
  fail();
  memory.Succeeded("k");
  EXPECT_FALSE(memory.PassesOver("k", 7, 2));
  fail();
  EXPECT_EQ(memory.ForgetAll(), 1u);
  EXPECT_FALSE(memory.PassesOver("k", 7, 2));
  fail();
  EXPECT_FALSE(memory.PassesOver("k", 7, 3)) << "the cool-down is over";
  memory.Failed("k", 8, 3, kFailed, "");
  EXPECT_EQ(memory.Worst(1)[0].streak, 1u) << "another generation's failures are not this one's";
}

TEST(FailureMemoryTest, TablesNotMetInAWholeCycleAreForgotten) {
  FailureMemory memory(8);
  memory.Failed("stays", 7, 1, kFailed, "");
  memory.Failed("dropped", 7, 1, kFailed, "");
  memory.EndCycle(1);
  EXPECT_EQ(memory.size(), 2u);
  EXPECT_TRUE(memory.PassesOver("stays", 7, 2));
  memory.EndCycle(2);
  EXPECT_EQ(memory.size(), 1u);
  EXPECT_TRUE(memory.Forget("stays"));
  EXPECT_EQ(memory.bytes(), 0u);
}

TEST(FailureMemoryTest, MemoryIsCappedWhateverFails) {
  FailureMemory memory(8);
  memory.Failed("chronic", 7, 1, kFailed, "");
  memory.Failed("chronic", 7, 3, kFailed, "");
  uint64_t left = 0;
  for (int table = 0; table < 20000; ++table) {
    left += memory.Failed(absl::StrCat("tbl/n/", table, std::string(static_cast<size_t>(table % 900), 'x')), 7, 3,
                          kFailed, std::string(5000, 'm'));
    ASSERT_LE(memory.bytes(), FailureMemory::kBytesMax);
  }
  EXPECT_EQ(left, 20001 - memory.size());
  EXPECT_TRUE(memory.PassesOver("chronic", 7, 4)) << "the shortest streak leaves first";
  EXPECT_EQ(memory.Worst(1)[0].key, "chronic");
  EXPECT_LE(memory.Worst(2)[1].message.size(), FailureMemory::kMessageSizeMax);
}

}  // namespace
}  // namespace caretaker::maintenance
