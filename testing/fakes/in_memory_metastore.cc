#include "testing/fakes/in_memory_metastore.h"

#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace caretaker::testing {

using registry::CompareAndSetOutcome;
using registry::kContinuationSizeMax;
using registry::MetaStoreCall;
using registry::PageEntryAnswer;

// A continuation is the key at which the next page begins. Of a key that is too long to be one it is the beginning, and
// keys that share that beginning with the key before them are passed over.
absl::Status InMemoryMetaStore::ScanPage(const MetaStoreCall&, absl::string_view prefix, absl::string_view continuation,
                                         uint32_t limit, registry::PageSink& sink) {
  if (continuation.size() > kContinuationSizeMax || (!continuation.empty() && !absl::StartsWith(continuation, prefix)))
    return absl::OutOfRangeError(
        absl::StrCat("continuation: not one of the prefix ", prefix, "; begin at the first key"));
  const std::lock_guard<std::mutex> lock(mutex_);
  auto next = entries_.lower_bound(std::string(continuation.empty() ? prefix : continuation));
  bool stopped = false;
  for (uint32_t taken = 0; taken < limit && !stopped; ++next) {
    if (next == entries_.end() || !absl::StartsWith(next->first, prefix)) break;
    const PageEntryAnswer answer = sink.Entry(next->first, next->second);
    if (answer == PageEntryAnswer::kRefused) break;
    ++taken;
    stopped = answer == PageEntryAnswer::kTakenAndStop;
  }
  const auto beginning = [](const std::string& key) { return absl::string_view(key).substr(0, kContinuationSizeMax); };
  while (next != entries_.begin() && next != entries_.end() && next->first.size() > kContinuationSizeMax &&
         beginning(next->first) == beginning(std::prev(next)->first)) {
    ++next;
  }
  if (next == entries_.end() || !absl::StartsWith(next->first, prefix)) {
    sink.EndOfPrefix();
  } else {
    sink.ContinueAfter(beginning(next->first));
  }
  return absl::OkStatus();
}

absl::Status InMemoryMetaStore::Get(const MetaStoreCall&, absl::string_view key, registry::ValueSink& sink) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(std::string(key));
  if (found == entries_.end()) return absl::NotFoundError("");
  return sink.Value(found->second);
}

absl::Status InMemoryMetaStore::CompareAndSet(const MetaStoreCall& call, absl::string_view key,
                                              absl::string_view expected, absl::string_view desired,
                                              CompareAndSetOutcome* outcome) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(std::string(key));
  if (fence_token_.has_value() && call.fence_token != fence_token_) {
    *outcome = CompareAndSetOutcome::kFenced;
  } else if (found == entries_.end() || found->second != expected) {
    *outcome = CompareAndSetOutcome::kMismatch;
  } else {
    found->second.assign(desired.data(), desired.size());
    *outcome = CompareAndSetOutcome::kSwapped;
  }
  return absl::OkStatus();
}

void InMemoryMetaStore::Put(absl::string_view key, absl::string_view value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_[std::string(key)] = std::string(value);
}

void InMemoryMetaStore::Erase(absl::string_view key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.erase(std::string(key));
}

std::optional<std::string> InMemoryMetaStore::Read(absl::string_view key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = entries_.find(std::string(key));
  return found == entries_.end() ? std::nullopt : std::make_optional(found->second);
}

void InMemoryMetaStore::RequireFenceToken(uint64_t fence_token) {
  const std::lock_guard<std::mutex> lock(mutex_);
  fence_token_ = fence_token;
}

}  // namespace caretaker::testing
