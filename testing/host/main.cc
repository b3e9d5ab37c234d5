// The reference host: a server on one RocksDB that maintains its tables through a loaded plugin.
//
//   maintenance_host --plugin=PATH --db=PATH [--cycles=N] [--seed_tables=N] [--garbage_threshold_percent=N] [plugin
//   flags]
//
// It loads the plugin before it parses its command line, so that the plugin's flags are known by then. Ticks run on the
// main thread; SIGTERM and SIGINT are waited for on a thread of their own, which stops the tick at its next table. Exit
// status: 0, 1 (run time), 2 (usage), 130 (a second signal).
#include <gflags/gflags.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "maintenance/outcome.h"
#include "plugin/host/plugin.h"
#include "plugin/host/table_lock_map.h"
#include "registry/rocksdb_metastore.h"
#include "testing/host/database.h"
#include "testing/host/rocksdb_engine.h"
#include "testing/host/stop_signals.h"

DEFINE_string(plugin, "", "Loads this maintenance plugin.");
DEFINE_string(db, "", "Opens the RocksDB at this path.");
DEFINE_uint64(cycles, 0, "Ends after so many whole cycles; 0 serves until a signal.");
DEFINE_uint64(seed_tables, 0, "First makes a database with so many sample tables at --db, which must not be there.");
DEFINE_uint64(garbage_threshold_percent, 50, "Compacts a table when at least so much of it is garbage, 1..100.");

namespace caretaker::reference_host {
namespace {

constexpr int kRunTimeError = 1;
constexpr int kUsageError = 2;
// Tick times that the summary is made from: the last ones of a long run.
constexpr size_t kTickTimesMax = 100000;

int Fail(int exit_status, const absl::Status& status) {
  std::fprintf(stderr, "maintenance_host: %s\n", std::string(status.message()).c_str());
  return exit_status;
}

// Events of ticks in which all went well are in the line of the tick already.
class TroubleOnStderr : public host::EventLog {
 public:
  void Event(const maintenance_event& event) override {
    if (event.severity == MAINTENANCE_SEVERITY_INFO) return;
    std::fprintf(stderr, "maintenance_host: %.*s\n", static_cast<int>(event.text.size), event.text.data);
  }
};

// What a run adds up to.
class Summary {
 public:
  void Add(const maintenance_tick_context& tick) {
    for (size_t i = 0; i < maintenance::kOutcomeCount; ++i) outcomes_[i] += tick.outcomes[i];
    ++ticks_;
    if (tick_ms_.size() == kTickTimesMax) tick_ms_.erase(tick_ms_.begin());
    tick_ms_.push_back(static_cast<double>(tick.duration_ns) / 1e6);
  }

  void Print(uint64_t cycles, const DatabaseSize& before, const DatabaseSize& after) {
    std::printf("\n%llu ticks, %llu whole cycles\n", Printed(ticks_), Printed(cycles));
    for (size_t i = 0; i < maintenance::kOutcomeCount; ++i) {
      if (outcomes_[i] == 0) continue;
      std::printf("%12llu tables %s\n", Printed(outcomes_[i]),
                  std::string(maintenance::OutcomeName(static_cast<maintenance::Outcome>(i))).c_str());
    }
    std::sort(tick_ms_.begin(), tick_ms_.end());
    std::printf("tick time ms: p50 %.1f, p99 %.1f, max %.1f\n", Quantile(0.5), Quantile(0.99), Quantile(1));
    std::printf("bytes on disk: %llu before, %llu after\n", Printed(before.bytes), Printed(after.bytes));
    std::printf("entries: %llu before, %llu after\n", Printed(before.entries), Printed(after.entries));
  }

 private:
  static unsigned long long Printed(uint64_t value) { return value; }
  double Quantile(double part) const {
    if (tick_ms_.empty()) return 0;
    return tick_ms_[static_cast<size_t>(part * static_cast<double>(tick_ms_.size() - 1))];
  }

  std::array<uint64_t, maintenance::kOutcomeCount> outcomes_{};
  std::vector<double> tick_ms_;
  uint64_t ticks_ = 0;
};

void PrintTick(const maintenance_tick_context& tick) {
  std::printf(
      "tick %llu cycle %llu scanned %llu operations %llu maintained %llu unchanged %llu backlog %llu ended_by %s %.1f "
      "ms\n",
      static_cast<unsigned long long>(tick.tick_number), static_cast<unsigned long long>(tick.cycle_number),
      static_cast<unsigned long long>(tick.scanned), static_cast<unsigned long long>(tick.operations),
      static_cast<unsigned long long>(tick.outcomes[MAINTENANCE_OUTCOME_MAINTAINED]),
      static_cast<unsigned long long>(tick.outcomes[MAINTENANCE_OUTCOME_UNCHANGED]),
      static_cast<unsigned long long>(tick.backlog_after),
      std::string(maintenance::EndedByName(static_cast<maintenance::EndedBy>(tick.ended_by))).c_str(),
      static_cast<double>(tick.duration_ns) / 1e6);
  std::fflush(stdout);
}

int Serve(const host::PluginLibrary& library) {
  auto database = Database::Open(FLAGS_db);
  if (!database.ok()) return Fail(kRunTimeError, database.status());
  auto metastore = registry::RocksDbMetaStore::Create((*database)->db(), (*database)->registry());
  if (!metastore.ok()) return Fail(kRunTimeError, metastore.status());
  const DatabaseSize before = (*database)->Size();
  host::TableLockMap locks;
  RocksDbEngine engine((*database)->db(), (*database)->data(), FLAGS_garbage_threshold_percent);
  StopSignals signals(&engine, &locks, [] {
    std::fprintf(stderr,
                 "maintenance_host: stopping; RocksDB is flushing or waits behind a compaction, which it does not "
                 "interrupt; a second signal stops now\n");
  });
  TroubleOnStderr log;
  auto plugin = host::Plugin::Create(library, {metastore->get(), &locks, &engine, &signals, &log}, {});
  if (!plugin.ok()) {
    return Fail(absl::IsInvalidArgument(plugin.status()) ? kUsageError : kRunTimeError, plugin.status());
  }
  std::printf("serving %s\n", FLAGS_db.c_str());
  Summary summary;
  uint64_t cycles = 0;
  while (!signals.stopped() && (FLAGS_cycles == 0 || cycles < FLAGS_cycles)) {
    maintenance_tick_context tick;
    (*plugin)->Tick(&tick).IgnoreError();  // The event has said what is wrong; the next tick may do better.
    summary.Add(tick);
    PrintTick(tick);
    cycles += static_cast<uint64_t>(tick.cycle_completed);
    if (FLAGS_cycles == 0 || cycles < FLAGS_cycles) signals.WaitFor(std::chrono::milliseconds(tick.call_again_ms));
  }
  summary.Print(cycles, before, (*database)->Size());
  return 0;
}

// --plugin=PATH or --plugin PATH, before gflags may see a flag that only the plugin knows.
std::string FindPlugin(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    absl::string_view word = argv[i];
    if (word == "--") break;
    while (absl::StartsWith(word, "-")) word.remove_prefix(1);
    if (word == "plugin" && i + 1 < argc) return argv[i + 1];
    if (absl::StartsWith(word, "plugin=")) return std::string(word.substr(7));
  }
  return "";
}

int Main(int argc, char** argv) {
  const sigset_t signals = StopSignals::Blocked();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const auto library = host::PluginLibrary::Load(FindPlugin(argc, argv));
  if (!library.ok()) return Fail(kUsageError, library.status());
  if (absl::Status registered = library->RegisterFlags(); !registered.ok()) return Fail(kUsageError, registered);
  google::SetUsageMessage("maintains the tables of a RocksDB: --plugin=PATH --db=PATH [flags]");
  google::ParseCommandLineFlags(&argc, &argv, /*remove_flags=*/true);
  if (argc > 1) {
    return Fail(kUsageError,
                absl::InvalidArgumentError(absl::StrCat("argument ", argv[1], ": is not a flag; use --name=value")));
  }
  if (FLAGS_db.empty())
    return Fail(kUsageError, absl::InvalidArgumentError("--db: is not given; give the database's path"));
  if (FLAGS_garbage_threshold_percent < 1 || FLAGS_garbage_threshold_percent > 100) {
    return Fail(kUsageError,
                absl::InvalidArgumentError(absl::StrCat(
                    "--garbage_threshold_percent: ", FLAGS_garbage_threshold_percent, ", allowed 1..100")));
  }
  maintenance_error error;
  error.struct_size = sizeof(error);
  if (library->check_options(nullptr, 0, &error) != MAINTENANCE_OK) {
    return Fail(kUsageError, absl::InvalidArgumentError(error.message));
  }
  if (FLAGS_seed_tables > 0) {
    const absl::Status seeded = Database::Seed(FLAGS_db, FLAGS_seed_tables);
    if (!seeded.ok()) return Fail(kRunTimeError, seeded);
  }
  return Serve(*library);
}

}  // namespace
}  // namespace caretaker::reference_host

int main(int argc, char** argv) { return caretaker::reference_host::Main(argc, argv); }
