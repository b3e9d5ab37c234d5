// The reference host: a server on one RocksDB that maintains its tables through a loaded plugin.
//
//   maintenance_host --plugin=PATH --db=PATH [--cycles=N] [--seed_tables=N] [--help] [plugin flags]
//
// Read it from the bottom up: Main is what every host does before it serves, Serve what it keeps while it does. Ticks
// run on the main thread; one more thread receives signals, and one watches over the operation that runs.
//
// Exit status: 0 after all cycles, or stopped by a first signal; 1 when something failed at run time; 2 for a wrong
// command line, setting or plugin; 130 or 143 when a second SIGINT or SIGTERM ended it.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "plugin/host/plugin.h"
#include "plugin/host/table_lock_map.h"
#include "registry/rocksdb_metastore.h"
#include "testing/host/database.h"
#include "testing/host/options.h"
#include "testing/host/rocksdb_engine.h"
#include "testing/host/sample.h"
#include "testing/host/stop_signals.h"
#include "testing/host/stop_switch.h"
#include "testing/host/summary.h"
#include "testing/host/tick_loop.h"

namespace caretaker::reference_host {
namespace {

constexpr int kRunTimeError = 1;
constexpr int kUsageError = 2;
// A host that was stopped by a signal opens no more files than this for the sake of its summary: 0.1 ms each.
constexpr uint64_t kFilesCountedWhenStopped = 5000;

void Complain(absl::string_view words) {
  std::fprintf(stderr, "maintenance_host: %.*s\n", static_cast<int>(words.size()), words.data());
}

int Fail(int exit_status, const absl::Status& status) {
  Complain(status.message());
  return exit_status;
}

void Print(const std::string& line) { std::printf("%s\n", line.c_str()); }

// Passes on the events of ticks in which not all went well: they name tables and reasons. What went well is in the
// line of the tick; why a tick failed is told by its status.
class TroubleLog : public host::EventLog {
 public:
  void Event(const maintenance_event& event) override {
    if (event.severity == MAINTENANCE_SEVERITY_INFO || event.tick->status != MAINTENANCE_OK) return;
    Complain({event.text.data, event.text.size});
  }
};

absl::StatusOr<DatabaseSize> SizeOf(const Database& database, bool count_entries) {
  DatabaseSize size;
  size.bytes = database.BytesOnDisk();
  if (!count_entries) return size;
  const absl::StatusOr<uint64_t> entries = database.CountEntries();
  if (!entries.ok()) return entries.status();
  size.entries = *entries;
  return size;
}

// Ticks from the first to the last, with their lines.
absl::StatusOr<uint64_t> RunInstance(const Options& options, const Database& database, host::Plugin* plugin,
                                     StopSwitch* stop, Summary* summary) {
  TickLoopOptions loop;
  loop.cycles = options.cycles;
  loop.interval = std::chrono::seconds(plugin->Settings().interval_secs.value);
  TickLoopCalls calls;
  calls.tick = [&](maintenance_tick_context* tick) { return plugin->Tick(tick); };
  calls.told = [&](const absl::Status& status, const maintenance_tick_context& tick) {
    summary->Add(status, tick);
    Print(TickLine(status, tick));
    if (!status.ok()) Complain(absl::StrCat("tick ", tick.tick_number, ": ", std::string(status.message())));
  };
  // Over a database that takes no more writes every further table would be compacted for nothing.
  calls.wait = [&](std::chrono::milliseconds time) { return !database.WriteError().ok() || stop->WaitFor(time); };
  return RunTicks(loop, calls);
}

// Opens, maintains, sums up. What it makes goes away in reverse order, the database last.
int Serve(const Options& options, const host::PluginLibrary& library, StopSwitch* stop, StopSignals* signals) {
  signals->set_phase("opening the database");
  const absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(options.db);
  if (!opened.ok()) return Fail(kRunTimeError, opened.status());
  const Database& database = **opened;
  const absl::StatusOr<std::unique_ptr<registry::RocksDbMetaStore>> metastore =
      registry::RocksDbMetaStore::Create(database.db(), database.registry());
  if (!metastore.ok()) return Fail(kRunTimeError, metastore.status());
  signals->set_phase("counting the entries of all files");
  const absl::StatusOr<DatabaseSize> before = SizeOf(database, /*count_entries=*/true);
  if (!before.ok()) return Fail(kRunTimeError, before.status());

  host::TableLockMap locks;
  RocksDbEngine engine(database.db(), database.data(),
                       {options.garbage_threshold_percent, options.garbage_walk_entries_max});
  const StopSwitch::Action cancel(stop, [&] {
    engine.Cancel();
    locks.CancelWaits();
  });
  TroubleLog log;
  const absl::StatusOr<std::unique_ptr<host::Plugin>> plugin =
      host::Plugin::Create(library, {metastore->get(), &locks, &engine, stop, &log}, {});
  if (!plugin.ok()) return Fail(kRunTimeError, plugin.status());

  Print(absl::StrCat("serving ", options.db, " with ", library.descriptor().name, " ", library.descriptor().version));
  signals->set_phase("a compaction is in its first flush, or waits behind another one");
  Summary summary;
  const absl::StatusOr<uint64_t> cycles = RunInstance(options, database, plugin->get(), stop, &summary);
  signals->set_phase("counting entries and closing the database");
  const absl::Status ended = cycles.ok() ? database.WriteError() : cycles.status();
  if (!ended.ok()) Complain(absl::StrCat("gives up: ", std::string(ended.message())));
  const absl::StatusOr<DatabaseSize> after =
      SizeOf(database, !stop->stopped() || database.FileCount() <= kFilesCountedWhenStopped);
  if (!after.ok()) return Fail(kRunTimeError, after.status());
  Print(summary.Text(cycles.value_or(0), *before, *after));
  return ended.ok() ? 0 : kRunTimeError;
}

int Main(int argc, char** argv) {
  StopSignals::Block();
  // Whoever reads the lines through a pipe gets each as it is printed.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string path = FindPlugin(argc, argv);
  const absl::StatusOr<host::PluginLibrary> library = host::PluginLibrary::Load(path);
  if (library.ok()) {
    if (absl::Status registered = library->RegisterFlags(); !registered.ok()) return Fail(kUsageError, registered);
  } else if (!AsksForHelp(argc, argv)) {
    return Fail(kUsageError, library.status());
  }
  const absl::StatusOr<Options> options = ParseOptions(argc, argv, path);
  if (!options.ok()) return Fail(kUsageError, options.status());
  if (!library.ok()) return Fail(kUsageError, library.status());
  maintenance_error error;
  error.struct_size = sizeof(error);
  if (library->check_options(nullptr, 0, &error) != MAINTENANCE_OK) {
    return Fail(kUsageError, absl::InvalidArgumentError(error.message));
  }

  StopSwitch stop;
  const absl::StatusOr<std::unique_ptr<StopSignals>> signals = StopSignals::Start(&stop);
  if (!signals.ok()) return Fail(kRunTimeError, signals.status());
  if (options->seed_tables > 0) {
    (*signals)->set_phase("making the sample database");
    Print(absl::StrCat("making a sample of ", options->seed_tables, " tables at ", options->db));
    const absl::Status made =
        MakeSample(options->db, {options->seed_tables, options->seed_rows, [&stop] { return stop.stopped(); }});
    if (!made.ok()) return Fail(kRunTimeError, made);
  }
  return Serve(*options, *library, &stop, signals->get());
}

}  // namespace
}  // namespace caretaker::reference_host

int main(int argc, char** argv) { return caretaker::reference_host::Main(argc, argv); }
