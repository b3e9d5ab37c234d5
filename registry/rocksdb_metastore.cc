// A page is read in these steps:
// 1. Seek to `next`, the first key that was not looked at yet: at first the continuation, or the prefix.
// 2. Offer the entry that the iterator is at, until the sink, the limit or the share of skipped entries ends the page.
// 3. Where a step of the iterator gave up in a hole, move `next` behind the place and go on with 1, or end the page.
// 4. End the page with `next` as its continuation, or with the end of the prefix.
#include "registry/rocksdb_metastore.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "registry/table_ref.h"
#include "rocksdb/iterator.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/utilities/transaction.h"

namespace caretaker::registry {
namespace {

absl::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

rocksdb::Slice Slice(absl::string_view bytes) { return {bytes.data(), bytes.size()}; }

// The caller's next step decides the code. Never OutOfRange or NotFound: these are answers of a MetaStore.
absl::StatusCode Code(const rocksdb::Status& status) {
  switch (status.code()) {
    case rocksdb::Status::kCorruption:
      return absl::StatusCode::kDataLoss;
    case rocksdb::Status::kNotSupported:
      return absl::StatusCode::kUnimplemented;
    case rocksdb::Status::kInvalidArgument:
      return absl::StatusCode::kInvalidArgument;
    case rocksdb::Status::kIOError:
      return status.IsNoSpace() ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kUnavailable;
    case rocksdb::Status::kTimedOut:
      return absl::StatusCode::kDeadlineExceeded;
    case rocksdb::Status::kShutdownInProgress:
    case rocksdb::Status::kIncomplete:
      return absl::StatusCode::kUnavailable;
    case rocksdb::Status::kAborted:
      return status.IsMemoryLimit() ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kAborted;
    case rocksdb::Status::kBusy:
    case rocksdb::Status::kTryAgain:
      return absl::StatusCode::kAborted;
    case rocksdb::Status::kColumnFamilyDropped:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kUnknown;
  }
}

absl::Status Failure(absl::string_view what, absl::string_view key, const rocksdb::Status& status) {
  return absl::Status(Code(status),
                      absl::StrCat("rocksdb ", what, " ", Printable(key), ": ", Printable(status.ToString(), 512)));
}

// The first key behind all that begin with `bytes`, of whatever length; empty where there is none.
std::string EndOf(absl::string_view bytes) {
  while (!bytes.empty() && bytes.back() == '\xff') bytes.remove_suffix(1);
  std::string end(bytes);
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

// Counting is RocksDB's default; without it a request would not see what it skips.
class PerfCounting {
 public:
  PerfCounting() : level_(rocksdb::GetPerfLevel()) {
    if (level_ < rocksdb::kEnableCount) rocksdb::SetPerfLevel(rocksdb::kEnableCount);
  }
  ~PerfCounting() {
    if (level_ < rocksdb::kEnableCount) rocksdb::SetPerfLevel(level_);
  }
  PerfCounting(const PerfCounting&) = delete;
  PerfCounting& operator=(const PerfCounting&) = delete;

  static uint64_t Skipped() {
    const rocksdb::PerfContext& counted = *rocksdb::get_perf_context();
    return counted.internal_delete_skipped_count + counted.internal_key_skipped_count +
           counted.internal_recent_skipped_count;
  }

 private:
  const rocksdb::PerfLevel level_;
};

class PageReader {
 public:
  PageReader(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* family, const RocksDbMetaStoreOptions& options,
             absl::string_view prefix, PageSink* sink)
      : db_(db),
        family_(family),
        options_(options),
        prefix_(prefix),
        end_(EndOf(prefix)),
        end_slice_(end_),
        sink_(sink) {
    read_options_.total_order_seek = true;
    read_options_.max_skippable_internal_keys = options.skipped_per_step_max;
    if (!end_.empty()) read_options_.iterate_upper_bound = &end_slice_;
    iterator_.reset(db->NewIterator(read_options_, family));
  }
  PageReader(const PageReader&) = delete;
  PageReader& operator=(const PageReader&) = delete;

  absl::Status Read(absl::string_view start, uint32_t limit) {
    next_.assign(start.data(), start.size());
    room_ = limit;
    Seek();
    bool page_open = true;
    while (page_open) {
      if (iterator_->Valid()) {
        page_open = Offer(View(iterator_->key()), View(iterator_->value()));
        if (page_open || (PageIsFull() && !ShareIsUsedUp())) Next();
      } else if (iterator_->status().IsIncomplete()) {
        absl::Status passed = PassStop(&page_open);
        if (!passed.ok()) return passed;
        if (page_open) Seek();
      } else {
        break;
      }
    }
    return End(page_open);
  }

 private:
  bool PageIsFull() const { return room_ == 0; }
  bool ShareIsUsedUp() const { return skipped_ >= options_.skipped_per_request_max; }

  void Seek() {
    Step(0, [this] { iterator_->Seek(next_); });
  }

  // RocksDB counts the live key that is left behind among the skipped ones.
  void Next() {
    Step(1, [this] { iterator_->Next(); });
  }

  template <typename Move>
  void Step(uint64_t live, Move move) {
    const uint64_t before = PerfCounting::Skipped();
    move();
    uint64_t skipped = PerfCounting::Skipped() - before;
    skipped -= std::min(skipped, live);
    // What a step that gave up has skipped is known also where RocksDB was built without its perf context.
    if (!iterator_->Valid() && iterator_->status().IsIncomplete())
      skipped = std::max<uint64_t>(skipped, options_.skipped_per_step_max);
    skipped_ += skipped;
  }

  // Whether the page may have more entries after this one.
  bool Offer(absl::string_view key, absl::string_view value) {
    const PageEntryAnswer answer = sink_->Entry(key, value);
    next_.assign(key.data(), key.size());
    if (answer == PageEntryAnswer::kRefused) return false;
    next_.push_back('\0');
    room_ = answer == PageEntryAnswer::kTakenAndStop ? 0 : room_ - 1;
    return !PageIsFull() && !ShareIsUsedUp();
  }

  // Moves `next_` behind the key at which the iterator gave up.
  absl::Status PassStop(bool* page_open) {
    std::string stop;
    const rocksdb::Status told = iterator_->GetProperty("rocksdb.iterator.internal-key", &stop);
    if (!told.ok()) return Failure("scan of", prefix_, told);
    // Otherwise the step gave up among the older versions of the last key that was offered.
    if (absl::string_view(stop) >= next_) {
      // Mostly a deleted key, of which nothing is left to come. But where a key is overwritten while the page is read,
      // the iterator may give up between the new version, which its snapshot does not show, and the old one, which it
      // has not offered yet: passing on would lose a live key.
      rocksdb::PinnableSlice value;
      const rocksdb::Status read = db_->Get(read_options_, family_, stop, &value);
      if (!read.ok() && !read.IsNotFound()) return Failure("read of", stop, read);
      if (read.ok()) {
        *page_open = Offer(stop, View(value));
      } else {
        next_ = std::move(stop);
        next_.push_back('\0');
      }
    }
    if (ShareIsUsedUp()) *page_open = false;
    return absl::OkStatus();
  }

  absl::Status End(bool page_open) {
    // A full page went one step further: an error there is the next page's.
    const bool at_end = !iterator_->Valid() && iterator_->status().ok() && (page_open || PageIsFull());
    if (page_open && !at_end) return Failure("scan of", prefix_, iterator_->status());
    iterator_.reset();
    if (next_.size() > kContinuationSizeMax) next_ = EndOf(absl::string_view(next_).substr(0, kContinuationSizeMax));
    if (at_end || next_.empty() || !absl::StartsWith(next_, prefix_)) {
      sink_->EndOfPrefix();
    } else {
      sink_->ContinueAfter(next_);
    }
    return absl::OkStatus();
  }

  const PerfCounting counting_;
  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const family_;
  const RocksDbMetaStoreOptions& options_;
  const absl::string_view prefix_;
  const std::string end_;
  const rocksdb::Slice end_slice_;
  PageSink* const sink_;
  rocksdb::ReadOptions read_options_;
  std::unique_ptr<rocksdb::Iterator> iterator_;
  std::string next_;  // The first key that was not looked at yet.
  uint32_t room_ = 0;
  uint64_t skipped_ = 0;
};

absl::Status CheckSkipped(absl::string_view option, uint32_t value) {
  if (value >= 1 && value <= kSkippedEntriesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("rocksdb metastore: ", option, " is out of range, ", value,
                                                 ", allowed 1..", kSkippedEntriesMax, "; leave it at its default"));
}

}  // namespace

rocksdb::OptimisticTransactionDBOptions RocksDbMetaStore::TransactionOptions() {
  rocksdb::OptimisticTransactionDBOptions options;
  options.validate_policy = rocksdb::OccValidationPolicy::kValidateSerial;
  return options;
}

absl::StatusOr<std::unique_ptr<RocksDbMetaStore>> RocksDbMetaStore::Create(rocksdb::OptimisticTransactionDB* db,
                                                                           rocksdb::ColumnFamilyHandle* family,
                                                                           const RocksDbMetaStoreOptions& options) {
  if (db == nullptr || family == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("rocksdb metastore: the ", db == nullptr ? "database" : "family", " is null; give an open one"));
  }
  if (family->GetComparator() != rocksdb::BytewiseComparator()) {
    return absl::InvalidArgumentError(absl::StrCat("rocksdb metastore: family ", Printable(family->GetName()),
                                                   " is ordered by ", Printable(family->GetComparator()->Name()),
                                                   ", allowed ", rocksdb::BytewiseComparator()->Name(),
                                                   "; keep the registry in a family of its own"));
  }
  // With either, a commit is validated against less than was written: a write by others is lost within a few.
  const bool in_place = db->GetOptions(family).inplace_update_support;
  if (in_place || db->GetDBOptions().unordered_write) {
    return absl::InvalidArgumentError(
        absl::StrCat("rocksdb metastore: ", in_place ? "inplace_update_support" : "unordered_write",
                     " is on, allowed off; it would lose writes that go past the store"));
  }
  absl::Status checked = CheckSkipped("skipped_per_step_max", options.skipped_per_step_max);
  if (checked.ok()) checked = CheckSkipped("skipped_per_request_max", options.skipped_per_request_max);
  if (!checked.ok()) return checked;
  return std::unique_ptr<RocksDbMetaStore>(new RocksDbMetaStore(db, family, options));
}

absl::Status RocksDbMetaStore::ScanPage(const MetaStoreCall&, absl::string_view prefix, absl::string_view continuation,
                                        uint32_t limit, PageSink& sink) {
  if (limit == 0) return absl::InvalidArgumentError("page limit: 0 seen, at least 1 allowed; ask for an entry");
  if (prefix.size() > kKeySizeMax) {
    return absl::InvalidArgumentError(absl::StrCat("prefix: too long, ", prefix.size(), " bytes, allowed ", kKeySizeMax,
                                                   "; no key that is not too long begins with it"));
  }
  if (continuation.size() > kContinuationSizeMax ||
      (!continuation.empty() && !absl::StartsWith(continuation, prefix))) {
    return absl::OutOfRangeError(absl::StrCat("continuation ", Printable(continuation), ": not one of prefix ",
                                              Printable(prefix), ", ", continuation.size(), " bytes, allowed ",
                                              kContinuationSizeMax, "; begin at the first key"));
  }
  return PageReader(db_, family_, options_, prefix, &sink).Read(continuation.empty() ? prefix : continuation, limit);
}

absl::Status RocksDbMetaStore::Get(const MetaStoreCall&, absl::string_view key, ValueSink& sink) {
  rocksdb::PinnableSlice value;
  const rocksdb::Status read = db_->Get(rocksdb::ReadOptions(), family_, Slice(key), &value);
  if (read.ok()) return sink.Value(View(value));
  if (read.IsNotFound()) return absl::Status(absl::StatusCode::kNotFound, "");
  return Failure("read of", key, read);
}

absl::Status RocksDbMetaStore::CompareAndSet(const MetaStoreCall&, absl::string_view key, absl::string_view expected,
                                             absl::string_view desired, CompareAndSetOutcome* outcome) {
  bool try_again = false;
  absl::Status written = TryCompareAndSet(key, expected, desired, outcome, &try_again);
  if (try_again) written = TryCompareAndSet(key, expected, desired, outcome, &try_again);
  return written;
}

absl::Status RocksDbMetaStore::TryCompareAndSet(absl::string_view key, absl::string_view expected,
                                                absl::string_view desired, CompareAndSetOutcome* outcome,
                                                bool* try_again) {
  *try_again = false;
  rocksdb::WriteOptions write_options;
  write_options.sync = true;
  const std::unique_ptr<rocksdb::Transaction> transaction(db_->BeginTransaction(write_options));
  rocksdb::PinnableSlice current;
  const rocksdb::Status read =
      transaction->GetForUpdate(rocksdb::ReadOptions(), family_, Slice(key), &current, /*exclusive=*/true);
  if (!read.ok() && !read.IsNotFound()) return Failure("read for update of", key, read);
  if (read.IsNotFound() || View(current) != expected) {
    *outcome = CompareAndSetOutcome::kMismatch;
    return absl::OkStatus();
  }
  const rocksdb::Status put = transaction->Put(family_, Slice(key), Slice(desired));
  if (!put.ok()) return Failure("write of", key, put);

  const rocksdb::Status committed = transaction->Commit();
  switch (committed.code()) {
    case rocksdb::Status::kOk:
      *outcome = CompareAndSetOutcome::kSwapped;
      return absl::OkStatus();
    case rocksdb::Status::kBusy:
      // Validation found a write after the read.
      *outcome = CompareAndSetOutcome::kMismatch;
      return absl::OkStatus();
    case rocksdb::Status::kTryAgain:
      // The memtables no longer reach back to the read, so that validation could say neither yes nor no.
      *try_again = true;
      return Failure("commit of", key, committed);
    default:
      // A failed append or sync may have left the write in the log, where the next start finds it. A refusal before the
      // log (a database that stopped after an earlier error) has the same codes: reading the key tells them apart.
      *outcome = CompareAndSetOutcome::kIndeterminate;
      return absl::OkStatus();
  }
}

}  // namespace caretaker::registry
