#include "testing/metastore_contract/page_walk.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace caretaker::testing {

using registry::PageEntryAnswer;

PageEntryAnswer CollectedPage::Entry(absl::string_view key, absl::string_view value) {
  const PageEntryAnswer answered = answer ? answer(key) : PageEntryAnswer::kTaken;
  if (answered != PageEntryAnswer::kRefused) entries.emplace_back(std::string(key), std::string(value));
  return answered;
}

void CollectedPage::ContinueAfter(absl::string_view continuation_in) {
  ++continuations;
  continuation = std::string(continuation_in);
}

absl::Status CollectedPage::Check(absl::string_view prefix, absl::string_view start, uint32_t limit) const {
  if (continuations + ends != 1)
    return absl::InternalError(absl::StrCat("page: ", continuations, " continuations and ", ends, " ends, allowed 1"));
  if (entries.size() > limit)
    return absl::InternalError(absl::StrCat("page: ", entries.size(), " entries, allowed ", limit));
  std::set<absl::string_view> seen;
  for (const auto& [key, value] : entries) {
    if (!absl::StartsWith(key, prefix)) return absl::InternalError(absl::StrCat("page: key outside the prefix, ", key));
    if (!seen.insert(key).second) return absl::InternalError(absl::StrCat("page: key came twice, ", key));
  }
  if (last()) return absl::OkStatus();
  if (continuation.empty() || continuation.size() > registry::kContinuationSizeMax)
    return absl::InternalError(absl::StrCat("page: a continuation of ", continuation.size(), " bytes"));
  if (continuation == start) return absl::InternalError("page: continues where it began");
  return absl::OkStatus();
}

std::vector<std::string> CollectedPage::keys() const {
  std::vector<std::string> all;
  for (const auto& entry : entries) all.push_back(entry.first);
  return all;
}

Walk::Walk(registry::MetaStore& store, absl::string_view prefix, uint32_t limit,
           const std::function<void(const CollectedPage& page)>& after_page, absl::string_view start_at) {
  std::string start(start_at);
  for (int pages = 0; pages < kWalkPagesMax; ++pages) {
    CollectedPage page;
    status = store.ScanPage({}, prefix, start, limit, page);
    if (status.ok()) status = page.Check(prefix, start, limit);
    if (!status.ok()) return;
    for (const auto& entry : page.entries) ++entries[entry.first];
    page_sizes.push_back(page.entries.size());
    if (after_page) after_page(page);
    if (page.last()) return;
    start = page.continuation;
  }
  status = absl::ResourceExhaustedError(absl::StrCat("walk: no end after ", kWalkPagesMax, " pages"));
}

std::vector<std::string> Walk::keys() const {
  std::vector<std::string> all;
  for (const auto& [key, times] : entries) all.insert(all.end(), static_cast<size_t>(times), key);
  return all;
}

}  // namespace caretaker::testing
