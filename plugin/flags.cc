#include "plugin/flags.h"

#include <gflags/gflags.h>

#include <array>
#include <cstdint>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "registry/need_memory.h"

namespace caretaker::plugin {
namespace {

using maintenance::Describe;
using maintenance::kSettingCount;
using maintenance::Setting;
using maintenance::SettingDescription;

// What gflags points to: a flag's value and its default. Constant-initialised, so that loading runs nothing.
struct FlagStorage {
  int64_t number;
  int64_t default_number;
  bool truth;
  bool default_truth;
};

std::mutex g_mutex;
size_t g_registered = 0;                             // How many, in the order of settings. Guarded by g_mutex.
std::array<FlagStorage, kSettingCount> g_storage{};  // Written under g_mutex before registration, by gflags afterwards.

// More than gflags takes for all of them.
constexpr size_t kRegistrationBytesMax = size_t{64} << 10;

void Register(const SettingDescription& description, FlagStorage* storage) {
  if (description.is_bool) {
    storage->truth = storage->default_truth = description.default_value != 0;
    google::FlagRegisterer(description.name, description.help, "plugin/flags.cc", &storage->truth,
                           &storage->default_truth);
  } else {
    storage->number = storage->default_number = description.default_value;
    google::FlagRegisterer(description.name, description.help, "plugin/flags.cc", &storage->number,
                           &storage->default_number);
  }
}

}  // namespace

absl::Status RegisterFlags() {
  const std::lock_guard<std::mutex> lock(g_mutex);
  // gflags ends the process at a second registration of a name, so ask about all of them first.
  for (size_t i = g_registered; i < kSettingCount; ++i) {
    google::CommandLineFlagInfo info;
    const char* name = Describe(static_cast<Setting>(i)).name;
    if (google::GetCommandLineFlagInfo(name, &info)) {
      return absl::AlreadyExistsError(absl::StrCat("flag ", name, ": is defined already, in ", info.filename,
                                                   ", expected nowhere; create the instance without gflags "
                                                   "(MAINTENANCE_CREATE_WITHOUT_GFLAGS) and give options"));
    }
  }
  // gflags keeps its lock for ever when it runs out of memory inside. So memory is run out of here, if it is.
  if (g_registered < kSettingCount) registry::NeedMemory(kRegistrationBytesMax);
  // What was registered before memory ran out stays so, and is not asked for again.
  while (g_registered < kSettingCount) {
    Register(Describe(static_cast<Setting>(g_registered)), &g_storage[g_registered]);
    ++g_registered;
  }
  return absl::OkStatus();
}

std::optional<std::string> FlagText(Setting setting) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  google::CommandLineFlagInfo info;
  // gflags' own lock is held while it reads: a concurrent SetCommandLineOption is seen whole or not at all.
  if (g_registered < kSettingCount || !google::GetCommandLineFlagInfo(Describe(setting).name, &info) || info.is_default)
    return std::nullopt;
  return info.current_value;
}

}  // namespace caretaker::plugin
