// One thread compares and sets a key as fast as it can, another writes it straight through the base database. Of these
// writes none may be lost: a compare-and-set that read before the write and commits after it has to fail.
//
// How a loss shows: a value is "<writes>.<swaps>". The writer puts <writes + 1>.0; a compare-and-set keeps the number
// of writes that it read, and counts its own up. So once a write is overwritten unseen, the key stays with an older
// number of writes until the next one, and before that one the writer looks. Each lost write is seen, exactly once.
//
// The storm has to be able to see a loss: it is also raised against two ways that are known to lose writes.
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "registry/rocksdb_metastore.h"
#include "testing/fakes/memory_rocksdb.h"

namespace caretaker::registry {
namespace {

using testing::MemoryRocksDb;

constexpr absl::string_view kKey = "tbl/ns/a";
// Writes of a storm that has to lose none.
constexpr int kWrites = 20'000;
// A storm that has to lose one ends at the first loss. This bounds it.
constexpr int kWritesToLoseOne = 200'000;

class ReadValue : public ValueSink {
 public:
  absl::Status Value(absl::string_view value) override {
    value_ = std::string(value);
    return absl::OkStatus();
  }
  const std::string& value() const { return value_; }
  int writes() const { return Part(0); }
  int swaps() const { return Part(1); }

 private:
  int Part(size_t index) const {
    const std::vector<std::string> parts = absl::StrSplit(value_, '.');
    int number = -1;
    EXPECT_TRUE(parts.size() == 2 && absl::SimpleAtoi(parts[index], &number)) << value_;
    return number;
  }

  std::string value_;
};

// What looks safe and is not: others do not take this mutex.
class MutexMetaStore : public MetaStore {
 public:
  explicit MutexMetaStore(MemoryRocksDb* memory) : memory_(memory) {}

  absl::Status ScanPage(const MetaStoreCall&, absl::string_view, absl::string_view, uint32_t, PageSink&) override {
    return absl::UnimplementedError("scan: not part of the storm");
  }
  absl::Status Get(const MetaStoreCall&, absl::string_view key, ValueSink& sink) override {
    return sink.Value(memory_->Read(key));
  }
  absl::Status CompareAndSet(const MetaStoreCall&, absl::string_view key, absl::string_view expected,
                             absl::string_view desired, CompareAndSetOutcome* outcome) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    *outcome = CompareAndSetOutcome::kMismatch;
    if (memory_->Read(key) != expected) return absl::OkStatus();
    std::this_thread::yield();
    memory_->Put(key, desired);
    *outcome = CompareAndSetOutcome::kSwapped;
    return absl::OkStatus();
  }

 private:
  MemoryRocksDb* const memory_;
  std::mutex mutex_;
};

struct Storm {
  int writes = 0;
  int lost = 0;
  int swapped = 0;
  int mismatches = 0;
  int failures = 0;
};

void CompareAndSetUntil(const std::atomic<bool>& over, MetaStore* store, std::atomic<int>* attempts, Storm* storm) {
  while (!over) {
    ReadValue read;
    CompareAndSetOutcome outcome = CompareAndSetOutcome::kIndeterminate;
    absl::Status status = store->Get({}, kKey, read);
    if (status.ok()) {
      const std::string next = absl::StrCat(read.writes(), ".", read.swaps() + 1);
      status = store->CompareAndSet({}, kKey, read.value(), next, &outcome);
    }
    if (!status.ok() || outcome == CompareAndSetOutcome::kIndeterminate) ++storm->failures;
    if (outcome == CompareAndSetOutcome::kMismatch) ++storm->mismatches;
    if (outcome == CompareAndSetOutcome::kSwapped) ++storm->swapped;
    ++*attempts;
  }
}

// `writes_max` direct writes, or fewer: up to the first loss, if `until_lost`.
Storm Raise(MemoryRocksDb* memory, MetaStore* store, int writes_max, bool until_lost) {
  // Whoever leads a write lets the others go first, which then queue behind it: where a race can be lost, it will be.
  memory->hooks().on_log_append = [] {
    std::this_thread::yield();
    return rocksdb::IOStatus::OK();
  };
  memory->Put(kKey, "0.0");
  Storm storm;
  std::atomic<bool> over{false};
  std::atomic<int> attempts{0};
  std::thread swapper([&] { CompareAndSetUntil(over, store, &attempts, &storm); });
  while (storm.writes < writes_max && (storm.lost == 0 || !until_lost)) {
    // Each write meets a swapper that is under way.
    const int before = attempts;
    while (attempts == before) std::this_thread::yield();
    ReadValue read;
    EXPECT_TRUE(read.Value(memory->Read(kKey)).ok());
    if (read.writes() != storm.writes) ++storm.lost;
    memory->Put(kKey, absl::StrCat(++storm.writes, ".0"));
  }
  // With nobody in its way the last attempt swaps.
  const int undisturbed = attempts + 2;
  while (attempts < undisturbed) std::this_thread::yield();
  over = true;
  swapper.join();
  memory->hooks().on_log_append = nullptr;
  return storm;
}

std::unique_ptr<MemoryRocksDb> Database(rocksdb::OccValidationPolicy policy) {
  MemoryRocksDb::Options options;
  options.policy = policy;
  return std::make_unique<MemoryRocksDb>(options);
}

TEST(RocksDbMetaStoreStormTest, SerialValidationLosesNoWrite) {
  const auto memory = Database(RocksDbMetaStore::TransactionOptions().validate_policy);
  const auto store = RocksDbMetaStore::Create(memory->db(), memory->family()).value();
  const Storm storm = Raise(memory.get(), store.get(), kWrites, /*until_lost=*/false);
  EXPECT_EQ(storm.writes, kWrites);
  EXPECT_EQ(storm.lost, 0);
  EXPECT_EQ(storm.failures, 0);
  EXPECT_GT(storm.swapped, 0);
  EXPECT_GT(storm.mismatches, 0) << "the two never met";
  RecordProperty("mismatches", storm.mismatches);
}

TEST(RocksDbMetaStoreStormTest, ParallelValidationLosesWrites) {
  const auto memory = Database(rocksdb::OccValidationPolicy::kValidateParallel);
  const auto store = RocksDbMetaStore::Create(memory->db(), memory->family()).value();
  const Storm storm = Raise(memory.get(), store.get(), kWritesToLoseOne, /*until_lost=*/true);
  EXPECT_EQ(storm.lost, 1) << "the storm cannot tell a store that loses writes";
  RecordProperty("writes_until_lost", storm.writes);
}

TEST(RocksDbMetaStoreStormTest, MutexLosesWrites) {
  const auto memory = Database(rocksdb::OccValidationPolicy::kValidateSerial);
  MutexMetaStore store(memory.get());
  const Storm storm = Raise(memory.get(), &store, kWritesToLoseOne, /*until_lost=*/true);
  EXPECT_EQ(storm.lost, 1) << "the storm cannot tell a store that loses writes";
  RecordProperty("writes_until_lost", storm.writes);
}

}  // namespace
}  // namespace caretaker::registry
