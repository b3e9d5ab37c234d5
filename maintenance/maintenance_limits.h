// The settings of an instance: what there is, what is allowed, and the values in force with where each came from.
//
// Thread-safety: immutable after TryNew.
#ifndef CARETAKER_MAINTENANCE_MAINTENANCE_LIMITS_H_
#define CARETAKER_MAINTENANCE_MAINTENANCE_LIMITS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace caretaker::maintenance {

enum class Setting : uint8_t {
  kIntervalSecs,
  kTablePageSize,
  kMaxOperations,
  kTickBudgetMs,
  kTableTimeoutMs,
  kLockWaitMs,
  kLockBudgetMs,
  kScanRequestsMax,
  kBackoffCyclesMax,
  kCheckDropMarkers,
};
inline constexpr size_t kSettingCount = 10;

// The one description of a setting: flags, environment, options and docs/flags.md follow it.
struct SettingDescription {
  const char* name;         // Of the flag and the option.
  const char* environment;  // Of the environment variable.
  const char* help;         // One sentence.
  int64_t default_value;
  int64_t min;
  int64_t max;
  bool is_bool;
};

const SettingDescription& Describe(Setting setting);

// In rising order of strength; the numbers are those of plugin/maintenance_plugin.h.
enum class SettingSource : uint8_t { kDefault = 1, kEnvironment = 2, kFlag = 3, kOption = 4 };

absl::string_view SettingSourceName(SettingSource source);

// A value as somebody gave it.
struct GivenSetting {
  Setting setting;
  SettingSource source;
  absl::string_view text;
};

// The setting called `name`. InvalidArgument: there is none; the message lists what there is.
absl::StatusOr<Setting> FindSetting(absl::string_view name);

class MaintenanceLimits {
 public:
  // Takes the strongest source's value for each setting and the default where none is given. Every given value is
  // validated, also one that a stronger source overrides: a wrong value is a mistake wherever it stands.
  // InvalidArgument: name, source, value and range; or a setting given twice by one source.
  static absl::StatusOr<MaintenanceLimits> TryNew(absl::Span<const GivenSetting> given);

  int64_t value(Setting setting) const { return values_[static_cast<size_t>(setting)]; }
  SettingSource source(Setting setting) const { return sources_[static_cast<size_t>(setting)]; }

  uint32_t table_page_size() const { return static_cast<uint32_t>(value(Setting::kTablePageSize)); }
  // Never 0: an unset bound is the page size.
  uint64_t max_operations() const { return static_cast<uint64_t>(value(Setting::kMaxOperations)); }
  uint32_t scan_requests_max() const { return static_cast<uint32_t>(value(Setting::kScanRequestsMax)); }
  int64_t interval_ms() const { return value(Setting::kIntervalSecs) * 1000; }
  bool check_drop_markers() const { return value(Setting::kCheckDropMarkers) != 0; }

 private:
  MaintenanceLimits();

  std::array<int64_t, kSettingCount> values_;
  std::array<SettingSource, kSettingCount> sources_;
};

}  // namespace caretaker::maintenance

#endif  // CARETAKER_MAINTENANCE_MAINTENANCE_LIMITS_H_
