// What a tick costs beside its floor: whole ticks through the built library over RocksDB, with an engine that does
// nothing, and pages of a loop written by hand (floor.h), in turns, in one process on one registry.
//
//   tick_benchmark [--tables=N,N...] [--cycles=N] [--plugin=PATH] [--db_dir=PATH] [Google Benchmark's flags]
//
// 1. Two cycles of both, not measured: the plugin is warm, and the block cache holds what it will hold.
// 2. Cycles in which a tick and a page of the floor alternate, half a cycle apart, so that neither finds in the caches
//    what the other has just read. Over a cycle both visit the same pages.
// 3. `ratio`, the median over pages of a tick's time to that of the floor's page right after it: what else the machine
//    does meanwhile disturbs both. `tick_ns` and `floor_ns` are medians per candidate, Time is that of a cycle's ticks.
//
// Read the ratio, not the nanoseconds, and of five processes the median, as one binary differs between processes:
//
//   for i in 1 2 3 4 5; do verification/bazel.sh run //testing/benchmarks:tick_benchmark; done
//
// (Debian's Google Benchmark warns that it was built as DEBUG. The times are not taken by it.)
//
// Exit status: 0 if all ticks visited exactly the tables of their pages, and all were unchanged.
#include <benchmark/benchmark.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "maintenance/engine.h"
#include "plugin/host/plugin.h"
#include "plugin/host/table_lock_map.h"
#include "plugin/maintenance_plugin.h"
#include "testing/benchmarks/floor.h"
#include "testing/benchmarks/large_registry.h"

DEFINE_string(plugin, "plugin/libcaretaker.so", "Loads this plugin; the default is where `bazel run` has it.");
DEFINE_string(tables, "10000,1000000", "Measures registries of so many tables, one after another. 1..100000000 each.");
DEFINE_uint64(cycles, 0, "Measures so many cycles of each; 0: as many as visit two million tables.");
DEFINE_string(db_dir, "", "Keeps the databases in this folder, and uses those that are there; empty: removes them.");

namespace caretaker::benchmarks {
namespace {

constexpr uint64_t kTablesMax = 100'000'000;
constexpr uint64_t kPageSize = 128;
constexpr int kWarmCycles = 2;
constexpr uint64_t kTablesToVisit = 2'000'000;

class NoOpEngine : public maintenance::Engine {
 public:
  absl::Status Maintain(const maintenance::OperationCall&, const maintenance::TableGeneration& generation,
                        maintenance::OperationResult*) override {
    benchmark::DoNotOptimize(generation.value.data());
    return absl::OkStatus();
  }
};

// Without one, the tick would write a line of glog.
class NoLog : public host::EventLog {
 public:
  void Event(const maintenance_event& event) override { benchmark::DoNotOptimize(event.text.data); }
};

// What one page took, per candidate on it.
struct PageTimes {
  double tick_ns;
  double floor_ns;
};

template <typename Figure>
double Median(const std::vector<PageTimes>& pages, const Figure& figure) {
  std::vector<double> figures;
  figures.reserve(pages.size());
  for (const PageTimes& page : pages) figures.push_back(figure(page));
  const auto middle = figures.begin() + static_cast<std::ptrdiff_t>(figures.size() / 2);
  std::nth_element(figures.begin(), middle, figures.end());
  return *middle;
}

// A plugin's instance and a floor on one registry.
class TickAndFloor {
 public:
  static absl::StatusOr<std::unique_ptr<TickAndFloor>> Create(const host::PluginLibrary& library, uint64_t tables) {
    const std::string folder = FLAGS_db_dir.empty() ? "" : absl::StrCat(FLAGS_db_dir, "/", tables);
    absl::StatusOr<std::unique_ptr<LargeRegistry>> registry = LargeRegistry::Open(folder, tables);
    if (!registry.ok()) return registry.status();
    std::unique_ptr<TickAndFloor> created(new TickAndFloor(*std::move(registry), tables));
    absl::StatusOr<std::unique_ptr<host::Plugin>> plugin = host::Plugin::Create(
        library, {created->registry_->metastore(), &created->locks_, &created->engine_, nullptr, &created->log_},
        {{{"maintenance_table_page_size", absl::StrCat(kPageSize)}}, "", "", false});
    if (!plugin.ok()) return plugin.status();
    created->plugin_ = *std::move(plugin);
    // Half a cycle ahead, and on the page bounds of the tick.
    for (uint64_t table = 0; table < tables / 2; table += kPageSize) {
      const absl::StatusOr<uint64_t> visited = created->floor_.VisitPage();
      if (!visited.ok()) return visited.status();
    }
    return created;
  }

  // One cycle of both, in turns.
  absl::Status RunCycle() {
    using Clock = std::chrono::steady_clock;
    using Nanoseconds = std::chrono::duration<double, std::nano>;
    uint64_t visited = 0, floor_visited = 0;
    cycle_time_ = std::chrono::nanoseconds(0);
    while (visited < tables_) {
      const Clock::time_point start = Clock::now();
      const absl::Status ticked = plugin_->Tick(&tick_);
      const Clock::time_point between = Clock::now();
      const absl::StatusOr<uint64_t> floor = floor_.VisitPage();
      const Clock::time_point end = Clock::now();
      if (!ticked.ok()) return ticked;
      if (!floor.ok()) return floor.status();
      const uint64_t expected = std::min(kPageSize, tables_ - visited);
      visited += expected;
      floor_visited += *floor;
      absl::Status checked = CheckTick(expected, /*last=*/visited == tables_);
      if (!checked.ok()) return checked;
      unchanged_ += tick_.outcomes[MAINTENANCE_OUTCOME_UNCHANGED];
      cycle_time_ += between - start;
      pages_.push_back({Nanoseconds(between - start).count() / static_cast<double>(expected),
                        Nanoseconds(end - between).count() / static_cast<double>(*floor)});
    }
    if (floor_visited == tables_) return absl::OkStatus();
    return absl::DataLossError(absl::StrCat("floor: visited ", floor_visited, ", expected ", tables_,
                                            "; if the database was kept, remove it"));
  }

  // Of the last cycle's ticks.
  std::chrono::duration<double> cycle_time() const { return cycle_time_; }

  // What the cycles since the last ForgetCycles have counted and taken.
  void ForgetCycles() {
    unchanged_ = 0;
    pages_.clear();
  }
  uint64_t unchanged() const { return unchanged_; }
  const std::vector<PageTimes>& pages() const { return pages_; }

 private:
  TickAndFloor(std::unique_ptr<LargeRegistry> registry, uint64_t tables)
      : tables_(tables), registry_(std::move(registry)), floor_(registry_->db(), &locks_, &engine_, kPageSize) {}

  // All of a page's tables were visited, and are unchanged; a cycle ends where the registry does.
  absl::Status CheckTick(uint64_t expected, bool last) const {
    const uint64_t unchanged = tick_.outcomes[MAINTENANCE_OUTCOME_UNCHANGED];
    if (tick_.scanned == expected && unchanged == expected && tick_.operations == expected &&
        tick_.backlog_after == 0 && (tick_.cycle_completed != 0) == last) {
      return absl::OkStatus();
    }
    return absl::DataLossError(absl::StrCat("tick ", tick_.tick_number, ": scanned ", tick_.scanned, ", unchanged ",
                                            unchanged, ", both expected ", expected, ", cycle completed ",
                                            tick_.cycle_completed, ", expected ", last ? 1 : 0,
                                            "; if the database was kept, remove it"));
  }

  const uint64_t tables_;
  const std::unique_ptr<LargeRegistry> registry_;
  host::TableLockMap locks_;
  NoOpEngine engine_;
  NoLog log_;
  Floor floor_;
  std::unique_ptr<host::Plugin> plugin_;
  maintenance_tick_context tick_;
  uint64_t unchanged_ = 0;
  std::chrono::nanoseconds cycle_time_{0};
  std::vector<PageTimes> pages_;
};

absl::Status Measure(const host::PluginLibrary& library, uint64_t tables, benchmark::State* state) {
  const absl::StatusOr<std::unique_ptr<TickAndFloor>> created = TickAndFloor::Create(library, tables);
  if (!created.ok()) return created.status();
  TickAndFloor& both = **created;
  for (int cycle = 0; cycle < kWarmCycles; ++cycle) {
    absl::Status warmed = both.RunCycle();
    if (!warmed.ok()) return warmed;
  }
  both.ForgetCycles();
  while (state->KeepRunning()) {
    absl::Status done = both.RunCycle();
    if (!done.ok()) return done;
    state->SetIterationTime(both.cycle_time().count());
  }
  state->counters["candidates"] = static_cast<double>(tables * static_cast<uint64_t>(state->iterations()));
  state->counters["unchanged"] = static_cast<double>(both.unchanged());
  state->counters["tick_ns"] = Median(both.pages(), [](const PageTimes& page) { return page.tick_ns; });
  state->counters["floor_ns"] = Median(both.pages(), [](const PageTimes& page) { return page.floor_ns; });
  state->counters["ratio"] = Median(both.pages(), [](const PageTimes& page) { return page.tick_ns / page.floor_ns; });
  return absl::OkStatus();
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "tick_benchmark: %s\n", std::string(status.message()).c_str());
  return 1;
}

int Main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  google::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  if (argc > 1) {
    return Fail(absl::InvalidArgumentError(absl::StrCat("argument ", argv[1], ": is no flag; leave it out")));
  }
  const absl::StatusOr<host::PluginLibrary> library = host::PluginLibrary::Load(FLAGS_plugin);
  if (!library.ok()) return Fail(library.status());
  // Google Benchmark goes on after an error, and tells its caller of none.
  bool failed = false;
  for (const absl::string_view word : absl::StrSplit(FLAGS_tables, ',')) {
    uint64_t tables = 0;
    if (!absl::SimpleAtoi(word, &tables) || tables < 1 || tables > kTablesMax) {
      return Fail(absl::InvalidArgumentError(
          absl::StrCat("--tables: ", word, " is out of range, allowed 1..", kTablesMax, "; give another value")));
    }
    const auto run = [&library, &failed, tables](benchmark::State& state) {
      const absl::Status measured = Measure(*library, tables, &state);
      if (measured.ok()) return;
      failed = true;
      state.SkipWithError(std::string(measured.message()).c_str());
    };
    const uint64_t cycles = FLAGS_cycles > 0 ? FLAGS_cycles : std::max<uint64_t>(1, kTablesToVisit / tables);
    benchmark::RegisterBenchmark(absl::StrCat("tick/tables:", tables).c_str(), run)
        ->Iterations(static_cast<benchmark::IterationCount>(cycles))
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
  return benchmark::RunSpecifiedBenchmarks() > 0 && !failed ? 0 : 1;
}

}  // namespace
}  // namespace caretaker::benchmarks

int main(int argc, char** argv) { return caretaker::benchmarks::Main(argc, argv); }
