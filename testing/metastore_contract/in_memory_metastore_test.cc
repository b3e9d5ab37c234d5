#include "testing/fakes/in_memory_metastore.h"

#include <memory>

#include "gtest/gtest.h"
#include "testing/metastore_contract/metastore_contract.h"

namespace caretaker::testing {
namespace {

class InMemoryUnderTest : public MetaStoreUnderTest {
 public:
  registry::MetaStore& store() override { return store_; }
  void Put(absl::string_view key, absl::string_view value) override { store_.Put(key, value); }
  void Erase(absl::string_view key) override { store_.Erase(key); }

 private:
  InMemoryMetaStore store_;
};

INSTANTIATE_TEST_SUITE_P(InMemory, MetaStoreContractTest,
                         ::testing::Values([] { return std::make_unique<InMemoryUnderTest>(); }));

TEST(InMemoryMetaStoreTest, WrongFenceTokenIsFenced) {
  InMemoryMetaStore store;
  store.Put("tbl/ns/a", "one");
  store.RequireFenceToken(7);
  registry::CompareAndSetOutcome outcome = registry::CompareAndSetOutcome::kIndeterminate;
  for (const std::optional<uint64_t> wrong : {std::optional<uint64_t>(), std::optional<uint64_t>(6)}) {
    ASSERT_TRUE(store.CompareAndSet({std::nullopt, wrong}, "tbl/ns/a", "one", "two", &outcome).ok());
    EXPECT_EQ(outcome, registry::CompareAndSetOutcome::kFenced);
  }
  EXPECT_EQ(store.Read("tbl/ns/a"), "one");
  ASSERT_TRUE(store.CompareAndSet({std::nullopt, 7}, "tbl/ns/a", "one", "two", &outcome).ok());
  EXPECT_EQ(outcome, registry::CompareAndSetOutcome::kSwapped);
}

}  // namespace
}  // namespace caretaker::testing
