// The reference host: a server on one RocksDB that maintains its tables through a loaded plugin.
//
//   maintenance_host --plugin=PATH --db=PATH [--cycles=N] [--seed_tables=N] [--cursor_file=PATH] [--fault=OUTCOME@TEXT]
//   [--dry_run] [--quiet]
//   [--help] [plugin flags]
//
// Read it from the bottom up: Main is what every host does before it serves, Serve what it keeps while it does. Ticks
// run on the main thread; one more thread receives signals, and one watches over the operation that runs.
//
// Exit status: 0 after all cycles, or stopped by a first signal; 1 when something failed at run time, or a signal came
// while the sample was made, of which nothing is left then; 2 for a wrong command line, setting or plugin; 130 or 143
// when a second SIGINT or SIGTERM ended it.
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "maintenance/engine.h"
#include "maintenance/table_locks.h"
#include "plugin/host/plugin.h"
#include "plugin/host/table_lock_map.h"
#include "registry/metastore.h"
#include "registry/rocksdb_metastore.h"
#include "registry/table_ref.h"
#include "testing/host/console.h"
#include "testing/host/cursor_file.h"
#include "testing/host/cycle_progress.h"
#include "testing/host/database.h"
#include "testing/host/drill.h"
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

int Fail(Console* console, int exit_status, const absl::Status& status) {
  console->Complain(status.message());
  return exit_status;
}

// Passes on the events of ticks in which not all went well: they name tables and reasons. What went well is in the
// line of the tick; why a tick failed is told by its status.
class TroubleLog : public host::EventLog {
 public:
  explicit TroubleLog(Console* console) : console_(*console) {}

  void Event(const maintenance_event& event) override {
    if (event.severity == MAINTENANCE_SEVERITY_INFO || event.tick->status != MAINTENANCE_OK) return;
    console_.Complain({event.text.data, event.text.size});
  }

 private:
  Console& console_;
};

// Moves the bar after each operation: a tick may take minutes.
class ObservedEngine : public maintenance::Engine {
 public:
  ObservedEngine(maintenance::Engine* engine, CycleProgress* progress, Console* console)
      : engine_(*engine), progress_(*progress), console_(*console) {}

  absl::Status Maintain(const maintenance::OperationCall& call, const maintenance::TableGeneration& generation,
                        maintenance::OperationResult* result) override {
    const absl::Status status = engine_.Maintain(call, generation, result);
    progress_.OperationEnded();
    DrawBar(progress_, &console_, /*now=*/false);
    return status;
  }

  static void DrawBar(const CycleProgress& progress, Console* console, bool now) {
    console->DrawBar([&](size_t columns) { return progress.Text(columns, std::chrono::steady_clock::now()); }, now);
  }

 private:
  maintenance::Engine& engine_;
  CycleProgress& progress_;
  Console& console_;
};

// Counts what there is, for the summary: a count that fails is told, and stops nothing.
DatabaseSize SizeOf(const Database& database, const StopSwitch& stop, Console* console) {
  DatabaseSize size;
  size.bytes = database.BytesOnDisk();
  // A host that was stopped opens a few files for the sake of its summary, not all.
  uint64_t files_left = stop.stopped() ? kFilesCountedWhenStopped : UINT64_MAX;
  const absl::StatusOr<uint64_t> entries =
      database.CountEntries([&] { return stop.stopped() && (files_left == 0 || files_left-- == 0); });
  if (entries.ok()) {
    size.entries = *entries;
  } else if (!absl::IsCancelled(entries.status())) {
    console->Complain(entries.status().message());
  }
  return size;
}

// An instance that goes on from where the file says, or, with a word about why, from the first key.
absl::StatusOr<std::unique_ptr<host::Plugin>> CreateInstance(const host::PluginLibrary& library,
                                                             const host::HostObjects& objects,
                                                             const CursorFile* cursor_file, Console* console) {
  host::InstanceOptions options;
  if (cursor_file != nullptr) {
    absl::StatusOr<std::string> cursor = cursor_file->Read();
    if (!cursor.ok()) return cursor.status();
    options.cursor = *std::move(cursor);
  }
  absl::StatusOr<std::unique_ptr<host::Plugin>> plugin = host::Plugin::Create(library, objects, options);
  if (plugin.ok() || options.cursor.empty()) return plugin;
  console->Complain(absl::StrCat("the walk begins at the first key: ", std::string(plugin.status().message())));
  options.cursor.clear();
  return host::Plugin::Create(library, objects, options);
}

// Keeps the place after a tick; complains when that begins to fail.
class CursorKeeper {
 public:
  // `file` may be null: nothing is kept.
  CursorKeeper(const CursorFile* file, Console* console) : file_(file), console_(*console) {}

  void TickEnded(const host::Plugin& plugin) {
    if (file_ == nullptr) return;
    const absl::StatusOr<std::string> cursor = plugin.ExportCursor();
    const absl::Status kept = cursor.ok() ? file_->Write(*cursor) : cursor.status();
    if (!kept.ok() && works_) console_.Complain(kept.message());
    works_ = kept.ok();
  }

 private:
  const CursorFile* const file_;
  Console& console_;
  bool works_ = true;
};

// Ticks from the first to the last, with their lines or their bar.
TickLoopEnd RunInstance(const Options& options, const Database& database, host::Plugin* plugin, StopSwitch* stop,
                        CursorKeeper* cursor, CycleProgress* progress, Console* console, Summary* summary) {
  TickLoopOptions loop;
  loop.cycles = options.cycles;
  loop.interval = std::chrono::seconds(plugin->Settings().interval_secs.value);
  TickLoopCalls calls;
  calls.tick = [&](maintenance_tick_context* tick) { return plugin->Tick(tick); };
  calls.told = [&](const absl::Status& status, const maintenance_tick_context& tick) {
    summary->Add(status, tick);
    cursor->TickEnded(*plugin);
    progress->TickEnded(tick, std::chrono::steady_clock::now());
    if (console->style() == Console::Style::kLines) console->Print(TickLine(status, tick));
    if (!status.ok()) console->Complain(absl::StrCat("tick ", tick.tick_number, ": ", std::string(status.message())));
    ObservedEngine::DrawBar(*progress, console, /*now=*/true);
  };
  // Over a database that takes no more writes every further table would be compacted for nothing.
  calls.wait = [&](std::chrono::milliseconds time) { return !database.WriteError().ok() || stop->WaitFor(time); };
  TickLoopEnd end = RunTicks(loop, calls);
  console->EndBar();
  if (end.status.ok()) end.status = database.WriteError();
  return end;
}

// Prints what the next tick would visit.
int PrintDryRun(host::Plugin* plugin, Console* console) {
  std::vector<std::string> keys;
  maintenance_tick_context tick;
  const absl::Status named = plugin->DryRun(&keys, &tick);
  if (!named.ok()) return Fail(console, kRunTimeError, named);
  for (const std::string& key : keys) console->Print(registry::Printable(key));
  console->Note(absl::StrCat(keys.size(), " tables would be visited; nothing was changed"));
  const absl::Status printed = console->Flush();
  return printed.ok() ? 0 : Fail(console, kRunTimeError, printed);
}

// Opens, maintains, sums up. What it makes goes away in reverse order, the database last.
int Serve(const Options& options, const Drill& drill, const host::PluginLibrary& library, StopSwitch* stop,
          StopSignals* signals, Console* console) {
  signals->set_phase("opening the database");
  const absl::StatusOr<std::unique_ptr<Database>> opened = Database::Open(options.db);
  if (!opened.ok()) return Fail(console, kRunTimeError, opened.status());
  const Database& database = **opened;
  const absl::StatusOr<std::unique_ptr<registry::RocksDbMetaStore>> metastore =
      registry::RocksDbMetaStore::Create(database.db(), database.registry());
  if (!metastore.ok()) return Fail(console, kRunTimeError, metastore.status());
  signals->set_phase("counting the entries of all files");
  const DatabaseSize before = options.dry_run ? DatabaseSize() : SizeOf(database, *stop, console);

  host::TableLockMap locks;
  RocksDbEngine engine(database.db(), database.data(),
                       {options.garbage_threshold_percent, options.garbage_walk_entries_max});
  const StopSwitch::Action cancel(stop, [&] {
    engine.Cancel();
    locks.CancelWaits();
  });
  TroubleLog log(console);
  CycleProgress progress(database.EstimatedRegistrations(), std::chrono::steady_clock::now());
  const std::unique_ptr<registry::MetaStore> drilled_metastore = drill.Wrap(metastore->get());
  const std::unique_ptr<maintenance::TableLocks> drilled_locks = drill.Wrap(&locks);
  const std::unique_ptr<maintenance::Engine> drilled_engine = drill.Wrap(&engine);
  ObservedEngine observed(drilled_engine.get(), &progress, console);
  const CursorFile cursor_file(options.cursor_file);
  const absl::StatusOr<std::unique_ptr<host::Plugin>> plugin =
      CreateInstance(library, {drilled_metastore.get(), drilled_locks.get(), &observed, stop, &log},
                     options.cursor_file.empty() ? nullptr : &cursor_file, console);
  if (!plugin.ok()) return Fail(console, kRunTimeError, plugin.status());

  if (options.dry_run) return PrintDryRun(plugin->get(), console);
  console->Note(
      absl::StrCat("serving ", options.db, " with ", library.descriptor().name, " ", library.descriptor().version));
  signals->set_phase("a compaction is in its first flush, or waits behind another one");
  Summary summary;
  CursorKeeper cursor(options.cursor_file.empty() ? nullptr : &cursor_file, console);
  const StopSignals::Report report(signals, [&] {
    const absl::StatusOr<std::string> text = (*plugin)->Report();
    text.ok() ? console->Print(*text) : console->Complain(text.status().message());
  });
  const TickLoopEnd end = RunInstance(options, database, plugin->get(), stop, &cursor, &progress, console, &summary);
  signals->set_phase("counting entries and closing the database");
  if (!end.status.ok()) console->Complain(absl::StrCat("gives up: ", std::string(end.status.message())));
  console->Print(summary.Text(end.cycles, before, SizeOf(database, *stop, console)));
  if (const absl::Status printed = console->Flush(); !printed.ok()) return Fail(console, kRunTimeError, printed);
  return end.status.ok() ? 0 : kRunTimeError;
}

int Main(int argc, char** argv) {
  StopSignals::Block();
  Console before_options(Console::Style::kLines);
  const std::string path = FindPlugin(argc, argv);
  const absl::StatusOr<host::PluginLibrary> library = host::PluginLibrary::Load(path);
  if (library.ok()) {
    if (absl::Status registered = library->RegisterFlags(); !registered.ok()) {
      return Fail(&before_options, kUsageError, registered);
    }
  } else if (!AsksForHelp(argc, argv)) {
    return Fail(&before_options, kUsageError, library.status());
  }
  const absl::StatusOr<Options> options = ParseOptions(argc, argv, path);
  if (!options.ok()) return Fail(&before_options, kUsageError, options.status());
  if (!library.ok()) return Fail(&before_options, kUsageError, library.status());
  const absl::StatusOr<Drill> drill = Drill::Parse(options->fault);
  if (!drill.ok()) return Fail(&before_options, kUsageError, drill.status());
  maintenance_error error;
  error.struct_size = sizeof(error);
  if (library->check_options(nullptr, 0, &error) != MAINTENANCE_OK) {
    return Fail(&before_options, kUsageError, absl::InvalidArgumentError(error.message));
  }

  Console console(Console::StyleFor(options->quiet));
  StopSwitch stop;
  const absl::StatusOr<std::unique_ptr<StopSignals>> signals =
      StopSignals::Start(&stop, [&](absl::string_view words) { console.Complain(words); });
  if (!signals.ok()) return Fail(&console, kRunTimeError, signals.status());
  if (options->seed_tables > 0) {
    (*signals)->set_phase("making the sample database");
    console.Note(absl::StrCat("making a sample of ", options->seed_tables, " tables at ", options->db));
    const absl::Status made =
        MakeSample(options->db, {options->seed_tables, options->seed_rows, [&stop] { return stop.stopped(); }});
    if (!made.ok()) return Fail(&console, kRunTimeError, made);
  }
  if (!options->fault.empty()) console.Complain(absl::StrCat("a drill: --fault=", options->fault));
  return Serve(*options, *drill, *library, &stop, signals->get(), &console);
}

}  // namespace
}  // namespace caretaker::reference_host

int main(int argc, char** argv) {
  try {
    return caretaker::reference_host::Main(argc, argv);
  } catch (const std::exception& exception) {
    // No thread, no memory: what the libraries under this can not give back as a status.
    std::fprintf(stderr, "maintenance_host: %s\n", exception.what());
    return 1;
  }
}
