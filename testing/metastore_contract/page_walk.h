// Walks a prefix of a MetaStore page by page, and checks on the way what holds for any page of any store.
#ifndef CARETAKER_TESTING_METASTORE_CONTRACT_PAGE_WALK_H_
#define CARETAKER_TESTING_METASTORE_CONTRACT_PAGE_WALK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "registry/metastore.h"

namespace caretaker::testing {

// A sink that keeps copies. Takes every entry, unless `answer` says otherwise; what it refuses is not kept.
class CollectedPage : public registry::PageSink {
 public:
  registry::PageEntryAnswer Entry(absl::string_view key, absl::string_view value) override;
  void ContinueAfter(absl::string_view continuation_in) override;
  void EndOfPrefix() override { ++ends; }

  // What any page of any store has to be; the message says what this one is instead.
  absl::Status Check(absl::string_view prefix, absl::string_view start, uint32_t limit) const;
  bool last() const { return continuations == 0; }
  std::vector<std::string> keys() const;

  std::vector<std::pair<std::string, std::string>> entries;
  std::string continuation;
  int continuations = 0;
  int ends = 0;
  std::function<registry::PageEntryAnswer(absl::string_view key)> answer;
};

// One walk over `prefix`, from `start` (empty: the first key) to its end. `entries` counts how often each key came.
// Stops at the first status that is not OK, which may be the store's, one of Check, or ResourceExhausted after
// `kWalkPagesMax` pages.
struct Walk {
  static constexpr int kWalkPagesMax = 200'000;

  Walk(registry::MetaStore& store, absl::string_view prefix, uint32_t limit,
       const std::function<void(const CollectedPage& page)>& after_page = {}, absl::string_view start = "");

  // The keys, in order, each as often as it came.
  std::vector<std::string> keys() const;

  absl::Status status;
  std::map<std::string, int> entries;
  std::vector<size_t> page_sizes;
};

}  // namespace caretaker::testing

#endif  // CARETAKER_TESTING_METASTORE_CONTRACT_PAGE_WALK_H_
