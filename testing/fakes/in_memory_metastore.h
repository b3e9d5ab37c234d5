// A MetaStore in memory: ordered keys, exact compare-and-set, an optional fence. Passes the metastore contract test, as
// the real ones do.
#ifndef CARETAKER_TESTING_FAKES_IN_MEMORY_METASTORE_H_
#define CARETAKER_TESTING_FAKES_IN_MEMORY_METASTORE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "registry/metastore.h"

namespace caretaker::testing {

// Thread-safety: any thread. Sinks are called with the store's mutex held: they must not call it back.
class InMemoryMetaStore : public registry::MetaStore {
 public:
  absl::Status ScanPage(const registry::MetaStoreCall& call, absl::string_view prefix, absl::string_view continuation,
                        uint32_t limit, registry::PageSink& sink) override;
  absl::Status Get(const registry::MetaStoreCall& call, absl::string_view key, registry::ValueSink& sink) override;
  absl::Status CompareAndSet(const registry::MetaStoreCall& call, absl::string_view key, absl::string_view expected,
                             absl::string_view desired, registry::CompareAndSetOutcome* outcome) override;

  void Put(absl::string_view key, absl::string_view value);
  void Erase(absl::string_view key);
  // Absent: no such key.
  std::optional<std::string> Read(absl::string_view key) const;

  // From now on a compare-and-set without exactly this fence token is answered kFenced.
  void RequireFenceToken(uint64_t fence_token);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> entries_;
  std::optional<uint64_t> fence_token_;
};

}  // namespace caretaker::testing

#endif  // CARETAKER_TESTING_FAKES_IN_MEMORY_METASTORE_H_
