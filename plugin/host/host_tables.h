// The C tables of a host that is written in C++: its metastore, locks, engine and control behind the functions of
// plugin/maintenance_plugin.h.
//
// The functions catch every exception of the objects behind them (INTERNAL, RESOURCE_EXHAUSTED for bad_alloc) and pass
// statuses on with their messages. Thread-safety: as the objects behind.
#ifndef CARETAKER_PLUGIN_HOST_HOST_TABLES_H_
#define CARETAKER_PLUGIN_HOST_HOST_TABLES_H_

#include "maintenance/engine.h"
#include "maintenance/host_control.h"
#include "maintenance/table_locks.h"
#include "plugin/maintenance_plugin.h"
#include "registry/metastore.h"

namespace caretaker::host {

// Where the event of each tick goes.
class EventLog {
 public:
  virtual ~EventLog() = default;
  // On the tick's thread, once per tick; the event is borrowed for the call. Does not throw.
  virtual void Event(const maintenance_event& event) = 0;
};

// What a plugin's instance works with; all borrowed until the instance is destroyed. `control` and `log` may be null;
// without a log the events are lines of glog.
struct HostObjects {
  registry::MetaStore* metastore = nullptr;
  maintenance::TableLocks* locks = nullptr;
  maintenance::Engine* engine = nullptr;
  maintenance::HostControl* control = nullptr;
  EventLog* log = nullptr;
};

class HostTables {
 public:
  explicit HostTables(const HostObjects& objects);
  HostTables(const HostTables&) = delete;
  HostTables& operator=(const HostTables&) = delete;

  // For maintenance_create. Valid as long as this is.
  const maintenance_host* get() const { return &host_; }

 private:
  HostObjects objects_;
  maintenance_metastore metastore_;
  maintenance_locks locks_;
  maintenance_engine engine_;
  maintenance_control control_;
  maintenance_log log_;
  maintenance_host host_;
};

}  // namespace caretaker::host

#endif  // CARETAKER_PLUGIN_HOST_HOST_TABLES_H_
