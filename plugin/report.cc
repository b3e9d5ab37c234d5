#include "plugin/report.h"

#define RAPIDJSON_HAS_STDSTRING 0
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdlib>
#include <new>

#include "registry/table_ref.h"

namespace caretaker::plugin {
namespace {

using maintenance::Describe;
using maintenance::kOutcomeCount;
using maintenance::kSettingCount;
using maintenance::MaintenanceLimits;
using maintenance::Outcome;
using maintenance::OutcomeName;
using maintenance::OutcomeSample;
using maintenance::Setting;
using maintenance::TickResult;

// rapidjson's own does not look at what malloc returns.
class ThrowingAllocator {
 public:
  [[maybe_unused]] static const bool kNeedFree = true;
  void* Malloc(size_t size) { return size == 0 ? nullptr : Checked(std::malloc(size)); }
  void* Realloc(void* old, size_t, size_t size) {
    if (size != 0) return Checked(std::realloc(old, size));
    std::free(old);
    return nullptr;
  }
  static void Free(void* memory) { std::free(memory); }

 private:
  static void* Checked(void* memory) {
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
};

using Buffer = rapidjson::GenericStringBuffer<rapidjson::UTF8<>, ThrowingAllocator>;
using Writer = rapidjson::Writer<Buffer, rapidjson::UTF8<>, rapidjson::UTF8<>, ThrowingAllocator>;

// Strings that are ours, or made printable before: all of them are ASCII.
void Text(Writer& json, absl::string_view text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}
void Name(Writer& json, absl::string_view name) {
  json.Key(name.data(), static_cast<rapidjson::SizeType>(name.size()));
}
void Member(Writer& json, absl::string_view name, uint64_t value) {
  Name(json, name);
  json.Uint64(value);
}

void WriteSettings(Writer& json, const MaintenanceLimits& limits) {
  json.StartObject();
  for (size_t i = 0; i < kSettingCount; ++i) {
    const auto setting = static_cast<Setting>(i);
    Name(json, Describe(setting).name);
    json.StartObject();
    Name(json, "value");
    if (Describe(setting).is_bool) {
      json.Bool(limits.value(setting) != 0);
    } else {
      json.Int64(limits.value(setting));
    }
    Name(json, "source");
    Text(json, SettingSourceName(limits.source(setting)));
    json.EndObject();
  }
  json.EndObject();
}

// How long ago `then_ns` was; 0 where the host's clock says that it is still to come.
uint64_t AgoMs(const InstanceStatus& status, int64_t then_ns) {
  int64_t ago_ns = 0;
  if (__builtin_sub_overflow(status.now_ns, then_ns, &ago_ns) || ago_ns < 0) return 0;
  return static_cast<uint64_t>(ago_ns / 1'000'000);
}

void WriteRunning(Writer& json, const InstanceStatus& status) {
  json.StartObject();
  Name(json, "phase");
  Text(json, PhaseName(status.running.phase));
  Name(json, "key");
  Text(json, registry::Printable(status.running.key, TickResult::kSampleKeySizeMax));
  Member(json, "since_ms", AgoMs(status, status.running.since_ns));
  json.EndObject();
}

void WriteRecent(Writer& json, const InstanceStatus& status) {
  json.StartArray();
  for (const maintenance::RecentVisit& visit : status.recent) {
    json.StartObject();
    Name(json, "key");
    Text(json, registry::Printable(visit.key, TickResult::kSampleKeySizeMax));
    Name(json, "outcome");
    Text(json, OutcomeName(visit.outcome));
    Member(json, "cycle", visit.cycle);
    Member(json, "ago_ms", AgoMs(status, visit.at_ns));
    json.EndObject();
  }
  json.EndArray();
}

void WriteCycle(Writer& json, const InstanceStatus& status) {
  json.StartObject();
  Member(json, "number", status.cycle.number);
  Member(json, "visited", status.cycle.visited);
  Member(json, "backlog", status.backlog);
  Member(json, "completed", status.cycle.completed);
  Member(json, "last_visited", status.cycle.last_visited);
  Member(json, "restarted", status.cycle.restarted);
  Member(json, "short_cycles", status.cycle.short_cycles);
  Member(json, "elapsed_ms", status.cycle.started_ns ? AgoMs(status, *status.cycle.started_ns) : 0);
  Member(json, "last_duration_ms", static_cast<uint64_t>(status.cycle.last_duration_ns / 1'000'000));
  Member(json, "ticks_without_progress", status.cycle.ticks_without_progress);
  json.EndObject();
}

void WriteBackedOff(Writer& json, const InstanceStatus& status) {
  json.StartArray();
  for (const maintenance::BackedOffTable& table : status.backed_off) {
    json.StartObject();
    Name(json, "key");
    Text(json, registry::Printable(table.key, TickResult::kSampleKeySizeMax));
    Name(json, "reason");
    Text(json, OutcomeName(table.reason));
    Name(json, "message");
    Text(json, table.message);
    Member(json, "streak", table.streak);
    Member(json, "due_cycle", table.due_cycle);
    json.EndObject();
  }
  json.EndArray();
}

void WriteTick(Writer& json, const TickResult& tick) {
  json.StartObject();
  Member(json, "tick", tick.tick_number);
  Member(json, "cycle", tick.cycle_number);
  Name(json, "status");
  Text(json, absl::StatusCodeToString(tick.status.code()));
  Name(json, "error");
  Text(json, registry::Printable(absl::string_view(tick.status.message()), 512));
  Name(json, "ended_by");
  Text(json, EndedByName(tick.ended_by));
  Member(json, "backlog_before", tick.backlog_before);
  Member(json, "scanned", tick.scanned);
  Member(json, "backlog_after", tick.backlog_after);
  Member(json, "scan_requests", tick.scan_requests);
  Member(json, "operations", tick.operations);
  Member(json, "generation_changed", tick.generation_changed);
  Member(json, "cycle_completed", tick.cycle_completed ? 1 : 0);
  Member(json, "cycle_restarted", tick.cycle_restarted ? 1 : 0);
  Member(json, "cycle_short", tick.cycle_short ? 1 : 0);
  Member(json, "stalled_ticks", tick.stalled_ticks);
  Name(json, "stalled_at");
  Text(json, tick.stalled_at);
  Member(json, "duration_us", static_cast<uint64_t>(tick.duration_ns / 1000));
  Name(json, "outcomes");
  json.StartObject();
  for (size_t i = 0; i < kOutcomeCount; ++i) Member(json, OutcomeName(static_cast<Outcome>(i)), tick.outcomes[i]);
  json.EndObject();
  Name(json, "samples");
  json.StartArray();
  for (const OutcomeSample& sample : tick.samples) {
    json.StartObject();
    Name(json, "outcome");
    Text(json, OutcomeName(sample.outcome));
    Name(json, "text");
    Text(json, sample.text);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace

std::string ReportJson(absl::string_view prefix, const MaintenanceLimits& limits, const InstanceStatus& status,
                       bool tick_running) {
  Buffer buffer;
  Writer json(buffer);
  json.StartObject();
  Name(json, "prefix");
  Text(json, registry::Printable(prefix, registry::kKeySizeMax));
  Name(json, "tick_running");
  json.Bool(tick_running);
  Name(json, "running");
  WriteRunning(json, status);
  Name(json, "settings");
  WriteSettings(json, limits);
  Name(json, "cycle");
  WriteCycle(json, status);
  Member(json, "failures", status.failures);
  Name(json, "backed_off");
  WriteBackedOff(json, status);
  Name(json, "recent");
  WriteRecent(json, status);
  Name(json, "last_ticks");
  json.StartArray();
  for (const TickResult& tick : status.last_ticks) WriteTick(json, tick);
  json.EndArray();
  json.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize());
}

}  // namespace caretaker::plugin
