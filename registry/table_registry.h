// The registry of tables on a metastore: bounded pages of candidates, one registration at a time, and the publication
// of a new version by compare-and-set against the exact bytes that were read.
//
// Thread-safety: one thread at a time; it reuses its buffers.
#ifndef CARETAKER_REGISTRY_TABLE_REGISTRY_H_
#define CARETAKER_REGISTRY_TABLE_REGISTRY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "registry/metastore.h"
#include "registry/registration_codec.h"
#include "registry/table_registration_page.h"

namespace caretaker::registry {

// A registration as it was read: the bytes, and what they say.
struct StoredRegistration {
  PaddedValue value;
  // OK: `registration` is what the value says. DataLoss: corrupt, and why.
  absl::Status decoded;
  // Views live until the registry is used again.
  TableRegistration registration;
};

enum class Publication {
  kPublished,
  kConflict,  // The registration is not what was read any more; nothing was written.
  kFenced,    // The right to act was lost; nothing was written.
  kUnknown,   // It may or may not have been written: see ConfirmPublication.
};

class TableRegistry {
 public:
  // Borrows `store` and `codec`, which must outlive it, and copies `prefix`. REQUIRES: ValidateTablePrefix(prefix) is
  // OK.
  TableRegistry(MetaStore* store, RegistrationCodec* codec, absl::string_view prefix);

  absl::string_view prefix() const { return prefix_; }

  // Reads one page of at most `limit` (1..kPageSizeMax) entries into `*page`, beginning at `continuation` (empty: the
  // first key; otherwise what page.continuation() returned; it may be a view into another page, not into `*page`). A
  // page may be short or empty and still continue. One scan request, no other read. Errors, after which `*page` is
  // void: InvalidArgument: the limit; OutOfRange: the metastore does not accept the continuation, begin at the first
  // key; a contract violation (contract_violation.h): the page breaks a rule; any other: what the metastore says, the
  // same continuation may be used again.
  absl::Status ScanTablesPage(const MetaStoreCall& call, absl::string_view continuation, uint32_t limit,
                              TableRegistrationPage* page);

  // Reads the registration under `key`. OK: it was read, see stored->decoded for whether it can be used. NotFound:
  // there is none. Any other: the read failed.
  absl::Status Get(const MetaStoreCall& call, absl::string_view key, StoredRegistration* stored);

  // Is there a value under `key`? One read. An error: the read failed.
  absl::Status Exists(const MetaStoreCall& call, absl::string_view key, bool* exists);

  // Replaces the version in what was read by `version`, by compare-and-set against stored.value. REQUIRES:
  // stored.decoded is OK and is the last that Get read. An error says that nothing was written; a contract violation
  // does so only where `*publication` is kConflict, since the metastore was not asked then, and otherwise leaves
  // kUnknown.
  absl::Status PublishVersion(const MetaStoreCall& call, absl::string_view key, const StoredRegistration& stored,
                              uint64_t version, Publication* publication);

  // After kUnknown: reads the key once and tells what became of that publication. Sets kPublished (the new bytes),
  // kConflict (neither these nor the old ones, or none) or kUnknown (the old bytes, which may still change, or a failed
  // read). An error is a contract violation only.
  absl::Status ConfirmPublication(const MetaStoreCall& call, absl::string_view key, const StoredRegistration& stored,
                                  Publication* publication);

 private:
  MetaStore* const store_;
  RegistrationCodec* const codec_;
  const std::string prefix_;
  PageCollector collector_;
  std::string published_;  // The bytes of the last publication.
};

}  // namespace caretaker::registry

#endif  // CARETAKER_REGISTRY_TABLE_REGISTRY_H_
