// The built libcaretaker.so through its C boundary; no plugin code is linked here.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "plugin/maintenance_plugin.h"
#include "testing/fakes/c_host.h"

namespace {

// Counts down to a failing allocation, in this process and so in the plugin too. Negative: never.
long g_allocations_until_failure = -1;

}  // namespace

void* operator new(size_t size) {
  if (g_allocations_until_failure == 0) throw std::bad_alloc();
  if (g_allocations_until_failure > 0) --g_allocations_until_failure;
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
// All forms, or a sanitizer's own would be mixed with these.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace caretaker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

struct Api {
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
};

const Api& Plugin() {
  static const Api api = [] {
    void* const library = dlopen(std::getenv("MAINTENANCE_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::abort();
    }
    Api loaded;
    const auto load = [library](const char* name, auto* function) {
      *function = reinterpret_cast<std::remove_reference_t<decltype(*function)>>(dlsym(library, name));
    };
    load("maintenance_describe", &loaded.describe);
    load("maintenance_register_flags", &loaded.register_flags);
    load("maintenance_check_options", &loaded.check_options);
    load("maintenance_create", &loaded.create);
    load("maintenance_tick", &loaded.tick);
    load("maintenance_get_settings", &loaded.get_settings);
    load("maintenance_report", &loaded.report);
    load("maintenance_export_cursor", &loaded.export_cursor);
    load("maintenance_forget_failures", &loaded.forget_failures);
    load("maintenance_destroy", &loaded.destroy);
    return loaded;
  }();
  return api;
}

template <typename Struct>
Struct Sized() {
  Struct value;
  std::memset(&value, 0, sizeof(value));
  value.struct_size = sizeof(value);
  return value;
}

maintenance_bytes Bytes(const std::string& text) { return {text.data(), text.size()}; }

// A sink that keeps what it is given last.
maintenance_bytes_sink SinkInto(std::string* text) {
  auto sink = Sized<maintenance_bytes_sink>();
  sink.context = text;
  sink.bytes = [](void* context, maintenance_bytes bytes) -> int32_t {
    static_cast<std::string*>(context)->assign(bytes.data, bytes.size);
    return MAINTENANCE_OK;
  };
  return sink;
}

std::string Registration(int version) {
  return R"({"location":"l","engine":"e","current_version":)" + std::to_string(version) + "}";
}

class PluginTest : public ::testing::Test {
 protected:
  PluginTest() {
    args_.abi_version = MAINTENANCE_ABI_VERSION;
    args_.flags = MAINTENANCE_CREATE_WITHOUT_GFLAGS;
    args_.host = host_.tables();
  }
  ~PluginTest() override { EXPECT_EQ(Plugin().destroy(instance_, nullptr), MAINTENANCE_OK); }

  int32_t Create() { return Plugin().create(&args_, &instance_, &error_); }
  void SetOption(const std::string& name, const std::string& value) {
    texts_.push_back(name);
    texts_.push_back(value);
    options_.clear();
    for (size_t i = 0; i < texts_.size(); i += 2) {
      auto option = Sized<maintenance_option>();
      option.name = Bytes(texts_[i]);
      option.value = Bytes(texts_[i + 1]);
      options_.push_back(option);
    }
    args_.options = options_.data();
    args_.option_count = options_.size();
  }
  int32_t Tick() {
    tick_ = Sized<maintenance_tick_context>();
    tick_.instance = instance_;
    return Plugin().tick(&tick_);
  }
  uint64_t Outcomes() const {
    uint64_t sum = 0;
    for (const uint64_t count : tick_.outcomes) sum += count;
    return sum;
  }
  // The cursor can be exported, and a new instance takes it.
  void ExpectCursorIsSound() {
    std::string cursor;
    const maintenance_bytes_sink sink = SinkInto(&cursor);
    ASSERT_EQ(Plugin().export_cursor(instance_, &sink), MAINTENANCE_OK);
    maintenance_create_args args = args_;
    args.cursor = Bytes(cursor);
    maintenance_instance* other = nullptr;
    EXPECT_EQ(Plugin().create(&args, &other, &error_), MAINTENANCE_OK) << error_.message;
    EXPECT_EQ(Plugin().destroy(other, nullptr), MAINTENANCE_OK);
  }
  void ExpectCountsAddUp() const { EXPECT_EQ(tick_.backlog_before + tick_.scanned, Outcomes() + tick_.backlog_after); }

  testing::CHost host_;
  maintenance_create_args args_ = Sized<maintenance_create_args>();
  std::vector<std::string> texts_;
  std::vector<maintenance_option> options_;
  maintenance_instance* instance_ = nullptr;
  maintenance_error error_ = Sized<maintenance_error>();
  maintenance_tick_context tick_ = Sized<maintenance_tick_context>();
};

TEST_F(PluginTest, DescribesItself) {
  const maintenance_descriptor* const descriptor = Plugin().describe();
  ASSERT_NE(descriptor, nullptr);
  EXPECT_EQ(descriptor, Plugin().describe());
  EXPECT_EQ(descriptor->struct_size, sizeof(maintenance_descriptor));
  EXPECT_LE(descriptor->abi_version_min, MAINTENANCE_ABI_VERSION);
  EXPECT_GE(descriptor->abi_version_max, MAINTENANCE_ABI_VERSION);
  EXPECT_STREQ(descriptor->name, "caretaker");
  EXPECT_EQ(descriptor->key_size_max, 1024u);
  EXPECT_EQ(descriptor->value_size_max, 1048576u);
}

TEST_F(PluginTest, MaintainsAPageThroughTheBoundary) {
  for (const char* name : {"a", "b", "c"}) host_.entries[std::string("tbl/n/") + name] = Registration(9);
  SetOption("maintenance_table_page_size", "2");
  ASSERT_EQ(Create(), MAINTENANCE_OK) << error_.message;
  EXPECT_THAT(host_.calls, IsEmpty()) << "create calls nobody";
  ASSERT_EQ(Tick(), MAINTENANCE_OK) << tick_.error.message;
  EXPECT_EQ(tick_.ended_by, MAINTENANCE_ENDED_BY_PAGE_DONE);
  EXPECT_EQ(tick_.operations, 2u);
  EXPECT_EQ(tick_.outcomes[MAINTENANCE_OUTCOME_MAINTAINED], 2u);
  EXPECT_EQ(tick_.call_again_ms, 60000);
  ExpectCountsAddUp();
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_EQ(tick_.cycle_completed, 1);
  EXPECT_THAT(host_.maintained, ElementsAre("n/a@9", "n/b@9", "n/c@9"));
  EXPECT_EQ(host_.entries["tbl/n/c"], Registration(10));
  EXPECT_EQ(host_.calls["lock"], host_.calls["unlock"]);
  EXPECT_THAT(host_.events, ElementsAre(StartsWith("maintenance tick=1 "), StartsWith("maintenance tick=2 ")));
}

TEST_F(PluginTest, WrongArgumentsAreRefusedWithAReason) {
  struct Case {
    std::function<void()> spoil;
    int32_t code;
    const char* message;
  };
  const std::vector<Case> cases = {
      {[&] { args_.struct_size -= 1; }, MAINTENANCE_INVALID_ARGUMENT, "args: "},
      {[&] { args_.abi_version = 0; }, MAINTENANCE_FAILED_PRECONDITION, "abi_version: "},
      {[&] { args_.abi_version = MAINTENANCE_ABI_VERSION + 1; }, MAINTENANCE_FAILED_PRECONDITION, "abi_version: "},
      {[&] { args_.flags |= 0x80; }, MAINTENANCE_INVALID_ARGUMENT, "flags: "},
      {[&] { args_.host = nullptr; }, MAINTENANCE_INVALID_ARGUMENT, "host: "},
      {[&] {
         args_.prefix = {"tbl", 3};
       },
       MAINTENANCE_INVALID_ARGUMENT, "prefix: "},
      {[&] {
         args_.prefix = {nullptr, 3};
       },
       MAINTENANCE_INVALID_ARGUMENT, "prefix or cursor: "},
      {[&] {
         args_.cursor = {"c", 1};
       },
       MAINTENANCE_INVALID_ARGUMENT, "cursor: too short"},
      {[&] { args_.option_count = 1; }, MAINTENANCE_INVALID_ARGUMENT, "options: "},
      {[&] { args_.option_count = 65; }, MAINTENANCE_INVALID_ARGUMENT, "options: too many, 65, allowed 64"},
      {[&] { SetOption("page_size", "1"); }, MAINTENANCE_INVALID_ARGUMENT, "option page_size: "},
      {[&] { SetOption("maintenance_table_page_size", "10001"); }, MAINTENANCE_INVALID_ARGUMENT,
       "maintenance_table_page_size (option): 10001 is out of range, allowed 1..10000"},
      {[&] { host_.host_.metastore = nullptr; }, MAINTENANCE_INVALID_ARGUMENT, "host.metastore: "},
      {[&] { host_.metastore_.struct_size = 8; }, MAINTENANCE_INVALID_ARGUMENT, "host.metastore: "},
      {[&] { host_.metastore_.scan_page = nullptr; }, MAINTENANCE_INVALID_ARGUMENT, "host.metastore.scan_page: "},
      {[&] { host_.metastore_.get = nullptr; }, MAINTENANCE_INVALID_ARGUMENT, "host.metastore.get: "},
      {[&] { host_.locks_.lock = nullptr; }, MAINTENANCE_INVALID_ARGUMENT, "host.locks.lock: "},
      {[&] { host_.locks_.unlock = nullptr; }, MAINTENANCE_INVALID_ARGUMENT, "host.locks.unlock: "},
      {[&] { host_.engine_.maintain = nullptr; }, MAINTENANCE_INVALID_ARGUMENT, "host.engine.maintain: "},
      {[&] { host_.log_.event = nullptr; }, MAINTENANCE_INVALID_ARGUMENT, "host.log.event: "},
  };
  const maintenance_create_args good_args = args_;
  for (const Case& one : cases) {
    args_ = good_args;
    texts_.clear();
    testing::CHost good;
    host_.host_.metastore = &host_.metastore_;
    host_.metastore_.scan_page = good.metastore_.scan_page;
    host_.metastore_.get = good.metastore_.get;
    host_.metastore_.struct_size = sizeof(maintenance_metastore);
    host_.locks_.lock = good.locks_.lock;
    host_.locks_.unlock = good.locks_.unlock;
    host_.engine_.maintain = good.engine_.maintain;
    host_.log_.event = good.log_.event;
    one.spoil();
    instance_ = reinterpret_cast<maintenance_instance*>(this);
    EXPECT_EQ(Create(), one.code) << one.message << " got " << error_.message;
    EXPECT_EQ(instance_, nullptr);
    EXPECT_THAT(error_.message, HasSubstr(one.message));
    EXPECT_EQ(error_.message_size, std::strlen(error_.message));
    instance_ = nullptr;
  }
  EXPECT_EQ(Plugin().create(nullptr, &instance_, nullptr), MAINTENANCE_INVALID_ARGUMENT);
  EXPECT_EQ(Plugin().create(&good_args, nullptr, nullptr), MAINTENANCE_INVALID_ARGUMENT);
  EXPECT_THAT(host_.calls, IsEmpty());
}

TEST_F(PluginTest, SizesThatCanNotBeAreRefused) {
  for (const size_t size : {SIZE_MAX, size_t{PTRDIFF_MAX} + 1}) {
    maintenance_create_args args = args_;
    args.prefix = {"tbl/", size};
    EXPECT_EQ(Plugin().create(&args, &instance_, &error_), MAINTENANCE_INVALID_ARGUMENT);
    args = args_;
    args.cursor = {"c", size};
    EXPECT_EQ(Plugin().create(&args, &instance_, &error_), MAINTENANCE_INVALID_ARGUMENT);
    EXPECT_THAT(error_.message, HasSubstr("the size can not be"));
    auto option = Sized<maintenance_option>();
    option.name = {"maintenance_lock_wait_ms", size};
    option.value = {"1", 1};
    EXPECT_EQ(Plugin().check_options(&option, 1, &error_), MAINTENANCE_INVALID_ARGUMENT);
    option.name = {"maintenance_lock_wait_ms", 24};
    option.value = {"1", size};
    EXPECT_EQ(Plugin().check_options(&option, 1, &error_), MAINTENANCE_INVALID_ARGUMENT);
  }
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  EXPECT_EQ(Plugin().forget_failures(instance_, {"n", SIZE_MAX}, {"a", 1}, &error_), MAINTENANCE_INVALID_ARGUMENT);
  EXPECT_EQ(Plugin().forget_failures(instance_, {"n", 1}, {"a", SIZE_MAX}, &error_), MAINTENANCE_INVALID_ARGUMENT);
  const std::string long_cursor(200'000, 'c');
  args_.cursor = Bytes(long_cursor);
  maintenance_instance* other = nullptr;
  EXPECT_EQ(Plugin().create(&args_, &other, &error_), MAINTENANCE_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("cursor: too long, 200000 bytes, allowed 164352"));
}

TEST_F(PluginTest, AnEventTellsWhoseItIs) {
  static const maintenance_instance* seen;
  host_.log_.event = [](void*, const maintenance_event* event) { seen = event->tick->instance; };
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_EQ(seen, instance_);
}

TEST_F(PluginTest, CheckOptionsCreatesNothing) {
  SetOption("maintenance_lock_wait_ms", "600001");
  EXPECT_EQ(Plugin().check_options(args_.options, 1, &error_), MAINTENANCE_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message,
              HasSubstr("maintenance_lock_wait_ms (option): 600001 is out of range, allowed 0..600000"));
  SetOption("maintenance_lock_wait_ms", "600000");
  EXPECT_EQ(Plugin().check_options(&options_[1], 1, &error_), MAINTENANCE_OK) << error_.message;
  EXPECT_EQ(error_.code, MAINTENANCE_OK);
  EXPECT_EQ(Plugin().check_options(nullptr, 0, nullptr), MAINTENANCE_OK);
}

TEST_F(PluginTest, EnvironmentIsReadAtCreateAndOptionsBeatIt) {
  ::setenv("MAINTENANCE_TABLE_PAGE_SIZE", "5", 1);
  ::setenv("MAINTENANCE_LOCK_WAIT_MS", "77", 1);
  SetOption("maintenance_table_page_size", "6");
  ASSERT_EQ(Create(), MAINTENANCE_OK) << error_.message;
  ::setenv("MAINTENANCE_LOCK_WAIT_MS", "never", 1);
  auto settings = Sized<maintenance_settings>();
  ASSERT_EQ(Plugin().get_settings(instance_, &settings), MAINTENANCE_OK);
  EXPECT_EQ(settings.table_page_size.value, 6);
  EXPECT_EQ(settings.table_page_size.source, MAINTENANCE_SOURCE_OPTION);
  EXPECT_EQ(settings.lock_wait_ms.value, 77);
  EXPECT_EQ(settings.lock_wait_ms.source, MAINTENANCE_SOURCE_ENVIRONMENT);
  EXPECT_EQ(settings.interval_secs.value, 60);
  EXPECT_EQ(settings.interval_secs.source, MAINTENANCE_SOURCE_DEFAULT);
  EXPECT_EQ(settings.max_operations.value, 6);
  EXPECT_EQ(Plugin().check_options(nullptr, 0, &error_), MAINTENANCE_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("MAINTENANCE_LOCK_WAIT_MS (environment): never"));
  ::unsetenv("MAINTENANCE_TABLE_PAGE_SIZE");
  ::unsetenv("MAINTENANCE_LOCK_WAIT_MS");
}

TEST_F(PluginTest, StructsOfOtherSizesAreUnderstood) {
  host_.entries["tbl/n/a"] = Registration(1);
  struct NewerArgs {
    maintenance_create_args args;
    uint64_t unknown[4];
  } newer = {};
  newer.args = args_;
  newer.args.struct_size = sizeof(newer);
  ASSERT_EQ(Plugin().create(&newer.args, &instance_, &error_), MAINTENANCE_OK) << error_.message;

  struct NewerTick {
    maintenance_tick_context tick;
    uint64_t unknown[4];
  } tick;
  std::memset(&tick, 0xAB, sizeof(tick));
  tick.tick = Sized<maintenance_tick_context>();
  tick.tick.struct_size = sizeof(tick);
  tick.tick.instance = instance_;
  EXPECT_EQ(Plugin().tick(&tick.tick), MAINTENANCE_OK);
  EXPECT_EQ(tick.tick.struct_size, sizeof(tick));
  EXPECT_EQ(tick.tick.operations, 1u);
  EXPECT_EQ(tick.tick.instance, instance_);
  for (const uint64_t word : tick.unknown) EXPECT_EQ(word, 0xABABABABABABABABu);

  maintenance_tick_context small = Sized<maintenance_tick_context>();
  small.struct_size -= 1;
  small.instance = instance_;
  EXPECT_EQ(Plugin().tick(&small), MAINTENANCE_INVALID_ARGUMENT);
  EXPECT_EQ(Plugin().tick(nullptr), MAINTENANCE_INVALID_ARGUMENT);
  small = Sized<maintenance_tick_context>();
  EXPECT_EQ(Plugin().tick(&small), MAINTENANCE_INVALID_ARGUMENT);
  EXPECT_THAT(small.error.message, HasSubstr("instance: NULL"));

  // An error struct that ends in the middle of the message gets as much as it holds.
  maintenance_error error;
  std::memset(&error, 'x', sizeof(error));
  error.struct_size = offsetof(maintenance_error, message) + 8;
  EXPECT_EQ(Plugin().create(nullptr, &small.instance, &error), MAINTENANCE_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(error.message, 9), std::string("args: N\0x", 9));
}

TEST_F(PluginTest, ASecondTickIsTurnedAwayWithoutAnEvent) {
  host_.entries["tbl/n/a"] = Registration(1);
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  int inside = 0;
  host_.fault = [&](const std::string& function) {
    if (function != "maintain") return testing::CHost::kNoFault;
    ++inside;
    auto second = Sized<maintenance_tick_context>();
    second.instance = instance_;
    EXPECT_EQ(Plugin().tick(&second), MAINTENANCE_UNAVAILABLE);
    EXPECT_EQ(second.status, MAINTENANCE_UNAVAILABLE);
    EXPECT_THAT(host_.events, IsEmpty());
    EXPECT_EQ(Plugin().destroy(instance_, &error_), MAINTENANCE_FAILED_PRECONDITION);
    auto settings = Sized<maintenance_settings>();
    EXPECT_EQ(Plugin().get_settings(instance_, &settings), MAINTENANCE_OK);
    std::string report;
    const maintenance_bytes_sink sink = SinkInto(&report);
    EXPECT_EQ(Plugin().report(instance_, &sink), MAINTENANCE_OK);
    EXPECT_THAT(report, HasSubstr("\"tick_running\":true"));
    EXPECT_THAT(report, HasSubstr(R"("maintenance_table_page_size":{"value":128,"source":"default"})"));
    return testing::CHost::kNoFault;
  };
  EXPECT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_EQ(inside, 1);
  EXPECT_THAT(host_.events, SizeIs(1));
}

TEST_F(PluginTest, UnknownFlagsOfATickAreRefused) {
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  tick_ = Sized<maintenance_tick_context>();
  tick_.instance = instance_;
  tick_.flags = 0x40;
  EXPECT_EQ(Plugin().tick(&tick_), MAINTENANCE_INVALID_ARGUMENT);
  EXPECT_THAT(host_.calls, IsEmpty());
}

TEST_F(PluginTest, ADryRunNamesWhatTheNextTickVisits) {
  EXPECT_NE(Plugin().describe()->capabilities & MAINTENANCE_CAPABILITY_DRY_RUN, 0u);
  for (const char* name : {"a", "b", "c", "d"}) host_.entries[std::string("tbl/n/") + name] = Registration(1);
  host_.entries["tbl/n/b"] = "corrupt";
  SetOption("maintenance_max_operations", "2");
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  std::vector<std::string> named;
  auto sink = Sized<maintenance_bytes_sink>();
  sink.context = &named;
  sink.bytes = [](void* context, maintenance_bytes key) -> int32_t {
    static_cast<std::vector<std::string>*>(context)->emplace_back(key.data, key.size);
    return MAINTENANCE_OK;
  };
  const auto dry_run = [&] {
    named.clear();
    tick_ = Sized<maintenance_tick_context>();
    tick_.instance = instance_;
    tick_.flags = MAINTENANCE_TICK_DRY_RUN;
    tick_.dry_run_sink = &sink;
    return Plugin().tick(&tick_);
  };
  ASSERT_EQ(dry_run(), MAINTENANCE_OK) << tick_.error.message;
  // b takes no operation, so c is reached; d waits.
  EXPECT_THAT(named, ElementsAre("tbl/n/a", "tbl/n/b", "tbl/n/c"));
  EXPECT_EQ(tick_.ended_by, MAINTENANCE_ENDED_BY_OPERATIONS);
  EXPECT_EQ(tick_.tick_number, 0u);
  EXPECT_EQ(tick_.cycle_number, 1u);
  EXPECT_EQ(Outcomes(), 0u);
  EXPECT_EQ(host_.calls["lock"] + host_.calls["maintain"] + host_.calls["compare_and_set"], 0u);
  EXPECT_THAT(host_.events, IsEmpty());
  const std::vector<std::string> first = named;
  ASSERT_EQ(dry_run(), MAINTENANCE_OK);
  EXPECT_EQ(named, first) << "it changes nothing";
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_EQ(tick_.tick_number, 1u);
  EXPECT_EQ(Outcomes(), 3u);
  EXPECT_THAT(host_.maintained, ElementsAre("n/a@1", "n/c@1"));
  ASSERT_EQ(dry_run(), MAINTENANCE_OK);
  EXPECT_THAT(named, ElementsAre("tbl/n/d"));
  EXPECT_EQ(tick_.ended_by, MAINTENANCE_ENDED_BY_PAGE_DONE);

  sink.bytes = [](void*, maintenance_bytes) -> int32_t { return MAINTENANCE_DATA_LOSS; };
  EXPECT_EQ(dry_run(), MAINTENANCE_DATA_LOSS);
  sink.bytes = [](void*, maintenance_bytes) -> int32_t { throw 1; };
  EXPECT_EQ(dry_run(), MAINTENANCE_INTERNAL);
  EXPECT_THAT(tick_.error.message, StartsWith("dry_run_sink: let an exception out"));
  sink.bytes = nullptr;
  EXPECT_EQ(dry_run(), MAINTENANCE_INVALID_ARGUMENT);
  ASSERT_EQ(Tick(), MAINTENANCE_OK) << tick_.error.message;
  EXPECT_THAT(host_.maintained, ElementsAre("n/a@1", "n/c@1", "n/d@1"));
}

TEST_F(PluginTest, ASavedCursorTakesTheWalkUpAfterEveryRestart) {
  // Ten pages of four, and a new process's instance after every tick of three tables.
  for (char c = 'a'; c < 'a' + 26; ++c) host_.entries[std::string("tbl/n/") + c] = Registration(1);
  for (char c = 'a'; c < 'a' + 14; ++c) host_.entries[std::string("tbl/o/") + c] = Registration(1);
  SetOption("maintenance_table_page_size", "4");
  SetOption("maintenance_max_operations", "3");
  std::string cursor;
  const maintenance_bytes_sink sink = SinkInto(&cursor);
  int ticks = 0;
  do {
    args_.cursor = Bytes(cursor);
    ASSERT_EQ(Create(), MAINTENANCE_OK) << error_.message;
    ASSERT_EQ(Tick(), MAINTENANCE_OK);
    ExpectCountsAddUp();
    ASSERT_EQ(Plugin().export_cursor(instance_, &sink), MAINTENANCE_OK);
    EXPECT_LE(cursor.size(), 4352u + 16 * 4);
    EXPECT_EQ(Plugin().destroy(instance_, nullptr), MAINTENANCE_OK);
    instance_ = nullptr;
  } while (tick_.cycle_completed == 0 && ++ticks < 60);
  std::vector<std::string> maintained = host_.maintained;
  EXPECT_THAT(maintained, SizeIs(40));
  std::sort(maintained.begin(), maintained.end());
  EXPECT_EQ(std::unique(maintained.begin(), maintained.end()), maintained.end()) << "nothing twice";
  args_.prefix = {"tbl/n/", 6};
  args_.cursor = Bytes(cursor);
  EXPECT_EQ(Create(), MAINTENANCE_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("cursor: made for another prefix"));
}

TEST_F(PluginTest, AFailingTableSitsOutUntilTheOperatorForgetsIt) {
  host_.entries["tbl/n/a"] = "corrupt";
  host_.entries["tbl/n/b"] = Registration(1);
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  const auto forget = [&](const char* name) {
    const std::string text = name;
    return Plugin().forget_failures(instance_, text.empty() ? Bytes(text) : Bytes("n"), Bytes(text), &error_);
  };
  EXPECT_EQ(forget("a"), MAINTENANCE_NOT_FOUND);
  EXPECT_EQ(forget(""), MAINTENANCE_NOT_FOUND);
  EXPECT_EQ(Plugin().forget_failures(instance_, Bytes("n"), Bytes(""), &error_), MAINTENANCE_INVALID_ARGUMENT);
  for (const char* name : {"a", ""}) {
    ASSERT_EQ(Tick(), MAINTENANCE_OK);
    EXPECT_EQ(tick_.outcomes[MAINTENANCE_OUTCOME_CORRUPT], 1u);
    ASSERT_EQ(Tick(), MAINTENANCE_OK);
    EXPECT_EQ(tick_.outcomes[MAINTENANCE_OUTCOME_BACKED_OFF], 1u);
    EXPECT_EQ(tick_.outcomes[MAINTENANCE_OUTCOME_MAINTAINED], 1u) << "the other table is untouched";
    EXPECT_EQ(forget(name), MAINTENANCE_OK);
  }
}

TEST_F(PluginTest, EveryHostFunctionMayThrowOrReturnJunkAtEveryCall) {
  for (const bool throwing : {true, false}) {
    for (const std::string function : testing::kHostFunctions) {
      // void functions can do no more than throw.
      if (!throwing && (function == "unlock" || function == "event")) continue;
      for (uint64_t call = 1; call <= 3; ++call) {
        SCOPED_TRACE(function + (throwing ? " throws at call " : " returns junk at call ") + std::to_string(call));
        for (const char* name : {"a", "b", "c"}) host_.entries[std::string("tbl/n/") + name] = Registration(1);
        host_.calls.clear();
        host_.events.clear();
        ASSERT_EQ(Create(), MAINTENANCE_OK);
        host_.fault = [&](const std::string& called) -> int32_t {
          if (called != function || host_.calls[function] != call) return testing::CHost::kNoFault;
          if (throwing) throw std::runtime_error("a host bug");
          return -77;
        };
        for (uint64_t ticks = 0; host_.calls[function] < call && ticks < 3; ++ticks) Tick();
        ASSERT_EQ(host_.calls[function], call);
        EXPECT_EQ(tick_.status, MAINTENANCE_INTERNAL);
        EXPECT_THAT(tick_.error.message, StartsWith(function + ": "));
        EXPECT_THAT(tick_.error.message, HasSubstr(throwing ? "rule H-1" : "rule H-6"));
        EXPECT_THAT(host_.open_locks, IsEmpty());
        ExpectCountsAddUp();
        EXPECT_EQ(Tick(), MAINTENANCE_OK) << "the next tick works: " << tick_.error.message;
        EXPECT_EQ(Plugin().destroy(instance_, nullptr), MAINTENANCE_OK);
        instance_ = nullptr;
      }
    }
  }
}

TEST_F(PluginTest, SuccessWithoutAnOutcomeIsAViolation) {
  for (const std::string function :
       {"get", "compare_and_set", "lock", "maintain", "is_cancelled", "may_act", "scan_page"}) {
    SCOPED_TRACE(function);
    host_.entries["tbl/n/a"] = Registration(1);
    ASSERT_EQ(Create(), MAINTENANCE_OK);
    host_.fault = [&](const std::string& called) {
      return called == function ? MAINTENANCE_OK : testing::CHost::kNoFault;
    };
    EXPECT_EQ(Tick(), MAINTENANCE_INTERNAL);
    EXPECT_THAT(tick_.error.message, StartsWith(function + ": "));
    EXPECT_THAT(host_.open_locks, IsEmpty());
    ExpectCountsAddUp();
    host_.fault = nullptr;
    EXPECT_EQ(Tick(), MAINTENANCE_OK);
    EXPECT_EQ(Plugin().destroy(instance_, nullptr), MAINTENANCE_OK);
    instance_ = nullptr;
  }
}

TEST_F(PluginTest, SinksAreDeafOutsideTheirCall) {
  host_.entries["tbl/n/a"] = Registration(1);
  static maintenance_page_sink kept;
  static int32_t (*real)(void*, const maintenance_call*, maintenance_bytes, maintenance_bytes, uint32_t,
                         const maintenance_page_sink*, maintenance_error*);
  real = host_.metastore_.scan_page;
  host_.metastore_.scan_page = [](void* context, const maintenance_call* call, maintenance_bytes prefix,
                                  maintenance_bytes continuation, uint32_t limit, const maintenance_page_sink* sink,
                                  maintenance_error* error) {
    kept = *sink;
    return real(context, call, prefix, continuation, limit, sink, error);
  };
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_EQ(kept.entry(kept.context, {"tbl/n/late", 10}, {"", 0}), MAINTENANCE_ENTRY_REFUSED);
  EXPECT_EQ(Tick(), MAINTENANCE_INTERNAL);
  EXPECT_THAT(tick_.error.message, HasSubstr("scan_page: a sink was called outside the call"));
  EXPECT_EQ(Tick(), MAINTENANCE_OK);
}

TEST_F(PluginTest, OutOfMemoryIsAStatusAndLosesNothing) {
  for (const char* name : {"a", "bad", "c"}) host_.entries[std::string("tbl/n/") + name] = Registration(1);
  host_.entries["tbl/n/bad"] = "corrupt";
  int failures = 0;
  bool succeeded = false;
  for (long allocation = 0; !succeeded; ++allocation) {
    ASSERT_LT(allocation, 10000);
    error_ = Sized<maintenance_error>();
    g_allocations_until_failure = allocation;
    int32_t status = Create();
    g_allocations_until_failure = -1;
    if (status == MAINTENANCE_OK) {
      succeeded = true;
      break;
    }
    EXPECT_EQ(status, MAINTENANCE_RESOURCE_EXHAUSTED) << error_.message;
    EXPECT_EQ(instance_, nullptr);
    ++failures;
  }
  EXPECT_GT(failures, 0);
}

TEST_F(PluginTest, OutOfMemoryInATickKeepsWhatIsNotFinished) {
  int failures = 0;
  for (long allocation = 0;; ++allocation) {
    ASSERT_LT(allocation, 10000);
    for (const char* name : {"a", "c"}) host_.entries[std::string("tbl/n/") + name] = Registration(1);
    host_.entries["tbl/n/bad"] = "corrupt";
    ASSERT_EQ(Create(), MAINTENANCE_OK);
    g_allocations_until_failure = allocation;
    const int32_t status = Tick();
    const bool failed = g_allocations_until_failure == 0;
    g_allocations_until_failure = -1;
    ExpectCountsAddUp();
    EXPECT_THAT(host_.open_locks, IsEmpty());
    // The host shares the process's memory; where its function is the one to fail, that is an exception of the host's.
    EXPECT_TRUE(status == MAINTENANCE_OK || status == MAINTENANCE_RESOURCE_EXHAUSTED || status == MAINTENANCE_INTERNAL);
    failures += status == MAINTENANCE_RESOURCE_EXHAUSTED ? 1 : 0;
    for (int tick = 0; tick < 2; ++tick) EXPECT_EQ(Tick(), MAINTENANCE_OK) << tick_.error.message;
    EXPECT_NE(host_.entries["tbl/n/a"], Registration(1));
    EXPECT_NE(host_.entries["tbl/n/c"], Registration(1));
    EXPECT_EQ(Plugin().destroy(instance_, nullptr), MAINTENANCE_OK);
    instance_ = nullptr;
    if (!failed) break;
  }
  EXPECT_GT(failures, 0);
}

// Every allocation fails once, in a host whose function `function` fails as well, in the way that `status` says
// (kNoFault: it throws). Nothing may end the process, and what the host kept of the plugin's sinks must be deaf
// afterwards.
TEST_F(PluginTest, OutOfMemoryWhileAHostFunctionFails) {
  static maintenance_page_sink kept;
  static decltype(maintenance_metastore::scan_page) real;
  real = host_.metastore_.scan_page;
  host_.metastore_.scan_page = [](void* context, const maintenance_call* call, maintenance_bytes prefix,
                                  maintenance_bytes continuation, uint32_t limit, const maintenance_page_sink* sink,
                                  maintenance_error* error) {
    kept = *sink;
    return real(context, call, prefix, continuation, limit, sink, error);
  };
  host_.entries["tbl/n/a"] = Registration(1);
  int failures = 0;
  for (const std::string function : testing::kHostFunctions) {
    for (const int32_t status : {testing::CHost::kNoFault, MAINTENANCE_UNAVAILABLE}) {
      bool failed = true;
      for (long allocation = 0; failed; ++allocation) {
        ASSERT_LT(allocation, 10000);
        SCOPED_TRACE(function + " " + std::to_string(status) + " allocation " + std::to_string(allocation));
        host_.fault = nullptr;
        // The sink of an instance that is gone is nobody's to call (P-4).
        kept = {};
        ASSERT_EQ(Create(), MAINTENANCE_OK);
        bool faulty = true;
        host_.fault = [&](const std::string& called) -> int32_t {
          if (!faulty || called != function) return testing::CHost::kNoFault;
          if (status == testing::CHost::kNoFault) throw 1;  // Takes no memory of this program's.
          return status;
        };
        g_allocations_until_failure = allocation;
        Tick();
        failed = g_allocations_until_failure == 0;
        g_allocations_until_failure = -1;
        failures += tick_.status == MAINTENANCE_RESOURCE_EXHAUSTED ? 1 : 0;
        ExpectCountsAddUp();
        EXPECT_THAT(host_.open_locks, IsEmpty());
        if (kept.entry != nullptr) {
          EXPECT_EQ(kept.entry(kept.context, {"tbl/n/late", 10}, {"", 0}), MAINTENANCE_ENTRY_REFUSED);
        }
        ExpectCursorIsSound();
        EXPECT_EQ(Plugin().destroy(instance_, nullptr), MAINTENANCE_OK);
        instance_ = nullptr;
      }
    }
  }
  EXPECT_GT(failures, 0);
}

TEST_F(PluginTest, AChildProcessCannotUseTheInstance) {
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto settings = Sized<maintenance_settings>();
    auto sink = Sized<maintenance_bytes_sink>();
    sink.bytes = [](void*, maintenance_bytes) -> int32_t { return MAINTENANCE_OK; };
    const int32_t answers[] = {Tick(),
                               Plugin().get_settings(instance_, &settings),
                               Plugin().report(instance_, &sink),
                               Plugin().export_cursor(instance_, &sink),
                               Plugin().forget_failures(instance_, {nullptr, 0}, {nullptr, 0}, nullptr),
                               Plugin().destroy(instance_, nullptr)};
    _exit(std::count(std::begin(answers), std::end(answers), MAINTENANCE_FAILED_PRECONDITION) == 6 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(PluginTest, InstancesShareARegistryByNamespace) {
  for (const char* key : {"tbl/a/1", "tbl/b/1", "tbl/b/2"}) host_.entries[key] = Registration(1);
  args_.prefix = {"tbl/b/", 6};
  ASSERT_EQ(Create(), MAINTENANCE_OK) << error_.message;
  Tick();
  EXPECT_THAT(host_.maintained, ElementsAre("b/1@1", "b/2@1"));
}

// Registrations as `location;engine;version`.
class OwnCodec {
 public:
  OwnCodec() : table(Sized<maintenance_codec>()) {
    table.context = this;
    table.decode = [](void* context, maintenance_bytes value, const maintenance_registration_sink* sink,
                      maintenance_error*) -> int32_t {
      auto* const self = static_cast<OwnCodec*>(context);
      const std::string text(value.data, value.size);
      const size_t first = text.find(';');
      const size_t second = text.find(';', first + 1);
      if (first == std::string::npos || second == std::string::npos) return MAINTENANCE_DATA_LOSS;
      auto registration = Sized<maintenance_registration>();
      registration.location = {text.data(), first};
      registration.engine = {text.data() + first + 1, second - first - 1};
      registration.version = std::stoull(text.substr(second + 1));
      int32_t answer = MAINTENANCE_OK;
      for (int i = 0; i < self->deliveries; ++i) answer = sink->registration(sink->context, &registration);
      return answer;
    };
    table.encode_version = [](void* context, maintenance_bytes value, uint64_t version,
                              const maintenance_bytes_sink* sink, maintenance_error*) -> int32_t {
      const std::string text(value.data, value.size);
      const std::string encoded = text.substr(0, text.rfind(';') + 1) + std::to_string(version);
      int32_t answer = MAINTENANCE_OK;
      for (int i = 0; i < static_cast<OwnCodec*>(context)->encodings; ++i) {
        answer = sink->bytes(sink->context, Bytes(encoded));
      }
      return answer;
    };
  }
  maintenance_codec table;
  int deliveries = 1;
  int encodings = 1;
};

TEST_F(PluginTest, AHostMayBringItsOwnEncoding) {
  OwnCodec codec;
  host_.host_.codec = &codec.table;
  host_.entries["tbl/n/a"] = "place;rocks;41";
  host_.entries["tbl/n/b"] = "nonsense";
  host_.entries["tbl/n/c"] = std::string(1025, 'l') + ";rocks;1";
  ASSERT_EQ(Create(), MAINTENANCE_OK) << error_.message;
  ASSERT_EQ(Tick(), MAINTENANCE_OK) << tick_.error.message;
  EXPECT_EQ(host_.entries["tbl/n/a"], "place;rocks;42");
  EXPECT_EQ(tick_.outcomes[MAINTENANCE_OUTCOME_MAINTAINED], 1u);
  EXPECT_EQ(tick_.outcomes[MAINTENANCE_OUTCOME_CORRUPT], 2u);
  for (const int count : {0, 2}) {
    codec.deliveries = count;
    EXPECT_EQ(Tick(), MAINTENANCE_INTERNAL);
    EXPECT_THAT(tick_.error.message, StartsWith("decode: returned OK and called its sink"));
    codec.deliveries = 1;
    codec.encodings = count;
    EXPECT_EQ(Tick(), MAINTENANCE_OK) << "the rest of the page";
    EXPECT_EQ(Tick(), MAINTENANCE_INTERNAL);
    EXPECT_THAT(tick_.error.message, StartsWith("encode_version: returned OK and called its sink"));
    ExpectCountsAddUp();
    codec.encodings = 1;
    EXPECT_EQ(Tick(), MAINTENANCE_OK);
  }
  EXPECT_THAT(host_.open_locks, IsEmpty());
}

TEST_F(PluginTest, TheHostsClockIsTheOnlyOne) {
  static int64_t now_ns;
  now_ns = 5'000'000'000;
  auto clock = Sized<maintenance_clock>();
  clock.now_ns = [](void*) -> int64_t { return now_ns; };
  host_.host_.clock = &clock;
  for (const char* name : {"a", "b"}) host_.entries[std::string("tbl/n/") + name] = Registration(1);
  SetOption("maintenance_tick_budget_ms", "1000");
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  host_.fault = [&](const std::string& function) {
    if (function == "maintain") now_ns += 1'500'000'000;
    return testing::CHost::kNoFault;
  };
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_EQ(tick_.ended_by, MAINTENANCE_ENDED_BY_TIME);
  EXPECT_EQ(tick_.engine_ns, 1'500'000'000);
  EXPECT_EQ(tick_.overrun_ns, 500'000'000);
}

TEST_F(PluginTest, WithoutALogTheEventIsOneLineOnStderr) {
  host_.host_.log = nullptr;
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  for (const char* start : {"maintenance tick=1 ", "maintenance tick=2 "}) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(Tick(), MAINTENANCE_OK);
    const std::string text = ::testing::internal::GetCapturedStderr();
    const size_t event = text.find(start);
    ASSERT_NE(event, std::string::npos) << text;
    EXPECT_EQ(text.find("maintenance tick=", event + 1), std::string::npos);
    // Before the host initialises glog there is one warning more, once in the life of the process.
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), start[17] == '1' ? 2 : 1) << text;
  }
}

TEST_F(PluginTest, DestroyingNothingIsFine) { EXPECT_EQ(Plugin().destroy(nullptr, &error_), MAINTENANCE_OK); }

// Takes the place of a host function: `instead` is called with the function's arguments.
template <typename... Arguments>
struct Replaced {
  static std::function<int32_t(Arguments...)> instead;
  static int32_t Call(Arguments... arguments) { return instead(arguments...); }
};
template <typename... Arguments>
std::function<int32_t(Arguments...)> Replaced<Arguments...>::instead;

template <typename... Arguments, typename Instead>
void Replace(int32_t (**function)(Arguments...), const Instead& instead) {
  Replaced<Arguments...>::instead = instead;
  *function = &Replaced<Arguments...>::Call;
}

TEST_F(PluginTest, BytesWithoutDataAreAViolation) {
  host_.entries["tbl/n/a"] = Registration(1);
  const auto real_scan = host_.metastore_.scan_page;
  const auto real_get = host_.metastore_.get;
  std::function<void(const maintenance_page_sink*)> spoil;
  Replace(&host_.metastore_.scan_page,
          [&](void* context, const maintenance_call* call, maintenance_bytes prefix, maintenance_bytes continuation,
              uint32_t limit, const maintenance_page_sink* sink, maintenance_error* error) -> int32_t {
            if (!spoil) return real_scan(context, call, prefix, continuation, limit, sink, error);
            spoil(sink);
            return MAINTENANCE_OK;
          });
  bool spoil_get = false;
  Replace(&host_.metastore_.get,
          [&](void* context, const maintenance_call* call, maintenance_bytes key, const maintenance_bytes_sink* sink,
              maintenance_error* error) -> int32_t {
            if (!spoil_get) return real_get(context, call, key, sink, error);
            return sink->bytes(sink->context, {nullptr, 5});
          });
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  const std::vector<std::function<void(const maintenance_page_sink*)>> wrong = {
      [](const maintenance_page_sink* sink) {
        sink->entry(sink->context, {nullptr, 5}, {"", 0});
        sink->end_of_prefix(sink->context);
      },
      [](const maintenance_page_sink* sink) {
        sink->entry(sink->context, {"tbl/n/a", 7}, {nullptr, 5});
        sink->end_of_prefix(sink->context);
      },
      [](const maintenance_page_sink* sink) {
        sink->continue_after(sink->context, {nullptr, 5});
      },
  };
  for (const auto& one : wrong) {
    spoil = one;
    EXPECT_EQ(Tick(), MAINTENANCE_INTERNAL);
    EXPECT_THAT(tick_.error.message, StartsWith("scan_page: gave its sink bytes with a size and data NULL"));
    EXPECT_THAT(tick_.error.message, HasSubstr("rule B-2"));
    EXPECT_EQ(tick_.cycle_completed, 0);
  }
  spoil = nullptr;
  spoil_get = true;
  EXPECT_EQ(Tick(), MAINTENANCE_INTERNAL);
  EXPECT_THAT(tick_.error.message, StartsWith("get: gave its sink bytes"));
  ExpectCountsAddUp();
  spoil_get = false;
  EXPECT_EQ(Tick(), MAINTENANCE_OK);
}

TEST_F(PluginTest, PagesThatBreakARuleAreNamedAndForgotten) {
  for (const char* name : {"a", "b", "c"}) host_.entries[std::string("tbl/n/") + name] = Registration(1);
  SetOption("maintenance_table_page_size", "2");
  const auto real_scan = host_.metastore_.scan_page;
  std::function<void(const maintenance_page_sink*)> spoil;
  Replace(&host_.metastore_.scan_page,
          [&](void* context, const maintenance_call* call, maintenance_bytes prefix, maintenance_bytes continuation,
              uint32_t limit, const maintenance_page_sink* sink, maintenance_error* error) -> int32_t {
            if (!spoil) return real_scan(context, call, prefix, continuation, limit, sink, error);
            spoil(sink);
            return MAINTENANCE_OK;
          });
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  const auto entry = [](const maintenance_page_sink* sink, const std::string& key) {
    sink->entry(sink->context, Bytes(key), {"v", 1});
  };
  struct Case {
    const char* words;
    std::function<void(const maintenance_page_sink*)> spoil;
  };
  for (const Case& one :
       {Case{"more entries than asked for, allowed 2",
             [&](const maintenance_page_sink* sink) {
               for (const char* key : {"tbl/n/a", "tbl/n/b", "tbl/n/c"}) entry(sink, key);
               sink->end_of_prefix(sink->context);
             }},
        Case{"came twice",
             [&](const maintenance_page_sink* sink) {
               for (int i = 0; i < 2; ++i) entry(sink, "tbl/n/a");
               sink->end_of_prefix(sink->context);
             }},
        Case{"outside the prefix",
             [&](const maintenance_page_sink* sink) {
               entry(sink, "other/n/a");
               sink->end_of_prefix(sink->context);
             }},
        Case{"neither continued nor ended", [&](const maintenance_page_sink* sink) { entry(sink, "tbl/n/a"); }},
        Case{"a continuation of 4097 bytes", [&](const maintenance_page_sink* sink) {
               sink->continue_after(sink->context, Bytes(std::string(4097, 'c')));
             }}}) {
    SCOPED_TRACE(one.words);
    spoil = one.spoil;
    host_.maintained.clear();
    EXPECT_EQ(Tick(), MAINTENANCE_INTERNAL);
    EXPECT_THAT(tick_.error.message, StartsWith("scan_page: "));
    EXPECT_THAT(tick_.error.message, HasSubstr(one.words));
    EXPECT_THAT(host_.maintained, IsEmpty());
    ExpectCountsAddUp();
    spoil = nullptr;
    // The next ticks walk as if nothing had been.
    ASSERT_EQ(Tick(), MAINTENANCE_OK) << tick_.error.message;
    ASSERT_EQ(Tick(), MAINTENANCE_OK) << tick_.error.message;
    EXPECT_EQ(tick_.cycle_completed, 1);
    EXPECT_THAT(host_.maintained, SizeIs(3));
  }
}

// After each phase of its life the library is closed: no thread is left, and nobody is called any more.
TEST_F(PluginTest, ClosingAfterEachPhaseLeavesNothingBehind) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
  };
  const auto threads_before = threads();
  host_.entries["tbl/n/a"] = Registration(1);
  host_.entries["tbl/n/bad"] = "corrupt";
  for (int phase = 0; phase < 5; ++phase) {
    SCOPED_TRACE(phase);
    void* const library = dlopen(std::getenv("MAINTENANCE_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr);
    if (phase >= 1) {
      ASSERT_EQ(Create(), MAINTENANCE_OK);
    }
    if (phase >= 2) {
      ASSERT_EQ(Tick(), MAINTENANCE_OK);
    }
    if (phase >= 3) {
      host_.fault = [](const std::string&) -> int32_t { throw std::runtime_error("a host bug"); };
      EXPECT_NE(Tick(), MAINTENANCE_OK);
      host_.fault = nullptr;
    }
    if (phase >= 4) ExpectCursorIsSound();
    EXPECT_EQ(Plugin().destroy(instance_, nullptr), MAINTENANCE_OK);
    instance_ = nullptr;
    const auto calls = host_.calls;
    EXPECT_EQ(dlclose(library), 0);
    EXPECT_EQ(threads(), threads_before);
    EXPECT_EQ(host_.calls, calls);
    EXPECT_THAT(host_.open_locks, IsEmpty());
  }
}

// A table whose bytes could not be taken for want of memory is as good as it was.
TEST_F(PluginTest, OutOfMemoryInACodecsSinkIsNotCorruption) {
  OwnCodec codec;
  host_.host_.codec = &codec.table;
  const std::string long_place(200, 'p');
  uint64_t failures = 0;
  bool failed = true;
  for (long allocation = 0; failed; ++allocation) {
    ASSERT_LT(allocation, 1000);
    host_.entries["tbl/n/a"] = long_place + ";rocks;41";
    ASSERT_EQ(Create(), MAINTENANCE_OK);
    g_allocations_until_failure = allocation;
    const int32_t status = Tick();
    failed = g_allocations_until_failure == 0;
    g_allocations_until_failure = -1;
    EXPECT_EQ(tick_.outcomes[MAINTENANCE_OUTCOME_CORRUPT], 0u) << allocation << ": " << tick_.error.message;
    failures += status == MAINTENANCE_RESOURCE_EXHAUSTED ? 1 : 0;
    EXPECT_EQ(Tick(), MAINTENANCE_OK);
    EXPECT_EQ(tick_.outcomes[MAINTENANCE_OUTCOME_BACKED_OFF], 0u);
    EXPECT_EQ(Plugin().destroy(instance_, nullptr), MAINTENANCE_OK);
    instance_ = nullptr;
  }
  EXPECT_GT(failures, 3u);
}

TEST_F(PluginTest, ACodecsBadStructIsAViolation) {
  OwnCodec codec;
  codec.table.decode = [](void*, maintenance_bytes, const maintenance_registration_sink* sink,
                          maintenance_error*) -> int32_t {
    auto registration = Sized<maintenance_registration>();
    registration.struct_size = 8;
    sink->registration(sink->context, &registration);
    return MAINTENANCE_OK;
  };
  host_.host_.codec = &codec.table;
  host_.entries["tbl/n/a"] = "place;rocks;41";
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  EXPECT_EQ(Tick(), MAINTENANCE_INTERNAL);
  EXPECT_THAT(tick_.error.message, StartsWith("decode: gave its sink a struct that is NULL or too small"));
  EXPECT_THAT(host_.open_locks, IsEmpty());
}

TEST_F(PluginTest, LateSinksOfEveryFunctionAreFound) {
  host_.entries["tbl/n/a"] = Registration(1);
  const auto real_get = host_.metastore_.get;
  maintenance_bytes_sink kept = {};
  bool late = false;
  Replace(&host_.metastore_.get,
          [&](void* context, const maintenance_call* call, maintenance_bytes key, const maintenance_bytes_sink* sink,
              maintenance_error* error) -> int32_t {
            kept = *sink;
            return real_get(context, call, key, sink, error);
          });
  host_.fault = [&](const std::string& function) {
    // After get has returned.
    if (late && function == "maintain") {
      EXPECT_NE(kept.bytes(kept.context, {"x", 1}), MAINTENANCE_OK);
    }
    return testing::CHost::kNoFault;
  };
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  late = true;
  EXPECT_EQ(Tick(), MAINTENANCE_OK) << "nothing has asked the sink's gate yet";
  late = false;
  EXPECT_EQ(Tick(), MAINTENANCE_INTERNAL);
  EXPECT_THAT(tick_.error.message, HasSubstr("rule H-7"));
  EXPECT_EQ(Tick(), MAINTENANCE_OK);

  // On another thread, while the call lasts.
  Replace(&host_.metastore_.get,
          [&](void*, const maintenance_call*, maintenance_bytes, const maintenance_bytes_sink* sink,
              maintenance_error*) -> int32_t {
            int32_t answer = MAINTENANCE_OK;
            std::thread([&] { answer = sink->bytes(sink->context, {"x", 1}); }).join();
            return answer;
          });
  EXPECT_EQ(Plugin().destroy(instance_, nullptr), MAINTENANCE_OK);
  instance_ = nullptr;
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  EXPECT_EQ(Tick(), MAINTENANCE_INTERNAL);
  EXPECT_THAT(tick_.error.message, StartsWith("get: a sink was called outside the call"));
}

TEST_F(PluginTest, ALateSinkOfACodecIsFound) {
  OwnCodec codec;
  static maintenance_registration_sink kept_registration;
  static maintenance_bytes_sink kept_bytes;
  static decltype(codec.table.decode) real_decode;
  static decltype(codec.table.encode_version) real_encode;
  real_decode = codec.table.decode;
  real_encode = codec.table.encode_version;
  codec.table.decode = [](void* context, maintenance_bytes value, const maintenance_registration_sink* sink,
                          maintenance_error* error) -> int32_t {
    kept_registration = *sink;
    return real_decode(context, value, sink, error);
  };
  codec.table.encode_version = [](void* context, maintenance_bytes value, uint64_t version,
                                  const maintenance_bytes_sink* sink, maintenance_error* error) -> int32_t {
    kept_bytes = *sink;
    return real_encode(context, value, version, sink, error);
  };
  host_.host_.codec = &codec.table;
  host_.entries["tbl/n/a"] = "place;rocks;41";
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  ASSERT_EQ(Tick(), MAINTENANCE_OK) << tick_.error.message;
  const auto registration = Sized<maintenance_registration>();
  EXPECT_NE(kept_registration.registration(kept_registration.context, &registration), MAINTENANCE_OK);
  EXPECT_EQ(Tick(), MAINTENANCE_INTERNAL);
  EXPECT_THAT(tick_.error.message, StartsWith("decode: a sink was called outside the call"));
  EXPECT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_NE(kept_bytes.bytes(kept_bytes.context, {"x", 1}), MAINTENANCE_OK);
  Tick();
  EXPECT_EQ(tick_.status, MAINTENANCE_INTERNAL);
  EXPECT_THAT(tick_.error.message, HasSubstr("a sink was called outside the call"));
}

// One works, the other one is turned away; for the thread sanitizer as well.
TEST_F(PluginTest, TwoThreadsOnOneInstance) {
  for (int i = 0; i < 50; ++i) host_.entries["tbl/n/" + std::to_string(100 + i)] = Registration(1);
  SetOption("maintenance_table_page_size", "10");
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  constexpr int kTicks = 300;
  std::atomic<uint64_t> worked{0}, turned_away{0}, visited{0}, other{0};
  const auto tick = [&] {
    for (int i = 0; i < kTicks; ++i) {
      auto context = Sized<maintenance_tick_context>();
      context.instance = instance_;
      const int32_t status = Plugin().tick(&context);
      for (const uint64_t count : context.outcomes) visited += count;
      ++(status == MAINTENANCE_OK ? worked : status == MAINTENANCE_UNAVAILABLE ? turned_away : other);
    }
  };
  std::thread first(tick), second(tick);
  first.join();
  second.join();
  EXPECT_EQ(other, 0u);
  EXPECT_EQ(worked + turned_away, uint64_t{2 * kTicks});
  EXPECT_EQ(host_.events.size(), worked) << "one event for each that worked, none for the others";
  EXPECT_EQ(visited, 10 * worked);
  EXPECT_EQ(host_.maintained.size(), visited);
  EXPECT_THAT(host_.open_locks, IsEmpty());
}

TEST_F(PluginTest, ATurnedAwayTickSaysWhenToCallAgain) {
  host_.entries["tbl/n/a"] = Registration(1);
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  auto second = Sized<maintenance_tick_context>();
  second.instance = instance_;
  host_.fault = [&](const std::string& function) {
    if (function == "maintain") {
      EXPECT_EQ(Plugin().tick(&second), MAINTENANCE_UNAVAILABLE);
    }
    return testing::CHost::kNoFault;
  };
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_EQ(second.call_again_ms, 60000);
  EXPECT_EQ(second.tick_number, 0u) << "no tick ran";
}

TEST_F(PluginTest, WhatMayBeCalledDuringATickReturnsAtOnce) {
  host_.entries["tbl/n/a"] = Registration(1);
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  int asked = 0;
  host_.fault = [&](const std::string&) {
    // From inside each host function, and from another thread meanwhile.
    const auto ask = [&] {
      std::string text;
      const maintenance_bytes_sink sink = SinkInto(&text);
      auto settings = Sized<maintenance_settings>();
      EXPECT_EQ(Plugin().report(instance_, &sink), MAINTENANCE_OK);
      EXPECT_EQ(Plugin().export_cursor(instance_, &sink), MAINTENANCE_OK);
      EXPECT_EQ(Plugin().get_settings(instance_, &settings), MAINTENANCE_OK);
      EXPECT_EQ(Plugin().forget_failures(instance_, {"", 0}, {"", 0}, nullptr), MAINTENANCE_NOT_FOUND);
      EXPECT_EQ(Plugin().destroy(instance_, nullptr), MAINTENANCE_FAILED_PRECONDITION);
      ++asked;
    };
    ask();
    std::thread(ask).join();
    return testing::CHost::kNoFault;
  };
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_GT(asked, 12);
  host_.fault = nullptr;
}

TEST_F(PluginTest, TheSinksAnswerIsTheAnswer) {
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  auto sink = Sized<maintenance_bytes_sink>();
  sink.bytes = [](void*, maintenance_bytes) -> int32_t { return MAINTENANCE_DATA_LOSS; };
  EXPECT_EQ(Plugin().report(instance_, &sink), MAINTENANCE_DATA_LOSS);
  EXPECT_EQ(Plugin().export_cursor(instance_, &sink), MAINTENANCE_DATA_LOSS);
}

TEST_F(PluginTest, AnEarlierCursorSurvivesAnExportBeforeTheFirstTick) {
  for (const char* name : {"a", "b", "c"}) host_.entries[std::string("tbl/n/") + name] = Registration(1);
  SetOption("maintenance_max_operations", "2");
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_THAT(host_.maintained, ElementsAre("n/a@1", "n/b@1"));
  // Two restarts, and no tick between.
  std::string cursor;
  for (int restart = 0; restart < 2; ++restart) {
    const maintenance_bytes_sink sink = SinkInto(&cursor);
    ASSERT_EQ(Plugin().export_cursor(instance_, &sink), MAINTENANCE_OK);
    ASSERT_EQ(Plugin().destroy(instance_, nullptr), MAINTENANCE_OK);
    args_.cursor = Bytes(cursor);
    ASSERT_EQ(Create(), MAINTENANCE_OK) << error_.message;
  }
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_THAT(host_.maintained, ElementsAre("n/a@1", "n/b@1", "n/c@1"));
}

TEST_F(PluginTest, CallsCarryTimeTokenAndIncarnation) {
  host_.entries["tbl/n/a"] = R"({"location":"l","engine":"e","current_version":1,"incarnation_id":"life"})";
  SetOption("maintenance_tick_budget_ms", "60000");
  SetOption("maintenance_table_timeout_ms", "7000");
  const auto real_get = host_.metastore_.get;
  maintenance_call get_call = {};
  Replace(&host_.metastore_.get,
          [&](void* context, const maintenance_call* call, maintenance_bytes key, const maintenance_bytes_sink* sink,
              maintenance_error* error) -> int32_t {
            get_call = *call;
            return real_get(context, call, key, sink, error);
          });
  maintenance_call maintain_call = {};
  std::string incarnation;
  Replace(&host_.engine_.maintain,
          [&](void*, const maintenance_call* call, const maintenance_generation* generation,
              maintenance_operation_result* result, maintenance_error*) -> int32_t {
            maintain_call = *call;
            if (generation->has_incarnation == 1) {
              incarnation.assign(generation->incarnation.data, generation->incarnation.size);
            }
            result->outcome = MAINTENANCE_OPERATION_UNCHANGED;
            return MAINTENANCE_OK;
          });
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  ASSERT_EQ(Tick(), MAINTENANCE_OK) << tick_.error.message;
  EXPECT_GT(get_call.remaining_ns, 1'000'000'000);
  EXPECT_LE(get_call.remaining_ns, 60'000'000'000);
  EXPECT_EQ(get_call.has_fence_token, 1);
  EXPECT_EQ(get_call.fence_token, 5u);
  EXPECT_EQ(maintain_call.remaining_ns, 7'000'000'000);
  EXPECT_EQ(incarnation, "life");
  // A host without leases has no token to give.
  host_.fence_token = 0;
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_EQ(get_call.has_fence_token, 0);
}

TEST_F(PluginTest, ElementsOfALaterReleasesOptionsAreFarApart) {
  struct NewerOption {
    maintenance_option option;
    uint64_t unknown[2];
  };
  const std::string name = "maintenance_table_page_size";
  const std::string other_name = "maintenance_lock_wait_ms";
  NewerOption options[2];
  std::memset(options, 0xAB, sizeof(options));
  for (NewerOption& newer : options) newer.option.struct_size = sizeof(NewerOption);
  options[0].option.name = Bytes(name);
  options[0].option.value = {"7", 1};
  options[1].option.name = Bytes(other_name);
  options[1].option.value = {"8", 1};
  args_.options = &options[0].option;
  args_.option_count = 2;
  ASSERT_EQ(Create(), MAINTENANCE_OK) << error_.message;
  struct NewerSettings {
    maintenance_settings settings;
    uint64_t unknown[2];
  } newer;
  std::memset(&newer, 0xAB, sizeof(newer));
  newer.settings.struct_size = sizeof(newer);
  ASSERT_EQ(Plugin().get_settings(instance_, &newer.settings), MAINTENANCE_OK);
  EXPECT_EQ(newer.settings.struct_size, sizeof(newer)) << "the host's own";
  EXPECT_EQ(newer.settings.table_page_size.value, 7);
  EXPECT_EQ(newer.settings.lock_wait_ms.value, 8);
  for (const uint64_t word : newer.unknown) EXPECT_EQ(word, 0xABABABABABABABABu);
}

// Everything that a report lists is full, of keys and values that take the most room.
TEST_F(PluginTest, TheLargestReportKeepsItsLimit) {
  for (int i = 0; i < 2000; ++i) {
    host_.entries["tbl/n/" + std::string(900, '\xff') + std::to_string(10000 + i)] = std::string(200, '\xff');
  }
  SetOption("maintenance_table_page_size", "100");
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  for (int tick = 0; tick < 20; ++tick) ASSERT_EQ(Tick(), MAINTENANCE_OK);
  std::string report;
  const maintenance_bytes_sink sink = SinkInto(&report);
  ASSERT_EQ(Plugin().report(instance_, &sink), MAINTENANCE_OK);
  EXPECT_LE(report.size(), size_t{MAINTENANCE_REPORT_SIZE_MAX});
  const auto count = [&](const std::string& word) {
    size_t found = 0;
    for (size_t at = report.find(word); at != std::string::npos; at = report.find(word, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("\"due_cycle\""), 64u);
  EXPECT_EQ(count("\"ended_by\""), 16u);
  EXPECT_EQ(count("\"text\""), 16u * 8u);
  EXPECT_EQ(count("\"ago_ms\""), 64u);
}

TEST_F(PluginTest, TheReportTellsWhatRunsWhileItRuns) {
  static int64_t now_ns;
  now_ns = 1'000'000'000;
  auto clock = Sized<maintenance_clock>();
  clock.now_ns = [](void*) -> int64_t { return now_ns; };
  host_.host_.clock = &clock;
  for (const char* name : {"a", "b"}) host_.entries[std::string("tbl/n/") + name] = Registration(1);
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  std::vector<std::string> phases;
  std::string report;
  const maintenance_bytes_sink sink = SinkInto(&report);
  const auto running = [&] {
    EXPECT_EQ(Plugin().report(instance_, &sink), MAINTENANCE_OK);
    const size_t begin = report.find("\"running\":");
    return report.substr(begin, report.find('}', begin) - begin + 1);
  };
  host_.fault = [&](const std::string& function) {
    // An operation of an hour.
    if (function == "maintain") now_ns += 3'600'000'000'000;
    if (function == "scan_page" || function == "lock" || function == "get" || function == "maintain" ||
        function == "compare_and_set") {
      phases.push_back(running());
    }
    if (function == "maintain" && host_.calls["maintain"] == 2) {
      EXPECT_THAT(report, HasSubstr(R"("recent":[{"key":"tbl/n/a","outcome":"maintained","cycle":1,)"))
          << "a visit of this tick";
    }
    return testing::CHost::kNoFault;
  };
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_THAT(phases, ElementsAre(R"("running":{"phase":"scan","key":"","since_ms":0})",
                                  R"("running":{"phase":"lock","key":"tbl/n/a","since_ms":0})",
                                  R"("running":{"phase":"read","key":"tbl/n/a","since_ms":0})",
                                  R"("running":{"phase":"operation","key":"tbl/n/a","since_ms":3600000})",
                                  R"("running":{"phase":"publication","key":"tbl/n/a","since_ms":0})",
                                  R"("running":{"phase":"lock","key":"tbl/n/b","since_ms":0})",
                                  R"("running":{"phase":"read","key":"tbl/n/b","since_ms":0})",
                                  R"("running":{"phase":"operation","key":"tbl/n/b","since_ms":3600000})",
                                  R"("running":{"phase":"publication","key":"tbl/n/b","since_ms":0})"));
  host_.fault = nullptr;
  EXPECT_EQ(running(), R"("running":{"phase":"idle","key":"","since_ms":0})");
  EXPECT_THAT(report, HasSubstr(R"("last_duration_ms":7200000,)"));
  now_ns += 5'000'000'000;
  running();
  EXPECT_THAT(report, HasSubstr(R"({"key":"tbl/n/b","outcome":"maintained","cycle":1,"ago_ms":5000})"));
}

TEST_F(PluginTest, ThreeCyclesAreTold) {
  for (const char* name : {"a", "b", "c", "d"}) host_.entries[std::string("tbl/n/") + name] = Registration(1);
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  for (int cycle = 0; cycle < 3; ++cycle) ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_EQ(tick_.cycle_visited, 4u);
  EXPECT_EQ(tick_.last_cycle_visited, 4u);
  EXPECT_EQ(tick_.cycle_short, 0);
  std::string report;
  const maintenance_bytes_sink sink = SinkInto(&report);
  ASSERT_EQ(Plugin().report(instance_, &sink), MAINTENANCE_OK);
  EXPECT_THAT(report, HasSubstr(R"("cycle":{"number":4,"visited":0,"backlog":0,"completed":3,"last_visited":4,)"));
  EXPECT_THAT(report, HasSubstr(R"({"key":"tbl/n/d","outcome":"maintained","cycle":3,)"));
  // Three of four tables are gone: somebody should look.
  for (const char* name : {"a", "b", "c"}) host_.entries.erase(std::string("tbl/n/") + name);
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_EQ(tick_.cycle_short, 1);
  EXPECT_THAT(host_.events.back(), HasSubstr(" cycle_short=1 cycle_visited=1 last_cycle_visited=4 "));
}

TEST_F(PluginTest, AWalkThatStandsStillSaysSo) {
  for (const char* name : {"a", "b"}) host_.entries[std::string("tbl/n/") + name] = Registration(1);
  SetOption("maintenance_table_page_size", "1");
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  host_.fault = [](const std::string& function) {
    return function == "scan_page" ? MAINTENANCE_UNAVAILABLE : testing::CHost::kNoFault;
  };
  for (uint64_t tick = 1; tick <= 4; ++tick) {
    EXPECT_EQ(Tick(), MAINTENANCE_UNAVAILABLE);
    EXPECT_EQ(tick_.stalled_ticks, tick < 3 ? 0u : tick);
    EXPECT_EQ(tick_.scanned, 0u) << "a tick that could not scan is no page";
  }
  EXPECT_THAT(host_.events.back(), HasSubstr(" stalled_ticks=4 "));
  EXPECT_THAT(host_.events.back(), HasSubstr(" stalled_at=\"the page from tbl/n/b\""));
  std::string report;
  const maintenance_bytes_sink sink = SinkInto(&report);
  ASSERT_EQ(Plugin().report(instance_, &sink), MAINTENANCE_OK);
  EXPECT_THAT(report, HasSubstr(R"("ticks_without_progress":4})"));
  EXPECT_THAT(report, HasSubstr(R"("stalled_at":"the page from tbl/n/b")"));
  host_.fault = nullptr;
  ASSERT_EQ(Tick(), MAINTENANCE_OK);
  EXPECT_EQ(tick_.stalled_ticks, 0u);
}

// A cancelled thread would unwind through frames that catch everything, which ends the process.
TEST_F(PluginTest, ACancelledThreadFinishesItsTick) {
  host_.entries["tbl/n/a"] = Registration(1);
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  std::atomic<bool> inside{false}, cancelled{false};
  host_.fault = [&](const std::string& function) {
    if (function != "maintain") return testing::CHost::kNoFault;
    inside = true;
    while (!cancelled) std::this_thread::yield();
    pthread_testcancel();  // As any wait of the host's would.
    return testing::CHost::kNoFault;
  };
  struct Call {
    maintenance_tick_context tick;
    bool returned;
  } call = {Sized<maintenance_tick_context>(), false};
  call.tick.instance = instance_;
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, nullptr,
                [](void* context) -> void* {
                  auto* const mine = static_cast<Call*>(context);
                  Plugin().tick(&mine->tick);
                  mine->returned = true;
                  pthread_testcancel();
                  return nullptr;
                },
                &call),
            0);
  while (!inside) std::this_thread::yield();
  ASSERT_EQ(pthread_cancel(thread), 0);
  cancelled = true;
  void* ended = nullptr;
  ASSERT_EQ(pthread_join(thread, &ended), 0);
  EXPECT_EQ(ended, PTHREAD_CANCELED) << "the cancellation waits until the call has returned";
  EXPECT_TRUE(call.returned);
  EXPECT_EQ(call.tick.status, MAINTENANCE_OK);
  EXPECT_THAT(host_.open_locks, IsEmpty());
}

TEST_F(PluginTest, AnEventThatThrowsIsInTheReport) {
  ASSERT_EQ(Create(), MAINTENANCE_OK);
  host_.fault = [](const std::string& function) -> int32_t {
    if (function == "event") throw std::runtime_error("a host bug");
    return testing::CHost::kNoFault;
  };
  EXPECT_EQ(Tick(), MAINTENANCE_INTERNAL);
  host_.fault = nullptr;
  std::string report;
  const maintenance_bytes_sink sink = SinkInto(&report);
  ASSERT_EQ(Plugin().report(instance_, &sink), MAINTENANCE_OK);
  EXPECT_THAT(report, HasSubstr("\"status\":\"INTERNAL\""));
}

}  // namespace
}  // namespace caretaker
