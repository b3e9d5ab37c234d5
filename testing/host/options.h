// The host's command line: its own flags, beside those that the plugin registers.
//
// The order matters. gflags takes a flag that it does not know for an error, and the plugin's flags are known only once
// it is loaded: so --plugin is looked for first, the plugin loaded and asked to register, and then everything parsed,
// once.
#ifndef CARETAKER_TESTING_HOST_OPTIONS_H_
#define CARETAKER_TESTING_HOST_OPTIONS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace caretaker::reference_host {

struct Options {
  std::string plugin;
  std::string db;
  uint64_t cycles = 0;       // 0: serves until it is stopped.
  uint64_t seed_tables = 0;  // 0: the database is there already.
  uint64_t seed_rows = 0;
  uint64_t garbage_threshold_percent = 0;
  uint64_t garbage_walk_entries_max = 0;
  bool quiet = false;
  bool dry_run = false;
  std::string fault;        // See Drill::Parse.
  std::string cursor_file;  // Empty: the cursor is not kept.
};

// The value of the last --plugin=PATH or --plugin PATH before a `--`, spelled with one dash or two; empty without one.
// Reads nothing else.
std::string FindPlugin(int argc, const char* const* argv);

// Is it asked for --help? Then ParseOptions prints the flags, also without a plugin.
bool AsksForHelp(int argc, const char* const* argv);

// Parses the command line with gflags and validates every flag of the host's. A flag that gflags does not know, or
// whose value it cannot read, ends the process with exit status 2, and gflags' own words on stderr; --help and
// --version end it with 0. `loaded_plugin` is what FindPlugin answered. Call it once, on the only thread.
//
// InvalidArgument: a value is out of range, a mandatory flag is missing, a word is no flag, or --plugin names another
// file than the one that is loaded (as a flag file can). The message says which, what was seen and what is allowed.
absl::StatusOr<Options> ParseOptions(int argc, char** argv, const std::string& loaded_plugin);

// The ranges of the values, apart from where they come from. As ParseOptions.
absl::Status Validate(const Options& options);

}  // namespace caretaker::reference_host

#endif  // CARETAKER_TESTING_HOST_OPTIONS_H_
