#include "maintenance/cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "registry/registration_codec.h"
#include "registry/table_registry.h"
#include "testing/fakes/in_memory_metastore.h"

namespace {

// Counts down to a failing allocation. Negative: none fails.
long g_allocations_until_failure = -1;

}  // namespace

void* operator new(size_t size) {
  if (g_allocations_until_failure == 0) throw std::bad_alloc();
  if (g_allocations_until_failure > 0) --g_allocations_until_failure;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace caretaker::maintenance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CursorTest : public ::testing::Test {
 protected:
  // Reads the cursor's next page, of at most `limit` tables.
  void Scan(uint32_t limit) { ASSERT_TRUE(registry_.ScanTablesPage({}, cursor_.continuation(), limit, &page_).ok()); }
  uint64_t FingerprintOf(const std::string& name) { return registry::Fingerprint("tbl/n/" + name); }
  std::vector<std::string> Unfinished() {
    std::vector<std::string> keys;
    const Backlog& backlog = cursor_.backlog();
    for (size_t i = backlog.Next(0); i != backlog.end(); i = backlog.Next(i + 1))
      keys.emplace_back(backlog.page().key(i));
    return keys;
  }

  testing::InMemoryMetaStore store_;
  registry::JsonRegistrationCodec codec_;
  registry::TableRegistry registry_{&store_, &codec_, "tbl/"};
  registry::TableRegistrationPage page_;
  Cursor cursor_;
  CursorState state_;
};

TEST_F(CursorTest, APageIsTakenOverWholeOrNotAtAll) {
  // Continuations that grow, so that each one needs memory of its own.
  for (int i = 1; i <= 5; ++i)
    store_.Put(absl::StrCat("tbl/n/", i, std::string(static_cast<size_t>(100 * i), 'x')), "v");
  int failures = 0;
  for (int page = 0; page < 4; ++page) {
    Scan(1);
    const std::string before(cursor_.continuation());
    bool failed = true;
    for (long allocation = 0; failed; ++allocation) {
      g_allocations_until_failure = allocation;
      try {
        cursor_.Advance(&page_);
        failed = false;
      } catch (const std::bad_alloc&) {
        ++failures;
      }
      g_allocations_until_failure = -1;
      if (failed) {
        ASSERT_EQ(cursor_.continuation(), before) << "page " << page << ", allocation " << allocation;
        ASSERT_TRUE(cursor_.backlog().empty());
      }
    }
    ASSERT_NE(cursor_.continuation(), before);
    cursor_.backlog().Finish(0);
  }
  EXPECT_GE(failures, 3);
}

TEST_F(CursorTest, AResumedPageHasItsFinishedTablesBehindIt) {
  for (const char* name : {"a", "b", "c", "d"}) store_.Put(absl::StrCat("tbl/n/", name), "v");
  cursor_.Resume({"", {FingerprintOf("c"), FingerprintOf("a")}});
  Scan(4);
  cursor_.Advance(&page_);
  EXPECT_THAT(Unfinished(), ElementsAre("tbl/n/b", "tbl/n/d"));
  cursor_.State(100, &state_);
  EXPECT_EQ(state_.continuation, "");
  EXPECT_THAT(state_.finished, ElementsAre(FingerprintOf("a"), FingerprintOf("c")));
}

TEST_F(CursorTest, WhatAResumedCursorNamesIsKeptUntilItIsMet) {
  for (const char* name : {"a", "b", "c"}) store_.Put(absl::StrCat("tbl/n/", name), "v");
  cursor_.Resume({"", {FingerprintOf("a"), FingerprintOf("b")}});
  // Before anything was read.
  cursor_.State(100, &state_);
  EXPECT_THAT(state_.finished, ::testing::UnorderedElementsAre(FingerprintOf("a"), FingerprintOf("b")));
  // A page shorter than the one that was exported.
  Scan(1);
  cursor_.Advance(&page_);
  EXPECT_THAT(Unfinished(), IsEmpty());
  cursor_.State(100, &state_);
  EXPECT_THAT(state_.finished, ElementsAre(FingerprintOf("b")));
  Scan(2);
  cursor_.Advance(&page_);
  EXPECT_THAT(Unfinished(), ElementsAre("tbl/n/c"));
}

TEST_F(CursorTest, AnExportNamesNoMoreThanItMay) {
  for (const char* name : {"a", "b"}) store_.Put(absl::StrCat("tbl/n/", name), "v");
  cursor_.Resume({"", {1, 2, 3, 4, 5, 6}});
  Scan(2);
  cursor_.Advance(&page_);
  cursor_.backlog().Finish(0);
  cursor_.State(4, &state_);
  EXPECT_EQ(state_.finished.size(), 4u);
  EXPECT_EQ(state_.finished[0], FingerprintOf("a")) << "the page's own come first";
}

TEST_F(CursorTest, ANewCycleForgetsWhatWasResumed) {
  store_.Put("tbl/n/a", "v");
  cursor_.Resume({"", {FingerprintOf("gone"), FingerprintOf("b")}});
  Scan(2);
  cursor_.Advance(&page_);
  cursor_.backlog().Finish(0);
  cursor_.Restart();
  store_.Put("tbl/n/b", "v");
  Scan(2);
  cursor_.Advance(&page_);
  EXPECT_THAT(Unfinished(), ElementsAre("tbl/n/a", "tbl/n/b"));
}

}  // namespace
}  // namespace caretaker::maintenance
