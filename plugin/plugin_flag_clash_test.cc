// The plugin in a host that has a flag of the same name; no plugin code is linked here.
#include <dlfcn.h>
#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "plugin/maintenance_plugin.h"
#include "testing/fakes/c_host.h"

// glog's names, in a host without glog.
DEFINE_string(log_dir, "here", "The host's own.");
DEFINE_int32(v, 7, "The host's own.");
DEFINE_int32(maintenance_lock_wait_ms, 3, "The host's own flag, which happens to have the plugin's name.");

namespace caretaker {
namespace {

using ::testing::HasSubstr;

// Loading alone would end the process if it registered them.
TEST(PluginFlagClashTest, AHostMayHaveFlagsOfGlogsNames) {
  ASSERT_NE(dlopen(std::getenv("MAINTENANCE_PLUGIN"), RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  google::CommandLineFlagInfo info;
  ASSERT_TRUE(google::GetCommandLineFlagInfo("log_dir", &info));
  EXPECT_EQ(info.current_value, "here");
}

TEST(PluginFlagClashTest, AFlagOfTheSameNameIsAStatus) {
  void* const library = dlopen(std::getenv("MAINTENANCE_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto register_flags =
      reinterpret_cast<decltype(&maintenance_register_flags)>(dlsym(library, "maintenance_register_flags"));
  const auto create = reinterpret_cast<decltype(&maintenance_create)>(dlsym(library, "maintenance_create"));
  const auto destroy = reinterpret_cast<decltype(&maintenance_destroy)>(dlsym(library, "maintenance_destroy"));
  maintenance_error error;
  std::memset(&error, 0, sizeof(error));
  error.struct_size = sizeof(error);
  EXPECT_EQ(register_flags(&error), MAINTENANCE_ALREADY_EXISTS);
  EXPECT_THAT(error.message,
              HasSubstr("flag maintenance_lock_wait_ms: is defined already, in plugin/plugin_flag_clash_test.cc"));
  google::CommandLineFlagInfo info;
  EXPECT_FALSE(google::GetCommandLineFlagInfo("maintenance_table_page_size", &info)) << "all or none";

  testing::CHost host;
  maintenance_create_args args;
  std::memset(&args, 0, sizeof(args));
  args.struct_size = sizeof(args);
  args.abi_version = MAINTENANCE_ABI_VERSION;
  args.host = host.tables();
  maintenance_instance* instance = nullptr;
  EXPECT_EQ(create(&args, &instance, &error), MAINTENANCE_ALREADY_EXISTS);
  EXPECT_EQ(instance, nullptr);
  args.flags = MAINTENANCE_CREATE_WITHOUT_GFLAGS;
  EXPECT_EQ(create(&args, &instance, &error), MAINTENANCE_OK) << error.message;
  EXPECT_EQ(destroy(instance, nullptr), MAINTENANCE_OK);
}

}  // namespace
}  // namespace caretaker
