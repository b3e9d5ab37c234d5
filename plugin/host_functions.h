// The host's C tables as the C++ interfaces that the sweep works with.
//
// Every call of a host function goes through here: an exception that it lets out, a status that is none, an outcome
// that it did not write or that does not exist, and a sink that it calls after it returned become contract violations
// (registry/contract_violation.h). Thread-safety: one thread at a time, except HostClock.
#ifndef CARETAKER_PLUGIN_HOST_FUNCTIONS_H_
#define CARETAKER_PLUGIN_HOST_FUNCTIONS_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "maintenance/engine.h"
#include "maintenance/host_control.h"
#include "maintenance/table_locks.h"
#include "plugin/host_call.h"
#include "plugin/maintenance_plugin.h"
#include "registry/metastore.h"

namespace caretaker::plugin {

// The host's tables, copied; absent ones have struct_size 0.
struct HostTables {
  maintenance_metastore metastore;
  maintenance_locks locks;
  maintenance_engine engine;
  maintenance_control control;
  maintenance_clock clock;
  maintenance_log log;
  maintenance_codec codec;

  // Copies and checks. InvalidArgument: a table or a mandatory function is missing; the message names it.
  absl::Status CopyFrom(const maintenance_host* host);
};

class HostMetaStore final : public registry::MetaStore {
 public:
  explicit HostMetaStore(const maintenance_metastore& host) : host_(host) {}

  absl::Status ScanPage(const registry::MetaStoreCall& call, absl::string_view prefix, absl::string_view continuation,
                        uint32_t limit, registry::PageSink& sink) override;
  absl::Status Get(const registry::MetaStoreCall& call, absl::string_view key, registry::ValueSink& sink) override;
  absl::Status CompareAndSet(const registry::MetaStoreCall& call, absl::string_view key, absl::string_view expected,
                             absl::string_view desired, registry::CompareAndSetOutcome* outcome) override;

 private:
  // May these bytes be read [B-2]? If not, that is remembered.
  bool Check(maintenance_bytes bytes);

  const maintenance_metastore host_;
  SinkGate gate_;
  // Sinks live as long as the instance: a call that comes too late finds a closed gate, not freed memory.
  registry::PageSink* page_sink_ = nullptr;
  registry::ValueSink* value_sink_ = nullptr;
  bool sink_out_of_memory_ = false;

  friend struct MetaStoreSinks;
};

class HostLocks final : public maintenance::TableLocks {
 public:
  explicit HostLocks(const maintenance_locks& host) : host_(host) {}

  absl::Status Lock(absl::string_view table_namespace, absl::string_view table_name, int64_t wait_ns,
                    maintenance::LockOutcome* outcome, uint64_t* handle) override;
  absl::Status Unlock(uint64_t handle) override;

 private:
  const maintenance_locks host_;
};

class HostEngine final : public maintenance::Engine {
 public:
  explicit HostEngine(const maintenance_engine& host) : host_(host) {}

  absl::Status Maintain(const maintenance::OperationCall& call, const maintenance::TableGeneration& generation,
                        maintenance::OperationResult* result) override;

 private:
  const maintenance_engine host_;
};

class HostControlFunctions final : public maintenance::HostControl {
 public:
  explicit HostControlFunctions(const maintenance_control& host) : host_(host) {}

  absl::Status IsCancelled(bool* cancelled) override;
  absl::Status MayAct(bool* may_act, std::optional<uint64_t>* fence_token) override;

 private:
  const maintenance_control host_;
};

// The host's clock, or the system's monotonic clock where the host gives none. A clock that throws stands still.
class HostClock final : public maintenance::Clock {
 public:
  explicit HostClock(const maintenance_clock& host) : host_(host) {}

  int64_t NowNs() override;

 private:
  const maintenance_clock host_;
  std::atomic<int64_t> last_ns_{0};
};

}  // namespace caretaker::plugin

#endif  // CARETAKER_PLUGIN_HOST_FUNCTIONS_H_
