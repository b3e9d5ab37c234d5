#include "testing/host/options.h"

#include <gflags/gflags.h>

#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "testing/host/garbage_judge.h"
#include "testing/host/sample.h"

DEFINE_string(plugin, "", "Loads this maintenance plugin. Mandatory, on the command line itself.");
DEFINE_string(db, "", "Opens the RocksDB at this path: registry in the default family, rows in `data`. Mandatory.");
DEFINE_uint64(cycles, 0, "Ends after so many whole cycles; 0 serves until SIGTERM or SIGINT.");
DEFINE_uint64(
    seed_tables, 0,
    "First makes a database of so many sample tables at --db, where nothing may be; 0 makes none. 0..100000.");
DEFINE_uint64(seed_rows, 200,
              "Gives each sample table so many rows; in three tables of four, nine in ten are deleted "
              "then. 10..100000.");
DEFINE_uint64(garbage_threshold_percent, 50,
              "Compacts a table when at least so much of what its walk meets is garbage: deletions, and rows that they "
              "or newer rows hide. 1..100.");
DEFINE_uint64(garbage_walk_entries_max, 20000,
              "Judges a table by its first so many entries; more takes longer and misses less. 1..100000000.");
DEFINE_bool(quiet, false, "Prints the summary and trouble only: neither a line per tick nor, on a terminal, a bar.");
DEFINE_string(
    fault, "",
    "A drill: makes tables end in an outcome, as OUTCOME or OUTCOME@TEXT for those whose key holds TEXT, separated "
    "by commas. Writes nothing for it.");
DEFINE_string(cursor_file, "", "Keeps the cursor in this file after each tick, and goes on from it at the start.");
DEFINE_bool(dry_run, false, "Prints the keys of the tables that the next tick would visit, changes nothing, and ends.");

DECLARE_bool(help);
DECLARE_bool(helpshort);

namespace google {
// Not in gflags' headers, but exported for this use: what it calls to end the process.
extern void (*gflags_exitfunc)(int);
}  // namespace google

namespace caretaker::reference_host {
namespace {

// `word` without its one or two dashes; false when it has none.
bool StripDashes(absl::string_view* word) {
  if (!absl::StartsWith(*word, "-")) return false;
  word->remove_prefix(absl::StartsWith(*word, "--") ? 2 : 1);
  return true;
}

absl::Status CheckRange(absl::string_view flag, uint64_t value, uint64_t min, uint64_t max) {
  if (value >= min && value <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, ": ", value, " is out of range, allowed ", min, "..", max, "; give another value"));
}

absl::Status CheckGiven(absl::string_view flag, const std::string& value) {
  if (!value.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, ": is not given, a path is needed; give --", flag, "=PATH"));
}

void PrintHelp() {
  google::ShowUsageWithFlagsRestrict("maintenance_host", "testing/host/options");
  google::ShowUsageWithFlagsRestrict("maintenance_host", "plugin/flags");
}

}  // namespace

std::string FindPlugin(int argc, const char* const* argv) {
  std::string found;
  for (int i = 1; i < argc; ++i) {
    absl::string_view word = argv[i];
    if (word == "--") break;
    if (!StripDashes(&word)) continue;
    if (word == "plugin" && i + 1 < argc) {
      found = argv[++i];
    } else if (absl::StartsWith(word, "plugin=")) {
      found = std::string(word.substr(sizeof("plugin=") - 1));
    }
  }
  return found;
}

bool AsksForHelp(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    absl::string_view word = argv[i];
    if (word == "--") break;
    if (StripDashes(&word) && (word == "help" || word == "helpshort")) return true;
  }
  return false;
}

absl::StatusOr<Options> ParseOptions(int argc, char** argv, const std::string& loaded_plugin) {
  google::gflags_exitfunc = [](int status) { std::exit(status == 0 ? 0 : 2); };
  google::SetUsageMessage("maintains the tables of a RocksDB through a plugin: --plugin=PATH --db=PATH [FLAG...]");
  google::ParseCommandLineNonHelpFlags(&argc, &argv, /*remove_flags=*/true);
  if (FLAGS_help || FLAGS_helpshort) {
    PrintHelp();
    std::exit(0);
  }
  google::HandleCommandLineHelpFlags();
  if (argc > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("argument ", argv[1], ": is no flag, allowed are flags only; write --NAME=VALUE"));
  }
  Options options;
  options.plugin = FLAGS_plugin;
  options.db = FLAGS_db;
  options.cycles = FLAGS_cycles;
  options.seed_tables = FLAGS_seed_tables;
  options.seed_rows = FLAGS_seed_rows;
  options.garbage_threshold_percent = FLAGS_garbage_threshold_percent;
  options.garbage_walk_entries_max = FLAGS_garbage_walk_entries_max;
  options.quiet = FLAGS_quiet;
  options.dry_run = FLAGS_dry_run;
  options.cursor_file = FLAGS_cursor_file;
  options.fault = FLAGS_fault;
  if (options.plugin != loaded_plugin) {
    return absl::InvalidArgumentError(absl::StrCat("--plugin: is ", options.plugin, ", but ", loaded_plugin,
                                                   " is loaded already; give it once, on the command line itself"));
  }
  if (absl::Status valid = Validate(options); !valid.ok()) return valid;
  return options;
}

absl::Status Validate(const Options& options) {
  const absl::Status checks[] = {
      CheckGiven("plugin", options.plugin),
      CheckGiven("db", options.db),
      CheckRange("seed_tables", options.seed_tables, 0, SampleOptions::kTablesMax),
      CheckRange("seed_rows", options.seed_rows, 10, SampleOptions::kRowsPerTableMax),
      CheckRange("garbage_threshold_percent", options.garbage_threshold_percent, 1, 100),
      CheckRange("garbage_walk_entries_max", options.garbage_walk_entries_max, 1, GarbageJudge::kWalkedEntriesMax),
  };
  for (const absl::Status& check : checks) {
    if (!check.ok()) return check;
  }
  return absl::OkStatus();
}

}  // namespace caretaker::reference_host
