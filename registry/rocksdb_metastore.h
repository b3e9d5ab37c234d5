// The metastore of a host that keeps its registry in RocksDB: one column family of an OptimisticTransactionDB.
//
// A scan is bounded in work, not only in live keys. RocksDB keeps a marker for each deleted key until it is compacted,
// and an iterator walks over all of them: after a drop of many tables a single seek may take seconds. So each step of
// an iterator gives up after a number of skipped entries, a whole request ends after a few times that number, and the
// continuation leads on from the very place, inside the hole, that was reached.
//
// A continuation is the key at which the next page begins, whether or not that key exists.
//
// Thread-safety: any thread, several at once; the store holds no state and no lock of its own, and takes no table lock.
#ifndef CARETAKER_REGISTRY_ROCKSDB_METASTORE_H_
#define CARETAKER_REGISTRY_ROCKSDB_METASTORE_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "registry/metastore.h"
#include "rocksdb/utilities/optimistic_transaction_db.h"

namespace caretaker::registry {

// How much a scan request may skip: deletion markers and the versions that they or newer versions hide, counted as
// RocksDB's perf context counts them. One request skips at most the sum of the two. The defaults keep the slowest
// request within a small multiple of one without a hole.
struct RocksDbMetaStoreOptions {
  // Entries that one step (a seek, or going to the next key) may skip. 1..kSkippedEntriesMax.
  uint32_t skipped_per_step_max = 500;
  // After this many the request ends. 1..kSkippedEntriesMax.
  uint32_t skipped_per_request_max = 1500;
};

inline constexpr uint32_t kSkippedEntriesMax = 1'000'000;

class RocksDbMetaStore final : public MetaStore {
 public:
  // The options with which the database has to be opened, see Create.
  static rocksdb::OptimisticTransactionDBOptions TransactionOptions();

  // A store on `family` of `db`. The host owns both, and keeps them open longer than the store.
  //
  // REQUIRES:
  // - `db` was opened with TransactionOptions(): RocksDB does not tell afterwards. With its default policy,
  //   kValidateParallel, a commit is validated before it takes its place among the writes, and a write by others in
  //   between is lost, silently.
  // - Nothing ingests files into the keys that CompareAndSet is used on while it may be called: RocksDB validates by
  //   its memtables only, and what was ingested would be overwritten unseen. Any other write by anybody is seen, also
  //   one straight through the base DB.
  // - A large range deletion of registry keys (which only the base DB offers) is flushed at once: as long as it is in a
  //   memtable, a step of a scan walks uncounted over all that it covers there, a million keys in 0.1 to 0.2 s.
  // - `family` keeps plain values: where a value is made of merge operands, a scan is bounded in entries, but not in
  //   operands.
  //
  // A secondary or read-only instance cannot be used by mistake: an OptimisticTransactionDB is always the primary,
  // whose reads see the latest write.
  //
  // InvalidArgument: `db` or `family` is null, the family's comparator is not RocksDB's bytewise one (another order
  // would break the bounds of a prefix), the database has unordered_write or the family inplace_update_support on (the
  // validation would miss writes by others), or an option is out of range. Change the call. Does not block.
  static absl::StatusOr<std::unique_ptr<RocksDbMetaStore>> Create(rocksdb::OptimisticTransactionDB* db,
                                                                  rocksdb::ColumnFamilyHandle* family,
                                                                  const RocksDbMetaStoreOptions& options = {});

  RocksDbMetaStore(const RocksDbMetaStore&) = delete;
  RocksDbMetaStore& operator=(const RocksDbMetaStore&) = delete;

  // As MetaStore says, and:
  // - The page is ordered, and every view that the sink gets is RocksDB's own memory, pinned for that call, not a copy.
  //   The iterator is released before the function returns: between two pages nothing is pinned.
  // - One page is read from one snapshot, except that a key at which a step gave up is read again as it is now.
  // - A request without entries still moves on. A request that filled its page looks one key further, so that the last
  //   page of a prefix says so.
  // - Entries over the limits of metastore.h are delivered like all others. Only where a page ends between keys that
  //   share their first kContinuationSizeMax bytes, or would have to begin at such a key, those keys are passed over:
  //   no continuation leads between them, and all of them are far over kKeySizeMax.
  // - `call` is not looked at: the bounds are counts. RocksDB's own deadline is checked on reads from a file only, and
  //   bounds nothing where the blocks are cached.
  //
  // May block for reads from files. Errors: InvalidArgument: `limit` is 0 or `prefix` is longer than kKeySizeMax.
  // OutOfRange: `continuation` does not begin with `prefix`, or is longer than kContinuationSizeMax. DataLoss: a file
  // is corrupt. Unavailable, ResourceExhausted and others: what RocksDB said; the message has its words.
  absl::Status ScanPage(const MetaStoreCall& call, absl::string_view prefix, absl::string_view continuation,
                        uint32_t limit, PageSink& sink) override;

  // As MetaStore says. The value is pinned, not copied. `call` is not looked at. NotFound has no message, as an absent
  // key is an answer. May block for a read from a file. Other errors as for ScanPage.
  absl::Status Get(const MetaStoreCall& call, absl::string_view key, ValueSink& sink) override;

  // As MetaStore says; exact against every writer of this database, also those that do not use transactions. Blocks
  // until the write is synced. kMismatch also answers a write by others between the read and the commit, whatever it
  // wrote. Never answers kFenced: a RocksDB has one process that writes it, so `call.fence_token` is not looked at, and
  // a host whose right to act can pass to another one has to check it itself.
  //
  // kIndeterminate: the commit failed after RocksDB may have begun to write its log. Why is told to the host by RocksDB
  // (EventListener::OnBackgroundError, and the database's info log).
  //
  // Errors, after all of which nothing was written: Aborted: RocksDB's history of recent writes was too short to
  // validate, twice in a row; try later, or raise max_write_buffer_size_to_maintain. Others: the read failed,
  // or the write could not be prepared.
  absl::Status CompareAndSet(const MetaStoreCall& call, absl::string_view key, absl::string_view expected,
                             absl::string_view desired, CompareAndSetOutcome* outcome) override;

 private:
  RocksDbMetaStore(rocksdb::OptimisticTransactionDB* db, rocksdb::ColumnFamilyHandle* family,
                   const RocksDbMetaStoreOptions& options)
      : db_(db), family_(family), options_(options) {}

  // One read, comparison and commit. `*try_again`: nothing was written because validation was not possible.
  absl::Status TryCompareAndSet(absl::string_view key, absl::string_view expected, absl::string_view desired,
                                CompareAndSetOutcome* outcome, bool* try_again);

  rocksdb::OptimisticTransactionDB* const db_;
  rocksdb::ColumnFamilyHandle* const family_;
  const RocksDbMetaStoreOptions options_;
};

}  // namespace caretaker::registry

#endif  // CARETAKER_REGISTRY_ROCKSDB_METASTORE_H_
