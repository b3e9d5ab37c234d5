#include "registry/table_registration_page.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "registry/contract_violation.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace caretaker::registry {

uint64_t Fingerprint(absl::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

absl::string_view TableRegistrationPage::key(size_t index) const {
  const Entry& entry = entries_[index];
  return absl::string_view(keys_).substr(entry.key_offset, std::min(entry.key_size, kKeySizeMax));
}

absl::StatusOr<TableRef> TableRegistrationPage::table(size_t index) const {
  const Entry& entry = entries_[index];
  if (entry.key_size > kKeySizeMax) {
    return absl::DataLossError(absl::StrCat("key ", Printable(key(index)), ": too long, ", entry.key_size,
                                            " bytes, allowed ", kKeySizeMax, "; remove or rename the entry"));
  }
  if (entry.value_size > kValueSizeMax) {
    return absl::DataLossError(absl::StrCat("registration of ", Printable(key(index)), ": too long, ", entry.value_size,
                                            " bytes, allowed ", kValueSizeMax, "; repair or remove the entry"));
  }
  return ParseTableKey(key(index));
}

void TableRegistrationPage::Clear() {
  keys_.clear();
  entries_.clear();
  continuation_.clear();
  end_of_prefix_ = false;
}

void PageCollector::Begin(absl::string_view prefix, uint32_t limit, TableRegistrationPage* page) {
  prefix_ = prefix;
  limit_ = limit;
  page_ = page;
  page_->Clear();
  ended_ = false;
  violation_ = absl::OkStatus();
  // At most half full, so that a search ends soon.
  size_t slots = 16;
  while (slots < size_t{2} * limit) slots *= 2;
  slots_.assign(slots, 0);
}

PageEntryAnswer PageCollector::Entry(absl::string_view key, absl::string_view value) {
  if (!violation_.ok()) return PageEntryAnswer::kRefused;
  if (ended_) {
    Violate("an entry came after the end of the page", "H-8");
  } else if (page_->size() >= limit_) {
    Violate(absl::StrCat("more entries than asked for, allowed ", limit_), "H-8");
  } else if (!absl::StartsWith(key, prefix_)) {
    Violate(absl::StrCat("key ", Printable(key), " is outside the prefix ", Printable(prefix_)), "H-9");
  } else if (!Insert(key, value)) {
    Violate(absl::StrCat("key ", Printable(key), " came twice in one page"), "H-9");
  } else {
    return page_->size() == limit_ ? PageEntryAnswer::kTakenAndStop : PageEntryAnswer::kTaken;
  }
  return PageEntryAnswer::kRefused;
}

void PageCollector::ContinueAfter(absl::string_view continuation) {
  if (!BeginEnd()) return;
  if (continuation.empty() || continuation.size() > kContinuationSizeMax) {
    return Violate(absl::StrCat("a continuation of ", continuation.size(), " bytes, allowed 1..", kContinuationSizeMax),
                   "H-8");
  }
  page_->continuation_.assign(continuation.data(), continuation.size());
}

void PageCollector::EndOfPrefix() {
  if (BeginEnd()) page_->end_of_prefix_ = true;
}

absl::Status PageCollector::Finish() {
  if (violation_.ok() && !ended_)
    Violate("the page was neither continued nor ended, expected exactly one of both", "H-8");
  return violation_;
}

bool PageCollector::Insert(absl::string_view key, absl::string_view value) {
  // A key over the limit is known by its first bytes only; two of them may share these.
  const absl::string_view kept = key.substr(0, kKeySizeMax);
  const size_t mask = slots_.size() - 1;
  size_t slot = static_cast<size_t>(Fingerprint(key)) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const size_t other = slots_[slot] - 1;
    if (page_->entries_[other].key_size == key.size() && key.size() <= kKeySizeMax && page_->key(other) == key)
      return false;
  }
  page_->entries_.push_back({page_->keys_.size(), key.size(), value.size(), Fingerprint(value)});
  page_->keys_.append(kept.data(), kept.size());
  slots_[slot] = static_cast<uint32_t>(page_->size());
  return true;
}

bool PageCollector::BeginEnd() {
  if (!violation_.ok()) return false;
  if (ended_) Violate("the page was ended twice, expected once", "H-8");
  ended_ = true;
  return violation_.ok();
}

void PageCollector::Violate(absl::string_view what, absl::string_view rule) {
  violation_ = ContractViolation("scan_page", what, rule);
}

}  // namespace caretaker::registry
