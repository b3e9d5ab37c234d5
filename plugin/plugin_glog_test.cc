// The plugin in a host that has glog; no plugin code is linked here.
#include <dlfcn.h>
#include <glog/logging.h>
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

using ::testing::ElementsAre;
using ::testing::StartsWith;

class Lines : public google::LogSink {
 public:
  Lines() { google::AddLogSink(this); }
  ~Lines() override { google::RemoveLogSink(this); }
  void send(google::LogSeverity severity, const char*, const char*, int, const google::LogMessageTime&,
            const char* message, size_t size) override {
    texts.push_back(std::string(google::GetLogSeverityName(severity)) + " " + std::string(message, size));
  }
  std::vector<std::string> texts;
};

TEST(PluginGlogTest, WithoutALogTheEventIsALineOfGlog) {
  google::InitGoogleLogging("plugin_glog_test");
  void* const library = dlopen(std::getenv("MAINTENANCE_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto create = reinterpret_cast<decltype(&maintenance_create)>(dlsym(library, "maintenance_create"));
  const auto tick = reinterpret_cast<decltype(&maintenance_tick)>(dlsym(library, "maintenance_tick"));
  const auto destroy = reinterpret_cast<decltype(&maintenance_destroy)>(dlsym(library, "maintenance_destroy"));
  testing::CHost host;
  host.host_.log = nullptr;
  maintenance_create_args args;
  std::memset(&args, 0, sizeof(args));
  args.struct_size = sizeof(args);
  args.abi_version = MAINTENANCE_ABI_VERSION;
  args.flags = MAINTENANCE_CREATE_WITHOUT_GFLAGS;
  args.host = host.tables();
  maintenance_instance* instance = nullptr;
  ASSERT_EQ(create(&args, &instance, nullptr), MAINTENANCE_OK);
  const Lines lines;
  maintenance_tick_context context;
  std::memset(&context, 0, sizeof(context));
  context.struct_size = sizeof(context);
  context.instance = instance;
  EXPECT_EQ(tick(&context), MAINTENANCE_OK);
  host.entries["tbl/n/bad"] = "no registration";
  EXPECT_EQ(tick(&context), MAINTENANCE_OK);
  EXPECT_EQ(destroy(instance, nullptr), MAINTENANCE_OK);
  EXPECT_THAT(lines.texts,
              ElementsAre(StartsWith("INFO maintenance tick=1 "), StartsWith("WARNING maintenance tick=2 ")));
  google::ShutdownGoogleLogging();
}

}  // namespace
}  // namespace caretaker
