// A whole host in C++17 with the kit of plugin/host/: a registry in a std::map, the kit's table locks, an engine, and
// ticks until one cycle is complete.
//
//   host PATH_OF_PLUGIN
//
// docs/hosting.md walks through it. Prints a line per tick, then all keys with their values; the plugin's events go to
// stderr. Exit status: 0 when the cycle is complete, 1 when something failed, 2 for a wrong command line or plugin.
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "maintenance/engine.h"
#include "plugin/host/plugin.h"
#include "plugin/host/table_lock_map.h"
#include "plugin/maintenance_plugin.h"
#include "registry/metastore.h"

namespace {

using caretaker::host::Plugin;
using caretaker::host::PluginLibrary;

// The continuation is the last key of the page: the next page begins after it.
class MapMetaStore : public caretaker::registry::MetaStore {
 public:
  absl::Status ScanPage(const caretaker::registry::MetaStoreCall&, absl::string_view prefix,
                        absl::string_view continuation, uint32_t limit, caretaker::registry::PageSink& sink) override {
    using caretaker::registry::PageEntryAnswer;
    if (!continuation.empty() && !absl::StartsWith(continuation, prefix)) {
      return absl::OutOfRangeError("the continuation is of another prefix");
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    auto next = continuation.empty() ? entries.lower_bound(std::string(prefix))
                                     : entries.upper_bound(std::string(continuation));
    std::string last(continuation);
    for (bool full = false; next != entries.end() && absl::StartsWith(next->first, prefix); ++next) {
      if (full) {
        sink.ContinueAfter(last);
        return absl::OkStatus();
      }
      const PageEntryAnswer answer = sink.Entry(next->first, next->second);
      if (answer == PageEntryAnswer::kRefused) return absl::AbortedError("an entry was refused");
      last = next->first;
      full = --limit == 0 || answer == PageEntryAnswer::kTakenAndStop;
    }
    sink.EndOfPrefix();
    return absl::OkStatus();
  }

  absl::Status Get(const caretaker::registry::MetaStoreCall&, absl::string_view key,
                   caretaker::registry::ValueSink& sink) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries.find(std::string(key));
    return found == entries.end() ? absl::NotFoundError("") : sink.Value(found->second);
  }

  absl::Status CompareAndSet(const caretaker::registry::MetaStoreCall&, absl::string_view key,
                             absl::string_view expected, absl::string_view desired,
                             caretaker::registry::CompareAndSetOutcome* outcome) override {
    using caretaker::registry::CompareAndSetOutcome;
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = entries.find(std::string(key));
    const bool same = found != entries.end() && found->second == expected;
    if (same) found->second = std::string(desired);
    *outcome = same ? CompareAndSetOutcome::kSwapped : CompareAndSetOutcome::kMismatch;
    return absl::OkStatus();
  }

  std::map<std::string, std::string> entries;

 private:
  std::mutex mutex_;  // Guards `entries` while a tick runs.
};

class CountingEngine : public caretaker::maintenance::Engine {
 public:
  absl::Status Maintain(const caretaker::maintenance::OperationCall&,
                        const caretaker::maintenance::TableGeneration& generation,
                        caretaker::maintenance::OperationResult* result) override {
    ++operations;
    if (generation.version < UINT64_MAX) result->new_version = generation.version + 1;
    return absl::OkStatus();
  }

  uint64_t operations = 0;
};

class StderrLog : public caretaker::host::EventLog {
 public:
  void Event(const maintenance_event& event) override {
    std::fprintf(stderr, "event: %.*s\n", static_cast<int>(event.text.size), event.text.data);
  }
};

int Fail(int exit_status, const absl::Status& status) {
  std::fprintf(stderr, "host: %s\n", std::string(status.message()).c_str());
  return exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  const absl::StatusOr<PluginLibrary> library = PluginLibrary::Load(argc == 2 ? argv[1] : "");
  if (!library.ok()) return Fail(2, library.status());
  if (const absl::Status registered = library->RegisterFlags(); !registered.ok()) return Fail(2, registered);
  // A server parses its command line here: the plugin's flags are known now.

  MapMetaStore metastore;
  metastore.entries = {
      {"tbl/people/accounts", R"({"location":"d/1","engine":"demo","current_version":4})"},
      {"tbl/shop/orders", R"({"location":"d/2","engine":"demo"})"},
      {"tbl/shop/stock", R"({"location":"d/3","engine":"demo","current_version":99})"},
      {"usr/ann", "not a table"},
  };
  caretaker::host::TableLockMap locks;
  CountingEngine engine;
  StderrLog log;
  caretaker::host::InstanceOptions options;
  options.settings = {{"maintenance_table_page_size", "2"}};
  absl::StatusOr<std::unique_ptr<Plugin>> plugin =
      Plugin::Create(*library, {&metastore, &locks, &engine, /*control=*/nullptr, &log}, options);
  if (!plugin.ok()) return Fail(1, plugin.status());

  maintenance_tick_context tick;
  do {
    if (const absl::Status ticked = (*plugin)->Tick(&tick); !ticked.ok()) return Fail(1, ticked);
    std::printf("tick %d: scanned %d, operations %d, maintained %d, corrupt %d, next in %d ms\n",
                static_cast<int>(tick.tick_number), static_cast<int>(tick.scanned), static_cast<int>(tick.operations),
                static_cast<int>(tick.outcomes[MAINTENANCE_OUTCOME_MAINTAINED]),
                static_cast<int>(tick.outcomes[MAINTENANCE_OUTCOME_CORRUPT]), static_cast<int>(tick.call_again_ms));
  } while (tick.cycle_completed == 0);
  plugin->reset();  // Destroys the instance. The library stays mapped.

  std::printf("%d operations\n", static_cast<int>(engine.operations));
  for (const auto& [key, value] : metastore.entries) std::printf("%s %s\n", key.c_str(), value.c_str());
  return 0;
}
