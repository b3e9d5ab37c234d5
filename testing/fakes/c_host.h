// A host written straight against maintenance_plugin.h, for tests of a loaded plugin: a map, one lock per table, an
// engine that counts versions up, and a fault for each host function. No code of the plugin or of the kit is in it.
#ifndef CARETAKER_TESTING_FAKES_C_HOST_H_
#define CARETAKER_TESTING_FAKES_C_HOST_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "plugin/maintenance_plugin.h"

namespace caretaker::testing {

// The host functions, as the plugin's errors name them.
inline constexpr const char* kHostFunctions[] = {"scan_page", "get",          "compare_and_set", "lock", "unlock",
                                                 "maintain",  "is_cancelled", "may_act",         "event"};

// Thread-safety: one tick at a time.
class CHost {
 public:
  CHost();
  CHost(const CHost&) = delete;
  CHost& operator=(const CHost&) = delete;

  // The tables, for create. Valid as long as this is.
  const maintenance_host* tables() const { return &host_; }

  std::map<std::string, std::string> entries;
  std::vector<std::string> maintained;         // "<key>@<version>"
  std::vector<std::string> events;             // Texts.
  std::map<uint64_t, std::string> open_locks;  // Names by handle.
  uint64_t fence_token = 5;
  std::map<std::string, uint64_t> calls;  // By host function.

  // Called at the start of each host function. What it returns instead of kNoFault is that function's status (for event
  // and unlock it only matters whether it throws).
  static constexpr int32_t kNoFault = -1;
  std::function<int32_t(const std::string& function)> fault;

  maintenance_host host_;
  maintenance_metastore metastore_;
  maintenance_locks locks_;
  maintenance_engine engine_;
  maintenance_control control_;
  maintenance_log log_;

  int32_t Enter(const char* function);

  uint64_t last_handle_ = 0;
};

}  // namespace caretaker::testing

#endif  // CARETAKER_TESTING_FAKES_C_HOST_H_
