// The tick through the built library, beside the least that any host must do.
//
//   tick_benchmark --plugin=PATH [--tables=10000,1000000] [--benchmark_min_time=SECONDS]
//
// The floor is a loop written by hand: seek to where the walk is, read 128 entries, and for each take a lock, get the
// value again and call an engine that does nothing. Tick and floor take turns page by page in one process on one
// database, half a cycle apart so that neither finds its blocks in the cache because of the other; each takes the same
// lock object and reads the same number of tables, and whichever is first alternates.
//
// Read the ratio, not the nanoseconds: machines differ. Each run counts what was visited; a tick that did not visit
// exactly its page with every outcome `unchanged` is an error, and the program's exit status is 1.
#include <benchmark/benchmark.h>
#include <gflags/gflags.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "maintenance/engine.h"
#include "maintenance/table_locks.h"
#include "plugin/host/plugin.h"
#include "registry/rocksdb_metastore.h"
#include "testing/benchmarks/registry_database.h"

DEFINE_string(plugin, "", "Measures this plugin.");
DEFINE_string(tables, "10000,1000000", "Measures registries of so many tables, at least 256 each.");

namespace caretaker::benchmarks {
namespace {

constexpr uint64_t kPageSize = 128;
constexpr char kPrefix[] = "tbl/";
constexpr char kPrefixEnd[] = "tbl0";

bool g_failed = false;

class NoOpEngine : public maintenance::Engine {
 public:
  absl::Status Maintain(const maintenance::OperationCall&, const maintenance::TableGeneration&,
                        maintenance::OperationResult*) override {
    ++operations;
    return absl::OkStatus();
  }
  uint64_t operations = 0;
};

// One mutex for all tables: the kind of lock hardly matters, that both sides take the same one does.
class OneLock : public maintenance::TableLocks {
 public:
  absl::Status Lock(absl::string_view, absl::string_view, int64_t, maintenance::LockOutcome* outcome,
                    uint64_t* handle) override {
    mutex_.lock();
    *handle = 1;
    *outcome = maintenance::LockOutcome::kAcquired;
    return absl::OkStatus();
  }
  absl::Status Unlock(uint64_t) override {
    mutex_.unlock();
    return absl::OkStatus();
  }

 private:
  std::mutex mutex_;
};

class NoLog : public host::EventLog {
 public:
  void Event(const maintenance_event&) override {}
};

// What any host must do for a page.
class Floor {
 public:
  Floor(rocksdb::DB* db, maintenance::TableLocks* locks, maintenance::Engine* engine, std::string begin)
      : db_(*db), locks_(*locks), engine_(*engine), next_(std::move(begin)) {
    keys_.resize(kPageSize);
  }

  // Visits one page, and returns how many tables that were.
  uint64_t VisitPage() {
    size_t count = 0;
    {
      rocksdb::ReadOptions options;
      const rocksdb::Slice upper_bound(kPrefixEnd);
      options.iterate_upper_bound = &upper_bound;
      options.total_order_seek = true;
      const std::unique_ptr<rocksdb::Iterator> it(db_.NewIterator(options));
      it->Seek(next_);
      for (; it->Valid() && count < kPageSize; it->Next()) keys_[count++].assign(it->key().data(), it->key().size());
      next_ = it->Valid() ? it->key().ToString() : kPrefix;
    }
    for (size_t i = 0; i < count; ++i) {
      uint64_t handle = 0;
      maintenance::LockOutcome outcome;
      if (!locks_.Lock("", "", 0, &outcome, &handle).ok()) return 0;
      const bool read = db_.Get(rocksdb::ReadOptions(), keys_[i], &value_).ok();
      maintenance::TableGeneration generation;
      generation.value = value_;
      maintenance::OperationResult result;
      const bool maintained = engine_.Maintain({}, generation, &result).ok();
      if (!locks_.Unlock(handle).ok() || !read || !maintained) return 0;
    }
    return count;
  }

 private:
  rocksdb::DB& db_;
  maintenance::TableLocks& locks_;
  maintenance::Engine& engine_;
  std::string next_;
  std::vector<std::string> keys_;
  std::string value_;
};

class Stopwatch {
 public:
  // Runs `work`, and adds the time it takes.
  template <typename Work>
  void Time(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    spent_ += std::chrono::steady_clock::now() - begin;
  }
  double seconds() const { return std::chrono::duration<double>(spent_).count(); }

 private:
  std::chrono::steady_clock::duration spent_{};
};

void Fail(benchmark::State& state, const std::string& words) {
  g_failed = true;
  state.SkipWithError(words.c_str());
}

void BenchmarkTick(benchmark::State& state, const host::PluginLibrary& library, uint64_t tables) {
  const auto database = RegistryDatabase::Create(tables);
  if (!database.ok()) return Fail(state, std::string(database.status().message()));
  rocksdb::OptimisticTransactionDB* const db = (*database)->db();
  const auto metastore = registry::RocksDbMetaStore::Create(db, db->DefaultColumnFamily());
  if (!metastore.ok()) return Fail(state, std::string(metastore.status().message()));
  OneLock locks;
  NoOpEngine engine;
  NoLog log;
  const auto plugin = host::Plugin::Create(library, {metastore->get(), &locks, &engine, nullptr, &log},
                                           {{{"maintenance_table_page_size", absl::StrCat(kPageSize)}}, "", "", false});
  if (!plugin.ok()) return Fail(state, std::string(plugin.status().message()));
  NoOpEngine floor_engine;
  Floor floor(db->GetBaseDB(), &locks, &floor_engine, RegistryDatabase::Key(tables / 2));

  Stopwatch tick_time, floor_time;
  uint64_t visited = 0, floor_visited = 0;
  std::string problem;
  const auto run_tick = [&] {
    maintenance_tick_context tick;
    absl::Status status;
    tick_time.Time([&] { status = (*plugin)->Tick(&tick); });
    visited += tick.scanned;
    if (!status.ok() || tick.scanned == 0 || tick.outcomes[MAINTENANCE_OUTCOME_UNCHANGED] != tick.scanned) {
      problem = absl::StrCat("tick ", tick.tick_number, ": ", tick.scanned, " scanned, ",
                             tick.outcomes[MAINTENANCE_OUTCOME_UNCHANGED], " unchanged, ", status.ToString());
    }
  };
  const auto run_floor = [&] { floor_time.Time([&] { floor_visited += floor.VisitPage(); }); };

  // Both have met every table twice before anything counts: caches, buffers and predictors are as they will be.
  const uint64_t warm_pages = 2 * (tables / kPageSize + 1);
  for (uint64_t i = 0; problem.empty() && i < warm_pages; ++i) {
    run_tick();
    run_floor();
  }
  tick_time = floor_time = Stopwatch();
  visited = floor_visited = engine.operations = floor_engine.operations = 0;
  bool floor_first = false;
  for (auto _ : state) {
    const double before = tick_time.seconds();
    if (floor_first) run_floor();
    run_tick();
    if (!floor_first) run_floor();
    floor_first = !floor_first;
    state.SetIterationTime(tick_time.seconds() - before);
  }
  if (problem.empty() && (engine.operations != visited || floor_engine.operations != floor_visited || visited == 0 ||
                          floor_visited == 0)) {
    problem = absl::StrCat("visited ", visited, " with ", engine.operations, " operations; floor ", floor_visited,
                           " with ", floor_engine.operations);
  }
  if (!problem.empty()) return Fail(state, problem);
  const double per_tick = tick_time.seconds() * 1e9 / static_cast<double>(visited);
  const double per_floor = floor_time.seconds() * 1e9 / static_cast<double>(floor_visited);
  state.counters["tick_ns"] = per_tick;
  state.counters["floor_ns"] = per_floor;
  state.counters["ratio"] = per_tick / per_floor;
  state.counters["visited"] = static_cast<double>(visited);
}

int Main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  google::ParseCommandLineFlags(&argc, &argv, true);
  const auto library = host::PluginLibrary::Load(FLAGS_plugin);
  if (!library.ok()) {
    std::fprintf(stderr, "tick_benchmark: %s\n", std::string(library.status().message()).c_str());
    return 2;
  }
  for (const absl::string_view text : absl::StrSplit(FLAGS_tables, ',')) {
    uint64_t tables = 0;
    if (!absl::SimpleAtoi(text, &tables) || tables < 2 * kPageSize || tables > 1'000'000'000) {
      std::fprintf(stderr,
                   "tick_benchmark: --tables: %s seen, numbers in %d..1000000000 allowed, separated by commas\n",
                   std::string(text).c_str(), static_cast<int>(2 * kPageSize));
      return 2;
    }
    benchmark::RegisterBenchmark(
        absl::StrCat("tick/tables:", tables).c_str(),
        [&library, tables](benchmark::State& state) { BenchmarkTick(state, *library, tables); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  if (benchmark::RunSpecifiedBenchmarks() == 0) return 2;
  return g_failed ? 1 : 0;
}

}  // namespace
}  // namespace caretaker::benchmarks

int main(int argc, char** argv) { return caretaker::benchmarks::Main(argc, argv); }
