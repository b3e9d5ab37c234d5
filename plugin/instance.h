// One plugin instance: what maintenance_create makes.
#ifndef CARETAKER_PLUGIN_INSTANCE_H_
#define CARETAKER_PLUGIN_INSTANCE_H_

#include <sys/types.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "maintenance/cursor_codec.h"
#include "maintenance/maintenance_limits.h"
#include "maintenance/table_sweep.h"
#include "plugin/host_codec.h"
#include "plugin/host_functions.h"
#include "plugin/maintenance_plugin.h"
#include "plugin/report.h"
#include "registry/registration_codec.h"

namespace caretaker::plugin {

// Thread-safety: any thread may call anything. A tick is exclusive by TryBegin; the other functions hold a mutex for
// the time of a copy and never wait for a tick.
class Instance {
 public:
  // REQUIRES: `args` is complete: a whole struct of this side's size. Errors as maintenance_create.
  static absl::StatusOr<std::unique_ptr<Instance>> Create(const maintenance_create_args& args);

  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // Runs one tick unless another one runs, and writes the results but not the inputs of `*host_context`, a whole
  // struct. Returns the tick's status. Emits exactly one event, unless it returns Unavailable for a second tick.
  absl::Status Tick(maintenance_tick_context* host_context);

  // Names the next tick's candidates to the host's sink, and changes nothing; see TableSweep::DryRun. As Tick
  // otherwise, but emits no event.
  absl::Status DryRun(const maintenance_bytes_sink& host_sink, maintenance_tick_context* host_context);

  // As maintenance_forget_failures, for one table, or for all when both names are empty.
  absl::Status ForgetFailures(absl::string_view table_namespace, absl::string_view table_name);
  maintenance_settings Settings() const;
  std::string Report() const;
  // The cursor as it was when the last tick ended.
  std::string Cursor() const;

  // Claims the instance for destruction. False: a tick is running.
  bool TryRetire() { return !busy_.exchange(true, std::memory_order_acquire); }
  // False in a child after fork.
  bool InCreatingProcess() const;

 private:
  Instance(const HostTables& host, const maintenance::MaintenanceLimits& limits, absl::string_view prefix,
           maintenance::CursorState resumed);

  // What a second tick is told.
  absl::Status TurnAway(maintenance_tick_context* host_context) const;
  // Tells the host, or glog, about result_. An error: the host's log function broke a rule.
  absl::Status EmitEvent(const maintenance_tick_context* context);

  // Immutable.
  const HostTables host_;
  const maintenance::MaintenanceLimits limits_;
  const std::string prefix_;
  const pid_t pid_;

  // Used by the tick that holds busy_.
  HostMetaStore metastore_;
  HostLocks locks_;
  HostEngine engine_;
  HostControlFunctions control_;
  mutable HostClock clock_;  // Any thread.
  std::unique_ptr<registry::RegistrationCodec> codec_;
  std::optional<maintenance::TableSweep> sweep_;
  maintenance::TickResult result_;
  std::string next_cursor_;
  maintenance::TickResult next_tick_;

  std::atomic<bool> busy_{false};

  mutable std::mutex mutex_;
  InstanceStatus status_;  // Guarded by mutex_, as what follows.
  std::string cursor_;
};

}  // namespace caretaker::plugin

#endif  // CARETAKER_PLUGIN_INSTANCE_H_
