#include "maintenance/maintenance_limits.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "registry/table_ref.h"
#include "registry/table_registration_page.h"

namespace caretaker::maintenance {
namespace {

constexpr SettingDescription kSettings[] = {
    {"maintenance_interval_secs", "MAINTENANCE_INTERVAL_SECS", "Asks the host for one tick every so many seconds.", 60,
     1, 86400, false},
    {"maintenance_table_page_size", "MAINTENANCE_TABLE_PAGE_SIZE", "Reads at most so many registry entries per tick.",
     128, 1, registry::kPageSizeMax, false},
    {"maintenance_max_operations", "MAINTENANCE_MAX_OPERATIONS",
     "Runs at most so many table operations per tick; 0 means as many as the page size.", 0, 0, 10000, false},
    {"maintenance_tick_budget_ms", "MAINTENANCE_TICK_BUDGET_MS",
     "Begins no further table after so many milliseconds of a tick; 0 means no such bound.", 0, 0, 3600000, false},
    {"maintenance_table_timeout_ms", "MAINTENANCE_TABLE_TIMEOUT_MS",
     "Gives the engine so many milliseconds for one table; 0 means no deadline.", 600000, 0, 86400000, false},
    {"maintenance_lock_wait_ms", "MAINTENANCE_LOCK_WAIT_MS",
     "Waits at most so many milliseconds for one table's lock; 0 means to try once without waiting.", 1000, 0, 600000,
     false},
    {"maintenance_lock_budget_ms", "MAINTENANCE_LOCK_BUDGET_MS",
     "Waits at most so many milliseconds for locks in one tick; when they are spent, locks are only tried.", 5000, 0,
     600000, false},
    {"maintenance_scan_requests_max", "MAINTENANCE_SCAN_REQUESTS_MAX",
     "Sends at most so many scan requests per tick while the answers are empty.", 16, 1, 1000, false},
    {"maintenance_backoff_cycles_max", "MAINTENANCE_BACKOFF_CYCLES_MAX",
     "Passes over a failing table for at most so many cycles; 0 turns that off.", 8, 0, 4096, false},
    {"maintenance_check_drop_markers", "MAINTENANCE_CHECK_DROP_MARKERS",
     "Passes over tables that have a drop marker, for hosts that keep these; costs one read per table.", 0, 0, 1, true},
};
static_assert(sizeof(kSettings) / sizeof(kSettings[0]) == kSettingCount);

// A decimal number with an optional minus sign and nothing around it. False: it is none, or does not fit.
bool ParseWholeNumber(absl::string_view text, int64_t* value) {
  const absl::string_view digits = absl::StartsWith(text, "-") ? text.substr(1) : text;
  return !digits.empty() && std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) &&
         absl::SimpleAtoi(text, value);
}

// The words that gflags accepts. False: it is none of them.
bool ParseBool(absl::string_view text, int64_t* value) {
  bool parsed = false;
  if (!absl::SimpleAtob(text, &parsed)) return false;
  *value = parsed ? 1 : 0;
  return true;
}

std::string Allowed(const SettingDescription& description) {
  if (description.is_bool) return "true or false";
  return absl::StrCat(description.min, "..", description.max);
}

absl::Status Refuse(const GivenSetting& given, absl::string_view what, absl::string_view allowed) {
  const SettingDescription& description = Describe(given.setting);
  const absl::string_view name =
      given.source == SettingSource::kEnvironment ? description.environment : description.name;
  return absl::InvalidArgumentError(absl::StrCat(name, " (", SettingSourceName(given.source),
                                                 "): ", registry::Printable(given.text), " ", what, ", allowed ",
                                                 allowed, "; correct it and start again"));
}

absl::StatusOr<int64_t> Validate(const GivenSetting& given) {
  const SettingDescription& description = Describe(given.setting);
  int64_t value = 0;
  if (description.is_bool) {
    if (!ParseBool(given.text, &value)) return Refuse(given, "is neither true nor false", Allowed(description));
  } else {
    if (!ParseWholeNumber(given.text, &value)) return Refuse(given, "is not a whole number", Allowed(description));
    if (value < description.min || value > description.max)
      return Refuse(given, "is out of range", Allowed(description));
  }
  return value;
}

}  // namespace

const SettingDescription& Describe(Setting setting) { return kSettings[static_cast<size_t>(setting)]; }

absl::string_view SettingSourceName(SettingSource source) {
  switch (source) {
    case SettingSource::kDefault:
      return "default";
    case SettingSource::kEnvironment:
      return "environment";
    case SettingSource::kFlag:
      return "flag";
    case SettingSource::kOption:
      return "option";
  }
  return "unknown";
}

absl::StatusOr<Setting> FindSetting(absl::string_view name) {
  std::string names;
  for (size_t i = 0; i < kSettingCount; ++i) {
    if (name == kSettings[i].name) return static_cast<Setting>(i);
    absl::StrAppend(&names, i == 0 ? "" : ", ", kSettings[i].name);
  }
  return absl::InvalidArgumentError(absl::StrCat("option ", registry::Printable(name),
                                                 ": there is no such setting, allowed ", names, "; correct the name"));
}

MaintenanceLimits::MaintenanceLimits() {
  for (size_t i = 0; i < kSettingCount; ++i) {
    values_[i] = kSettings[i].default_value;
    sources_[i] = SettingSource::kDefault;
  }
}

absl::StatusOr<MaintenanceLimits> MaintenanceLimits::TryNew(absl::Span<const GivenSetting> given) {
  MaintenanceLimits limits;
  std::array<uint8_t, kSettingCount> sources_seen{};
  for (const GivenSetting& one : given) {
    const absl::StatusOr<int64_t> value = Validate(one);
    if (!value.ok()) return value.status();
    const auto index = static_cast<size_t>(one.setting);
    const auto bit = static_cast<uint8_t>(1u << static_cast<unsigned>(one.source));
    if ((sources_seen[index] & bit) != 0) return Refuse(one, "is given a second time", "each setting once");
    sources_seen[index] |= bit;
    if (one.source < limits.sources_[index]) continue;
    limits.values_[index] = *value;
    limits.sources_[index] = one.source;
  }
  int64_t& max_operations = limits.values_[static_cast<size_t>(Setting::kMaxOperations)];
  if (max_operations == 0) max_operations = limits.value(Setting::kTablePageSize);
  return limits;
}

}  // namespace caretaker::maintenance
