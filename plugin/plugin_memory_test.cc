// Every allocation of the plugin and of the libraries under it fails once, by malloc itself: what a test of operator
// new does not see. No plugin code is linked here.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "plugin/maintenance_plugin.h"
#include "testing/fakes/c_host.h"

// glibc's own, behind the names that are taken here.
extern "C" {
void* __libc_malloc(size_t size);                 // NOLINT
void* __libc_realloc(void* memory, size_t size);  // NOLINT
void* __libc_calloc(size_t count, size_t size);   // NOLINT
void __libc_free(void* memory);                   // NOLINT
}

namespace {

// Counts down to the one allocation of this thread that fails. Negative: none does.
thread_local long g_until_failure = -1;

// How much more memory this thread can have at once. Negative: as much as it likes.
thread_local long g_bytes_left = -1;

bool Fails(size_t size) {
  if (g_bytes_left >= 0 && static_cast<long>(size) > g_bytes_left) return true;
  return g_until_failure >= 0 && g_until_failure-- == 0;
}

void* Charged(void* memory) {
  if (g_bytes_left >= 0) g_bytes_left -= static_cast<long>(malloc_usable_size(memory));
  return memory;
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) void* malloc(size_t size) {
  if (!Fails(size)) return Charged(__libc_malloc(size));
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) void* realloc(void* memory, size_t size) {
  if (!Fails(size)) return __libc_realloc(memory, size);
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) void* calloc(size_t count, size_t size) {
  if (!Fails(count * size)) return Charged(__libc_calloc(count, size));
  errno = ENOMEM;
  return nullptr;
}
__attribute__((visibility("default"))) void free(void* memory) {
  if (g_bytes_left >= 0) g_bytes_left += static_cast<long>(malloc_usable_size(memory));
  __libc_free(memory);
}
}

namespace caretaker {
namespace {

struct Api {
  explicit Api(void* library) {
    Load(library, "maintenance_register_flags", &register_flags);
    Load(library, "maintenance_check_options", &check_options);
    Load(library, "maintenance_create", &create);
    Load(library, "maintenance_tick", &tick);
    Load(library, "maintenance_get_settings", &get_settings);
    Load(library, "maintenance_report", &report);
    Load(library, "maintenance_export_cursor", &export_cursor);
    Load(library, "maintenance_forget_failures", &forget_failures);
    Load(library, "maintenance_destroy", &destroy);
  }
  template <typename Function>
  static void Load(void* library, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
  }

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

template <typename Struct>
Struct Sized() {
  Struct value;
  std::memset(&value, 0, sizeof(value));
  value.struct_size = sizeof(value);
  return value;
}

class PluginMemoryTest : public ::testing::Test {
 protected:
  PluginMemoryTest() : api_(dlopen(std::getenv("MAINTENANCE_PLUGIN"), RTLD_NOW | RTLD_LOCAL)) {
    args_.abi_version = MAINTENANCE_ABI_VERSION;
    args_.host = host_.tables();
    host_.entries["tbl/n/a"] = R"({"location":"l","engine":"e","current_version":1})";
    host_.entries["tbl/n/bad"] = "no registration";
  }

  // Calls `function` with its first allocation failing, then its second, until it succeeds without one. Each answer is
  // RESOURCE_EXHAUSTED or `success`.
  void FailEachAllocation(const std::function<int32_t()>& function, int32_t success = MAINTENANCE_OK) {
    int failures = 0;
    for (long allocation = 0; allocation < 10'000; ++allocation) {
      g_until_failure = allocation;
      const int32_t status = function();
      const bool failed = g_until_failure < 0;
      g_until_failure = -1;
      if (!failed) {
        EXPECT_EQ(status, success);
        EXPECT_GT(failures, 0) << "nothing was allocated";
        return;
      }
      ++failures;
      ASSERT_TRUE(status == MAINTENANCE_RESOURCE_EXHAUSTED || status == success) << status;
    }
    FAIL() << "no end of allocations";
  }

  const Api api_;
  testing::CHost host_;
  maintenance_create_args args_ = Sized<maintenance_create_args>();
};

// What is done once per process, by libraries that end it or keep a lock when they run out of memory: gflags registers,
// the JSON parser lists the machine's instruction sets. Memory must run out before they are asked.
TEST_F(PluginMemoryTest, TheFirstUseOfALibraryHasItsMemoryFirst) {
  const auto create = [&] {
    maintenance_instance* instance = nullptr;
    const int32_t created = api_.create(&args_, &instance, nullptr);
    if (created == MAINTENANCE_OK) api_.destroy(instance, nullptr);
    return created;
  };
  int failures = 0;
  int32_t status = MAINTENANCE_RESOURCE_EXHAUSTED;
  for (long bytes = 0; status != MAINTENANCE_OK && bytes < (1 << 20); bytes += 256) {
    g_bytes_left = bytes;
    status = create();
    g_bytes_left = -1;
    ASSERT_TRUE(status == MAINTENANCE_OK || status == MAINTENANCE_RESOURCE_EXHAUSTED) << status;
    ++failures;
  }
  EXPECT_EQ(status, MAINTENANCE_OK);
  EXPECT_GT(failures, 100);
  FailEachAllocation([&] { return api_.check_options(nullptr, 0, nullptr); });
  FailEachAllocation(create);
}

TEST_F(PluginMemoryTest, WhatAnOperatorAsksForIsAStatus) {
  args_.flags = MAINTENANCE_CREATE_WITHOUT_GFLAGS;
  maintenance_instance* instance = nullptr;
  ASSERT_EQ(api_.create(&args_, &instance, nullptr), MAINTENANCE_OK);
  auto tick = Sized<maintenance_tick_context>();
  tick.instance = instance;
  ASSERT_EQ(api_.tick(&tick), MAINTENANCE_OK);
  auto sink = Sized<maintenance_bytes_sink>();
  sink.bytes = [](void*, maintenance_bytes bytes) -> int32_t {
    return bytes.size > 20 ? MAINTENANCE_OK : MAINTENANCE_DATA_LOSS;
  };
  FailEachAllocation([&] { return api_.report(instance, &sink); });
  FailEachAllocation([&] { return api_.export_cursor(instance, &sink); });
  const auto forget = [&](const char* name) {
    return api_.forget_failures(instance, {"name-that-needs-memory-of-its-own", 33}, {name, std::strlen(name)},
                                nullptr);
  };
  FailEachAllocation([&] { return forget("table"); }, MAINTENANCE_NOT_FOUND);
  EXPECT_EQ(api_.destroy(instance, nullptr), MAINTENANCE_OK);
}

}  // namespace
}  // namespace caretaker
