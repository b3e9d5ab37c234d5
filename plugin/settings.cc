#include "plugin/settings.h"

#include <cstdlib>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/boundary.h"
#include "plugin/flags.h"

namespace caretaker::plugin {
namespace {

using maintenance::Describe;
using maintenance::FindSetting;
using maintenance::GivenSetting;
using maintenance::kSettingCount;
using maintenance::MaintenanceLimits;
using maintenance::Setting;
using maintenance::SettingSource;

absl::Status ReadOptions(const maintenance_option* options, size_t count, std::vector<GivenSetting>* given) {
  if (count > MAINTENANCE_OPTIONS_MAX) {
    return absl::InvalidArgumentError(
        absl::StrCat("options: too many, ", count, ", allowed ", MAINTENANCE_OPTIONS_MAX, "; give each setting once"));
  }
  if (count > 0 && options == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("options: NULL with a count of ", count, "; give the array"));
  }
  const char* next = reinterpret_cast<const char*>(options);
  for (size_t i = 0; i < count; ++i) {
    maintenance_option option;
    const auto* const host_option = reinterpret_cast<const maintenance_option*>(next);
    if (!boundary::ReadStruct(host_option, sizeof(maintenance_option), &option) ||
        host_option->struct_size != options->struct_size) {
      return absl::InvalidArgumentError(absl::StrCat("option ", i, ": struct_size is ", host_option->struct_size,
                                                     ", allowed ", sizeof(maintenance_option),
                                                     " or more, the same in each; set it to sizeof"));
    }
    next += host_option->struct_size;
    if (!boundary::IsValid(option.name) || !boundary::IsValid(option.value)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "option ", i, ": data is NULL with a size, or the size can not be; NULL is allowed with size 0 only"));
    }
    const absl::StatusOr<Setting> setting = FindSetting(boundary::ToView(option.name));
    if (!setting.ok()) return setting.status();
    given->push_back({*setting, SettingSource::kOption, boundary::ToView(option.value)});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<MaintenanceLimits> ReadSettings(const maintenance_option* options, size_t count, bool with_gflags) {
  std::vector<GivenSetting> given;
  if (absl::Status read = ReadOptions(options, count, &given); !read.ok()) return read;
  std::deque<std::string> texts;  // Keeps its elements in place, for the views in `given`.
  for (size_t i = 0; i < kSettingCount; ++i) {
    const auto setting = static_cast<Setting>(i);
    if (with_gflags) {
      if (std::optional<std::string> text = FlagText(setting); text.has_value()) {
        given.push_back({setting, SettingSource::kFlag, texts.emplace_back(*std::move(text))});
      }
    }
    // An empty variable is one that was unset the way shells and service managers often do it.
    if (const char* text = std::getenv(Describe(setting).environment); text != nullptr && *text != '\0') {
      given.push_back({setting, SettingSource::kEnvironment, texts.emplace_back(text)});
    }
  }
  return MaintenanceLimits::TryNew(given);
}

maintenance_settings ToSettings(const MaintenanceLimits& limits) {
  const auto setting = [&limits](Setting which) {
    return maintenance_setting{limits.value(which), static_cast<int32_t>(limits.source(which)), 0};
  };
  auto settings = boundary::Sized<maintenance_settings>();
  settings.interval_secs = setting(Setting::kIntervalSecs);
  settings.table_page_size = setting(Setting::kTablePageSize);
  settings.max_operations = setting(Setting::kMaxOperations);
  settings.tick_budget_ms = setting(Setting::kTickBudgetMs);
  settings.table_timeout_ms = setting(Setting::kTableTimeoutMs);
  settings.lock_wait_ms = setting(Setting::kLockWaitMs);
  settings.lock_budget_ms = setting(Setting::kLockBudgetMs);
  settings.scan_requests_max = setting(Setting::kScanRequestsMax);
  settings.backoff_cycles_max = setting(Setting::kBackoffCyclesMax);
  settings.check_drop_markers = setting(Setting::kCheckDropMarkers);
  return settings;
}

}  // namespace caretaker::plugin
