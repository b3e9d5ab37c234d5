// The plugin's flags in a host that has gflags of its own; no plugin code is linked here.
#include <dlfcn.h>
#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "plugin/maintenance_plugin.h"
#include "testing/fakes/c_host.h"

namespace caretaker {
namespace {

using ::testing::HasSubstr;

constexpr const char* kFlags[] = {"maintenance_interval_secs",      "maintenance_table_page_size",
                                  "maintenance_max_operations",     "maintenance_tick_budget_ms",
                                  "maintenance_table_timeout_ms",   "maintenance_lock_wait_ms",
                                  "maintenance_lock_budget_ms",     "maintenance_scan_requests_max",
                                  "maintenance_backoff_cycles_max", "maintenance_check_drop_markers"};

class PluginFlagsTest : public ::testing::Test {
 protected:
  PluginFlagsTest() : library_(dlopen(std::getenv("MAINTENANCE_PLUGIN"), RTLD_NOW | RTLD_LOCAL)) {
    std::memset(&error_, 0, sizeof(error_));
    error_.struct_size = sizeof(error_);
  }

  template <typename Function>
  Function* Load(const char* name) {
    return reinterpret_cast<Function*>(dlsym(library_, name));
  }
  int32_t RegisterFlags() { return Load<int32_t(maintenance_error*)>("maintenance_register_flags")(&error_); }
  static bool Known(const char* flag) {
    google::CommandLineFlagInfo info;
    return google::GetCommandLineFlagInfo(flag, &info);
  }
  // The settings of a new instance.
  maintenance_settings Settings(uint32_t flags = 0) {
    maintenance_create_args args;
    std::memset(&args, 0, sizeof(args));
    args.struct_size = sizeof(args);
    args.abi_version = MAINTENANCE_ABI_VERSION;
    args.flags = flags;
    args.host = host_.tables();
    maintenance_settings settings;
    std::memset(&settings, 0, sizeof(settings));
    settings.struct_size = sizeof(settings);
    maintenance_instance* instance = nullptr;
    created_ = Load<decltype(maintenance_create)>("maintenance_create")(&args, &instance, &error_);
    if (created_ != MAINTENANCE_OK) return settings;
    Load<decltype(maintenance_get_settings)>("maintenance_get_settings")(instance, &settings);
    Load<decltype(maintenance_destroy)>("maintenance_destroy")(instance, nullptr);
    return settings;
  }

  testing::CHost host_;
  void* const library_;
  maintenance_error error_;
  int32_t created_ = MAINTENANCE_UNKNOWN;
};

// One test, since what is registered stays so for the life of the process.
TEST_F(PluginFlagsTest, FlagsAreRegisteredByACallAndReadAtCreate) {
  ASSERT_NE(library_, nullptr) << dlerror();
  for (const char* flag : kFlags) EXPECT_FALSE(Known(flag)) << flag << " is there before anybody asked for it";
  Settings(MAINTENANCE_CREATE_WITHOUT_GFLAGS);
  EXPECT_EQ(created_, MAINTENANCE_OK);
  for (const char* flag : kFlags) EXPECT_FALSE(Known(flag));

  ASSERT_EQ(RegisterFlags(), MAINTENANCE_OK) << error_.message;
  ASSERT_EQ(RegisterFlags(), MAINTENANCE_OK) << "a second call does nothing";
  for (const char* flag : kFlags) EXPECT_TRUE(Known(flag)) << flag;
  EXPECT_EQ(Settings().table_page_size.source, MAINTENANCE_SOURCE_DEFAULT);

  EXPECT_NE(google::SetCommandLineOption("maintenance_table_page_size", "9"), "");
  EXPECT_NE(google::SetCommandLineOption("maintenance_check_drop_markers", "true"), "");
  ::setenv("MAINTENANCE_TABLE_PAGE_SIZE", "8", 1);
  maintenance_settings settings = Settings();
  EXPECT_EQ(settings.table_page_size.value, 9);
  EXPECT_EQ(settings.table_page_size.source, MAINTENANCE_SOURCE_FLAG);
  EXPECT_EQ(settings.check_drop_markers.value, 1);
  settings = Settings(MAINTENANCE_CREATE_WITHOUT_GFLAGS);
  EXPECT_EQ(settings.table_page_size.value, 8);
  EXPECT_EQ(settings.table_page_size.source, MAINTENANCE_SOURCE_ENVIRONMENT);

  EXPECT_NE(google::SetCommandLineOption("maintenance_table_page_size", "0"), "");
  Settings();
  EXPECT_EQ(created_, MAINTENANCE_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("maintenance_table_page_size (flag): 0 is out of range, allowed 1..10000"));

  // gflags keeps pointers into the library, so closing it must not unmap it.
  dlclose(library_);
  std::vector<google::CommandLineFlagInfo> all;
  google::GetAllFlags(&all);
  EXPECT_EQ(google::SetCommandLineOption("maintenance_table_page_size", "7"), "maintenance_table_page_size set to 7\n");
}

}  // namespace
}  // namespace caretaker
