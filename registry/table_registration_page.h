// One bounded page of the registry: the keys that a scan returned, each with a fingerprint of its value.
//
// A page is one reusable arena. It keeps at most kKeySizeMax bytes per entry and nothing of a value but its size and
// its fingerprint: a candidate is a reason to look, not a fact to act on, and what a registration says is decoded when
// it is read under the table's lock. An entry that can not be a table is an entry that says so. Thread-safety: one
// thread at a time.
#ifndef CARETAKER_REGISTRY_TABLE_REGISTRATION_PAGE_H_
#define CARETAKER_REGISTRY_TABLE_REGISTRATION_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "registry/metastore.h"
#include "registry/table_ref.h"

namespace caretaker::registry {

inline constexpr uint32_t kPageSizeMax = 10000;

// A stable hash of a value's bytes (XXH3): the same in every process and release.
uint64_t Fingerprint(absl::string_view bytes);

class TableRegistrationPage {
 public:
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

  // The key of entry `index`; of a key over the limit its first kKeySizeMax bytes. REQUIRES: index < size(). Views live
  // until the page is scanned into again.
  absl::string_view key(size_t index) const;
  // The table of entry `index`, or DataLoss: why the entry is none (its key, or the size of its value).
  absl::StatusOr<TableRef> table(size_t index) const;
  uint64_t value_fingerprint(size_t index) const { return entries_[index].value_fingerprint; }

  // Where the next page begins; empty when the prefix has ended.
  absl::string_view continuation() const { return continuation_; }
  bool end_of_prefix() const { return end_of_prefix_; }

  // Back to an empty page without a continuation; keeps its memory.
  void Clear();

 private:
  friend class PageCollector;

  struct Entry {
    size_t key_offset;
    size_t key_size;  // As the metastore has it; the arena holds at most kKeySizeMax of it.
    size_t value_size;
    uint64_t value_fingerprint;
  };

  std::string keys_;
  std::vector<Entry> entries_;
  std::string continuation_;
  bool end_of_prefix_ = false;
};

// Fills a page from one scan request and checks what the metastore promised: at most `limit` entries, all under the
// prefix, no key twice, one end. Reusable; keeps memory for the largest page seen.
class PageCollector : public PageSink {
 public:
  // Clears `*page` and begins to fill it. `prefix` and `page` are borrowed until Finish.
  void Begin(absl::string_view prefix, uint32_t limit, TableRegistrationPage* page);

  PageEntryAnswer Entry(absl::string_view key, absl::string_view value) override;
  void ContinueAfter(absl::string_view continuation) override;
  void EndOfPrefix() override;

  // The rule that the metastore has broken so far, or OK.
  const absl::Status& violation() const { return violation_; }

  // OK when the page is whole; a contract violation otherwise: the page is void.
  absl::Status Finish();

 private:
  // False: the key is on the page already.
  bool Insert(absl::string_view key, absl::string_view value);
  void Violate(absl::string_view what, absl::string_view rule);
  // False: the page has a fault already, or is ended for the second time.
  bool BeginEnd();

  absl::string_view prefix_;
  uint32_t limit_ = 0;
  TableRegistrationPage* page_ = nullptr;
  bool ended_ = false;
  absl::Status violation_;
  std::vector<uint32_t> slots_;  // Open addressing over the page's keys: index + 1, 0 = free.
};

}  // namespace caretaker::registry

#endif  // CARETAKER_REGISTRY_TABLE_REGISTRATION_PAGE_H_
