// What registry/metastore.h says, as tests for any MetaStore.
//
// A test binary links this target and says which stores it is about:
//
//   INSTANTIATE_TEST_SUITE_P(InMemory, MetaStoreContractTest, ::testing::Values(MetaStoreMaker(...)));
//
// Nothing is asked here that the interface leaves open: pages may be short, or empty, and keys in any order.
#ifndef CARETAKER_TESTING_METASTORE_CONTRACT_METASTORE_CONTRACT_H_
#define CARETAKER_TESTING_METASTORE_CONTRACT_METASTORE_CONTRACT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "registry/metastore.h"

namespace caretaker::testing {

// An empty store, and the way in which others change what it holds. Put and Erase may be called from any thread.
class MetaStoreUnderTest {
 public:
  virtual ~MetaStoreUnderTest() = default;
  virtual registry::MetaStore& store() = 0;
  virtual void Put(absl::string_view key, absl::string_view value) = 0;
  virtual void Erase(absl::string_view key) = 0;
};

using MetaStoreMaker = std::function<std::unique_ptr<MetaStoreUnderTest>()>;

class MetaStoreContractTest : public ::testing::TestWithParam<MetaStoreMaker> {
 protected:
  void SetUp() override { under_test_ = GetParam()(); }

  registry::MetaStore& store() { return under_test_->store(); }
  void Put(absl::string_view key, absl::string_view value) { under_test_->Put(key, value); }
  void Erase(absl::string_view key) { under_test_->Erase(key); }

  // `count` keys "tbl/ns/<6 digits>", each with its key as its value, in order.
  std::vector<std::string> PutTables(int count);
  // The value that Get delivers; fails the test unless that is exactly one.
  std::string Value(absl::string_view key);
  // The outcome of a compare-and-set that has to be OK.
  registry::CompareAndSetOutcome Swap(absl::string_view key, absl::string_view expected, absl::string_view desired);

 private:
  std::unique_ptr<MetaStoreUnderTest> under_test_;
};

}  // namespace caretaker::testing

#endif  // CARETAKER_TESTING_METASTORE_CONTRACT_METASTORE_CONTRACT_H_
