// The kit with the built libcaretaker.so: C++ objects on the host's side, the C boundary between.
#include "plugin/host/plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "plugin/host/table_lock_map.h"
#include "testing/fakes/fake_host.h"
#include "testing/fakes/in_memory_metastore.h"

namespace caretaker::host {
namespace {

using ::testing::HasSubstr;

const std::string kRegistration = R"({"location":"l","engine":"e","current_version":4})";

class KitTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<Plugin>> Create(const std::vector<std::pair<std::string, std::string>>& options = {}) {
    const auto library = PluginLibrary::Load(std::getenv("MAINTENANCE_PLUGIN"));
    if (!library.ok()) return library.status();
    return Plugin::Create(*library, {&store_, &locks_, &engine_, &control_, &log_}, options);
  }

  testing::InMemoryMetaStore store_;
  TableLockMap locks_;
  testing::FakeEngine engine_;
  testing::FakeControl control_;
  struct Events : EventLog {
    void Event(const maintenance_event& event) override { texts.emplace_back(event.text.data, event.text.size); }
    std::vector<std::string> texts;
  } log_;
  maintenance_tick_context tick_;
};

TEST_F(KitTest, MaintainsThroughTheLoadedPlugin) {
  store_.Put("tbl/n/a", kRegistration);
  store_.RequireFenceToken(9);
  control_.fence_token = 9;
  auto plugin = Create({{"maintenance_table_timeout_ms", "5"}});
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  EXPECT_EQ((*plugin)->Settings().table_timeout_ms.value, 5);
  ASSERT_TRUE((*plugin)->Tick(&tick_).ok()) << tick_.error.message;
  EXPECT_EQ(tick_.outcomes[MAINTENANCE_OUTCOME_MAINTAINED], 1u);
  EXPECT_EQ(store_.Read("tbl/n/a"), R"({"location":"l","engine":"e","current_version":5})");
  EXPECT_EQ(engine_.operations[0].call.remaining_ns, 5'000'000);
  EXPECT_EQ(engine_.operations[0].call.fence_token, 9u);
  EXPECT_EQ(locks_.size(), 0u);
  EXPECT_THAT(log_.texts, ::testing::ElementsAre(HasSubstr(" maintained=1 ")));
  EXPECT_THAT(*(*plugin)->Report(), HasSubstr("\"maintained\":1"));
}

TEST_F(KitTest, StatusesAndExceptionsOfTheObjectsStayOutcomes) {
  for (const char* name : {"a", "b", "c"}) store_.Put(std::string("tbl/n/") + name, kRegistration);
  engine_.failures["n/a"] = absl::DeadlineExceededError("slow");
  engine_.on_maintain = [](const testing::FakeEngine::Operation& operation) {
    if (operation.table == "n/b") throw std::runtime_error("a host bug");
  };
  auto plugin = Create();
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  ASSERT_TRUE((*plugin)->Tick(&tick_).ok()) << tick_.error.message;
  EXPECT_EQ(tick_.outcomes[MAINTENANCE_OUTCOME_ENGINE_TIMED_OUT], 1u);
  EXPECT_EQ(tick_.outcomes[MAINTENANCE_OUTCOME_ENGINE_FAILED], 1u);
  EXPECT_EQ(tick_.outcomes[MAINTENANCE_OUTCOME_MAINTAINED], 1u);
  EXPECT_EQ(locks_.size(), 0u);
}

TEST_F(KitTest, WrongOptionsAreRefusedWithTheReason) {
  EXPECT_THAT(std::string(Create({{"maintenance_table_page_size", "0"}}).status().message()),
              HasSubstr("maintenance_table_page_size (option): 0 is out of range, allowed 1..10000"));
}

TEST(PluginLibraryTest, WhatIsNoPluginIsRefusedWithPathAndReason) {
  const std::string junk = ::testing::TempDir() + "/junk.so";
  std::ofstream(junk) << "not a library";
  struct Case {
    std::string path;
    absl::StatusCode code;
    const char* words;
  };
  for (const Case& one :
       {Case{"", absl::StatusCode::kInvalidArgument, "the path is empty"},
        Case{"/nonexistent/x.so", absl::StatusCode::kNotFound, "No such file"},
        Case{::testing::TempDir(), absl::StatusCode::kNotFound, "directory"},
        Case{junk, absl::StatusCode::kNotFound, "file too short"},
        Case{std::getenv("OTHER_ABI_PLUGIN"), absl::StatusCode::kFailedPrecondition, "does not support ABI version"},
        Case{"libc.so.6", absl::StatusCode::kFailedPrecondition, "maintenance_describe"}}) {
    const auto library = PluginLibrary::Load(one.path);
    EXPECT_EQ(library.status().code(), one.code) << one.path;
    EXPECT_THAT(std::string(library.status().message()), HasSubstr(one.words));
    EXPECT_THAT(std::string(library.status().message()), HasSubstr(one.path));
  }
}

}  // namespace
}  // namespace caretaker::host
