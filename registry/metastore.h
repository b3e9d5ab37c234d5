// The metastore that holds the registry: an ordered or unordered map from keys to values, with bounded page scans,
// consistent reads, and an exact compare-and-set.
//
// Thread-safety: a MetaStore may be called from several threads at once; a sink is called only inside the call that it
// was passed to, on that call's thread. No function takes a table lock.
#ifndef CARETAKER_REGISTRY_METASTORE_H_
#define CARETAKER_REGISTRY_METASTORE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace caretaker::registry {

// Limits of what crosses, in bytes; plugin/maintenance_plugin.h states the same numbers.
inline constexpr size_t kKeySizeMax = 1024;
inline constexpr size_t kValueSizeMax = size_t{1} << 20;
inline constexpr size_t kContinuationSizeMax = 4096;

// What accompanies each call. A store that cannot bound a call in time ignores `remaining_ns`.
struct MetaStoreCall {
  // Nanoseconds until the call should have returned; absent: no limit.
  std::optional<int64_t> remaining_ns;
  // What the host's right to act is proved with; a store with leases checks it in CompareAndSet.
  std::optional<uint64_t> fence_token;
};

enum class PageEntryAnswer {
  kTaken,
  kTakenAndStop,  // Taken, and the last one: end the page after it.
  kRefused,       // Not taken: end the page before it.
};

// Receives one page. All views are borrowed for the call that passes them.
class PageSink {
 public:
  virtual ~PageSink() = default;
  virtual PageEntryAnswer Entry(absl::string_view key, absl::string_view value) = 0;
  // Exactly one of these ends a page, once.
  virtual void ContinueAfter(absl::string_view continuation) = 0;
  virtual void EndOfPrefix() = 0;
};

// Receives one value, once, when the key is present.
class ValueSink {
 public:
  virtual ~ValueSink() = default;
  virtual absl::Status Value(absl::string_view value) = 0;
};

enum class CompareAndSetOutcome {
  kSwapped,        // The key held `expected` and now durably holds `desired`.
  kMismatch,       // Nothing written: the key is absent or holds other bytes.
  kFenced,         // Nothing written: the fence token is no longer good.
  kIndeterminate,  // It may or may not have been written; read the key to find out.
};

class MetaStore {
 public:
  virtual ~MetaStore() = default;

  // Delivers at most `limit` (at least 1) entries whose keys begin with `prefix`, beginning at `continuation` (empty:
  // the first key), then exactly one of ContinueAfter and EndOfPrefix. A page may be short, or empty, and still
  // continue: a store bounds the work of a request, not only its live keys. A key present from the first to the last
  // page of a walk comes exactly once. Errors: OutOfRange: `continuation` is not one of this store's for `prefix`:
  // begin at the first key. Any other: the scan failed and what the sink got is void; the same continuation may be used
  // again.
  virtual absl::Status ScanPage(const MetaStoreCall& call, absl::string_view prefix, absl::string_view continuation,
                                uint32_t limit, PageSink& sink) = 0;

  // Delivers the value of `key`, seeing the latest write. NotFound: the key is absent and the sink was not called. The
  // sink's own error is returned as it is.
  virtual absl::Status Get(const MetaStoreCall& call, absl::string_view key, ValueSink& sink) = 0;

  // Writes `desired` if `key` holds exactly the bytes `expected`, durably. An error says that nothing was written.
  virtual absl::Status CompareAndSet(const MetaStoreCall& call, absl::string_view key, absl::string_view expected,
                                     absl::string_view desired, CompareAndSetOutcome* outcome) = 0;
};

}  // namespace caretaker::registry

#endif  // CARETAKER_REGISTRY_METASTORE_H_
