// Loads a maintenance plugin and runs an instance of it, for hosts in C++.
#ifndef CARETAKER_PLUGIN_HOST_PLUGIN_H_
#define CARETAKER_PLUGIN_HOST_PLUGIN_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/host/host_tables.h"
#include "plugin/maintenance_plugin.h"

namespace caretaker::host {

// The functions of one loaded plugin. Copies share it. It stays mapped for the life of the process: what it registered
// with gflags can not be taken back. Thread-safety: any thread.
class PluginLibrary {
 public:
  // Maps the file with all its symbols resolved, in a scope of its own, finds the ten exports and checks the ABI
  // version. Errors name the path and, where it has any, the linker's words. InvalidArgument: the path is empty;
  // NotFound: the file can not be loaded; DataLoss: it is cut off; FailedPrecondition: it is no plugin, or one of
  // another ABI version.
  static absl::StatusOr<PluginLibrary> Load(const std::string& path);

  const maintenance_descriptor& descriptor() const { return *describe(); }
  absl::Status RegisterFlags() const;

  decltype(&maintenance_describe) describe;
  decltype(&maintenance_register_flags) register_flags;
  decltype(&maintenance_check_options) check_options;
  decltype(&maintenance_create) create;
  decltype(&maintenance_tick) tick;
  decltype(&maintenance_get_settings) get_settings;
  decltype(&maintenance_report) report;
  decltype(&maintenance_export_cursor) export_cursor;
  decltype(&maintenance_forget_failures) forget_failures;
  decltype(&maintenance_destroy) destroy;

 private:
  PluginLibrary() = default;
};

// As the members of maintenance_create_args say.
struct InstanceOptions {
  std::vector<std::pair<std::string, std::string>> settings;  // Name and value.
  std::string prefix;                                         // Empty: the whole registry.
  std::string cursor;                                         // Empty: from the first key.
  bool without_gflags = false;
};

// One instance. Destroys it; REQUIRES: no tick runs then. Thread-safety: as maintenance_plugin.h says.
class Plugin {
 public:
  // `objects` are borrowed until this is destroyed. Errors as maintenance_create.
  static absl::StatusOr<std::unique_ptr<Plugin>> Create(const PluginLibrary& library, const HostObjects& objects,
                                                        const InstanceOptions& options);
  ~Plugin();
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;

  // Runs one tick on this thread and writes its results to `*results`, of which no member need be set before.
  absl::Status Tick(maintenance_tick_context* results);
  // Sets `*keys` to those of the candidates that the next tick will visit, and changes nothing; see
  // MAINTENANCE_TICK_DRY_RUN. At most a page of them.
  absl::Status DryRun(std::vector<std::string>* keys, maintenance_tick_context* results);
  maintenance_settings Settings() const;
  // One JSON document.
  absl::StatusOr<std::string> Report() const;
  // For InstanceOptions of a later instance.
  absl::StatusOr<std::string> ExportCursor() const;
  // Of one table, or of all with both names empty.
  absl::Status ForgetFailures(const std::string& table_namespace, const std::string& table_name);

 private:
  Plugin(const PluginLibrary& library, const HostObjects& objects) : library_(library), tables_(objects) {}
  // What an export gives to its sink.
  absl::StatusOr<std::string> Take(decltype(&maintenance_report) give) const;

  const PluginLibrary library_;
  const HostTables tables_;
  maintenance_instance* instance_ = nullptr;
};

}  // namespace caretaker::host

#endif  // CARETAKER_PLUGIN_HOST_PLUGIN_H_
