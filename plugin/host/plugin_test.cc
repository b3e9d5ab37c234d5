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
    return Plugin::Create(*library, {&store_, &locks_, &engine_, &control_, &log_}, {options, "", "", false});
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

TEST_F(KitTest, AnExceptionsWordsAreKept) {
  store_.Put("tbl/n/a", kRegistration);
  engine_.on_maintain = [](const testing::FakeEngine::Operation&) { throw std::runtime_error("a host bug"); };
  auto plugin = Create();
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  ASSERT_TRUE((*plugin)->Tick(&tick_).ok());
  EXPECT_THAT(log_.texts, ::testing::ElementsAre(HasSubstr("maintain: a host bug")));
}

TEST_F(KitTest, TheEngineSeesTheWholeGeneration) {
  const std::string value = R"({"location":"l","engine":"e","current_version":4,"incarnation_id":"life"})";
  store_.Put("tbl/n/a", value);
  auto plugin = Create();
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  ASSERT_TRUE((*plugin)->Tick(&tick_).ok());
  ASSERT_EQ(engine_.operations.size(), 1u);
  const testing::FakeEngine::Operation& seen = engine_.operations[0];
  EXPECT_EQ(seen.table, "n/a");
  EXPECT_EQ(seen.location, "l");
  EXPECT_EQ(seen.incarnation, "life");
  EXPECT_EQ(seen.version, 4u);
  EXPECT_EQ(seen.value, value);
}

TEST_F(KitTest, AControlWithoutATokenGivesNone) {
  store_.Put("tbl/n/a", kRegistration);
  control_.fence_token.reset();
  auto plugin = Create();
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  ASSERT_TRUE((*plugin)->Tick(&tick_).ok());
  EXPECT_EQ(engine_.operations[0].call.fence_token, std::nullopt);
}

TEST_F(KitTest, AMismatchIsAConflict) {
  store_.Put("tbl/n/a", kRegistration);
  engine_.on_maintain = [this](const testing::FakeEngine::Operation&) {
    store_.Put("tbl/n/a", R"({"location":"l","engine":"e","current_version":9})");
  };
  auto plugin = Create();
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  ASSERT_TRUE((*plugin)->Tick(&tick_).ok());
  EXPECT_EQ(tick_.outcomes[MAINTENANCE_OUTCOME_CONFLICT], 1u);
  EXPECT_EQ(store_.Read("tbl/n/a"), R"({"location":"l","engine":"e","current_version":9})");
}

TEST_F(KitTest, ACancelledLockWaitEndsTheTick) {
  store_.Put("tbl/n/a", kRegistration);
  maintenance::LockOutcome outcome;
  uint64_t handle = 0;
  ASSERT_TRUE(locks_.Lock("n", "a", 0, &outcome, &handle).ok());
  locks_.CancelWaits();
  auto plugin = Create();
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  ASSERT_TRUE((*plugin)->Tick(&tick_).ok());
  EXPECT_EQ(tick_.ended_by, MAINTENANCE_ENDED_BY_CANCELLED);
  EXPECT_EQ(tick_.backlog_after, 1u);
  EXPECT_TRUE(locks_.Unlock(handle).ok());
}

TEST_F(KitTest, ADryRunNamesThePageAndChangesNothing) {
  for (const char* name : {"a", "b"}) store_.Put(std::string("tbl/n/") + name, kRegistration);
  auto plugin = Create();
  ASSERT_TRUE(plugin.ok()) << plugin.status();
  std::vector<std::string> keys = {"what was there"};
  ASSERT_TRUE((*plugin)->DryRun(&keys, &tick_).ok()) << tick_.error.message;
  EXPECT_THAT(keys, ::testing::ElementsAre("tbl/n/a", "tbl/n/b"));
  EXPECT_TRUE(engine_.operations.empty());
  EXPECT_TRUE(log_.texts.empty());
}

TEST_F(KitTest, WhatIsMissingIsRefused) {
  const auto library = PluginLibrary::Load(std::getenv("MAINTENANCE_PLUGIN"));
  ASSERT_TRUE(library.ok());
  EXPECT_THAT(std::string(Plugin::Create(*library, {nullptr, &locks_, &engine_}, {}).status().message()),
              HasSubstr("host.metastore: missing"));
  EXPECT_THAT(std::string(Plugin::Create(*library, {&store_, nullptr, &engine_}, {}).status().message()),
              HasSubstr("host.locks: missing"));
  EXPECT_THAT(std::string(Plugin::Create(*library, {&store_, &locks_, nullptr}, {}).status().message()),
              HasSubstr("host.engine: missing"));
}

TEST_F(KitTest, AWalkIsTakenUpAndKeptToItsNamespace) {
  for (const char* name : {"m/a", "n/a", "n/b"}) store_.Put(std::string("tbl/") + name, kRegistration);
  const auto library = PluginLibrary::Load(std::getenv("MAINTENANCE_PLUGIN"));
  ASSERT_TRUE(library.ok());
  InstanceOptions options;
  options.settings = {{"maintenance_max_operations", "1"}};
  options.prefix = "tbl/n/";
  options.without_gflags = true;
  const auto create = [&] { return Plugin::Create(*library, {&store_, &locks_, &engine_, &control_, &log_}, options); };
  for (int life = 0; life < 2; ++life) {
    const auto plugin = create();
    ASSERT_TRUE(plugin.ok()) << plugin.status();
    ASSERT_TRUE((*plugin)->Tick(&tick_).ok());
    EXPECT_EQ((*plugin)->ForgetFailures("", "").code(), absl::StatusCode::kNotFound);
    options.cursor = *(*plugin)->ExportCursor();
  }
  ASSERT_EQ(engine_.operations.size(), 2u);
  EXPECT_EQ(engine_.operations[0].table, "n/a");
  EXPECT_EQ(engine_.operations[1].table, "n/b");
  options.cursor = "damaged";
  EXPECT_THAT(std::string(create().status().message()), HasSubstr("cursor: too short"));
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
