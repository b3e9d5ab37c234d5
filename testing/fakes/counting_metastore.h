// Counts the calls of another MetaStore, tells when they happen, and puts scripted answers in their place.
#ifndef CARETAKER_TESTING_FAKES_COUNTING_METASTORE_H_
#define CARETAKER_TESTING_FAKES_COUNTING_METASTORE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "registry/metastore.h"

namespace caretaker::testing {

// Thread-safety: one thread at a time. Hooks may change the store behind it.
class CountingMetaStore : public registry::MetaStore {
 public:
  explicit CountingMetaStore(registry::MetaStore* store) : store_(store) {}

  absl::Status ScanPage(const registry::MetaStoreCall& call, absl::string_view prefix, absl::string_view continuation,
                        uint32_t limit, registry::PageSink& sink) override {
    calls.push_back(call);
    scans.push_back({std::string(continuation), limit});
    if (std::optional<absl::Status> scripted = Take(&scan_answers)) return *scripted;
    const absl::Status answer = store_->ScanPage(call, prefix, continuation, limit, sink);
    if (on_scanned) on_scanned();
    return answer;
  }

  absl::Status Get(const registry::MetaStoreCall& call, absl::string_view key, registry::ValueSink& sink) override {
    calls.push_back(call);
    gets.push_back(std::string(key));
    if (on_get) on_get(gets.back());
    if (std::optional<absl::Status> scripted = Take(&get_answers); scripted.has_value() && !scripted->ok())
      return *scripted;
    return store_->Get(call, key, sink);
  }

  absl::Status CompareAndSet(const registry::MetaStoreCall& call, absl::string_view key, absl::string_view expected,
                             absl::string_view desired, registry::CompareAndSetOutcome* outcome) override {
    calls.push_back(call);
    publications.push_back(std::string(desired));
    if (on_compare_and_set) on_compare_and_set(std::string(key));
    if (!compare_answer.ok()) return compare_answer;
    if (!loses_write) {
      const absl::Status answer = store_->CompareAndSet(call, key, expected, desired, outcome);
      if (!answer.ok()) return answer;
    }
    if (loses_answer) *outcome = registry::CompareAndSetOutcome::kIndeterminate;
    return absl::OkStatus();
  }

  struct Scan {
    std::string continuation;
    uint32_t limit;
  };
  std::vector<Scan> scans;
  std::vector<std::string> gets;
  std::vector<std::string> publications;
  std::vector<registry::MetaStoreCall> calls;

  // Called after a page was delivered; before a read; before a write.
  std::function<void()> on_scanned;
  std::function<void(const std::string& key)> on_get;
  std::function<void(const std::string& key)> on_compare_and_set;

  // Answers of the next calls, used up one by one; OK among the answers of reads means to really read.
  std::vector<absl::Status> scan_answers;
  std::vector<absl::Status> get_answers;
  absl::Status compare_answer;
  bool loses_answer = false;  // Compare-and-sets are answered kIndeterminate,
  bool loses_write = false;   // and are not even done.

 private:
  static std::optional<absl::Status> Take(std::vector<absl::Status>* answers) {
    if (answers->empty()) return std::nullopt;
    absl::Status first = answers->front();
    answers->erase(answers->begin());
    return first;
  }

  registry::MetaStore* store_;
};

}  // namespace caretaker::testing

#endif  // CARETAKER_TESTING_FAKES_COUNTING_METASTORE_H_
