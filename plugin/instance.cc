#include "plugin/instance.h"

#include <unistd.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/boundary.h"
#include "plugin/event_log.h"
#include "plugin/flags.h"
#include "plugin/host_call.h"
#include "plugin/settings.h"
#include "plugin/tick_context.h"
#include "registry/contract_violation.h"
#include "registry/table_ref.h"

namespace caretaker::plugin {
namespace {

std::unique_ptr<registry::RegistrationCodec> MakeCodec(const maintenance_codec& host) {
  if (host.decode != nullptr) return std::make_unique<HostCodec>(host);
  return std::make_unique<registry::JsonRegistrationCodec>();
}

// Lets the next tick in, however this one ends.
class BusyUntilReturn {
 public:
  explicit BusyUntilReturn(std::atomic<bool>* busy) : busy_(busy) {}
  BusyUntilReturn(const BusyUntilReturn&) = delete;
  BusyUntilReturn& operator=(const BusyUntilReturn&) = delete;
  ~BusyUntilReturn() { busy_->store(false, std::memory_order_release); }

 private:
  std::atomic<bool>* const busy_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Instance>> Instance::Create(const maintenance_create_args& args) {
  if (args.abi_version != MAINTENANCE_ABI_VERSION) {
    return absl::FailedPreconditionError(absl::StrCat("abi_version: the host's header is of version ", args.abi_version,
                                                      ", supported is ", MAINTENANCE_ABI_VERSION,
                                                      "; use a plugin and a header of the same release"));
  }
  if ((args.flags & ~MAINTENANCE_CREATE_WITHOUT_GFLAGS) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("flags: ", args.flags, " has unknown bits, allowed ",
                                                   MAINTENANCE_CREATE_WITHOUT_GFLAGS, "; clear them"));
  }
  if (!boundary::IsValid(args.prefix) || !boundary::IsValid(args.cursor)) {
    return absl::InvalidArgumentError(
        "prefix or cursor: data is NULL with a size, or the size can not be; NULL is allowed with size 0 only");
  }
  const absl::string_view prefix = args.prefix.size == 0 ? registry::kTablePrefix : boundary::ToView(args.prefix);
  if (absl::Status valid = registry::ValidateTablePrefix(prefix); !valid.ok()) return valid;
  maintenance::CursorState resumed;
  if (args.cursor.size != 0) {
    absl::StatusOr<maintenance::CursorState> decoded = maintenance::DecodeCursor(prefix, boundary::ToView(args.cursor));
    if (!decoded.ok()) return decoded.status();
    resumed = *std::move(decoded);
  }
  HostTables host;
  if (absl::Status copied = host.CopyFrom(args.host); !copied.ok()) return copied;

  const bool with_gflags = (args.flags & MAINTENANCE_CREATE_WITHOUT_GFLAGS) == 0;
  if (with_gflags) {
    if (absl::Status registered = RegisterFlags(); !registered.ok()) return registered;
  }
  const absl::StatusOr<maintenance::MaintenanceLimits> limits =
      ReadSettings(args.options, args.option_count, with_gflags);
  if (!limits.ok()) return limits.status();
  return std::unique_ptr<Instance>(new Instance(host, *limits, prefix, std::move(resumed)));
}

Instance::Instance(const HostTables& host, const maintenance::MaintenanceLimits& limits, absl::string_view prefix,
                   maintenance::CursorState resumed)
    : host_(host),
      limits_(limits),
      prefix_(prefix),
      pid_(getpid()),
      metastore_(host_.metastore),
      locks_(host_.locks),
      engine_(host_.engine),
      control_(host_.control),
      clock_(host_.clock),
      codec_(MakeCodec(host_.codec)) {
  maintenance::SweepHost sweep;
  sweep.metastore = &metastore_;
  sweep.codec = codec_.get();
  sweep.locks = &locks_;
  sweep.engine = &engine_;
  sweep.control = &control_;
  sweep.clock = &clock_;
  sweep.publishes = host_.metastore.compare_and_set != nullptr;
  sweep_.emplace(sweep, limits_, prefix_, std::move(resumed));
  status_.last_ticks.reserve(kTicksReported);
  sweep_->ExportCursor(&cursor_);
}

bool Instance::InCreatingProcess() const { return getpid() == pid_; }

absl::Status Instance::TurnAway(maintenance_tick_context* host_context) const {
  host_context->call_again_ms = limits_.interval_ms();
  return absl::UnavailableError("tick: another one is running on this instance, allowed is one; call again later");
}

absl::Status Instance::DryRun(const maintenance_bytes_sink& host_sink, maintenance_tick_context* host_context) {
  if (busy_.exchange(true, std::memory_order_acquire)) return TurnAway(host_context);
  const BusyUntilReturn release(&busy_);
  // Not result_, which the report of the last tick is made of.
  maintenance::TickResult result;
  const auto name = [&](absl::string_view key) {
    return CallHost("dry_run_sink",
                    [&](maintenance_error*) { return host_sink.bytes(host_sink.context, boundary::ToBytes(key)); });
  };
  sweep_->DryRun(name, &result);
  WriteTickResult(result, host_context);
  return result.status;
}

absl::Status Instance::Tick(maintenance_tick_context* host_context) {
  if (busy_.exchange(true, std::memory_order_acquire)) return TurnAway(host_context);
  const BusyUntilReturn release(&busy_);
  sweep_->Tick(&result_);
  try {
    // Made whole before it replaces the one that is there.
    sweep_->ExportCursor(&next_cursor_);
    next_tick_ = result_;
    const std::lock_guard<std::mutex> lock(mutex_);
    std::swap(cursor_, next_cursor_);
    status_.cycle = sweep_->cycle();
    status_.backlog = sweep_->backlog_size();
    // The oldest makes room, and its memory is the next one's.
    std::vector<maintenance::TickResult>& ticks = status_.last_ticks;
    if (ticks.size() < kTicksReported) ticks.emplace_back();
    std::rotate(ticks.begin(), ticks.end() - 1, ticks.end());
    std::swap(ticks.front(), next_tick_);
  } catch (const std::bad_alloc&) {
    // The report and the cursor show an older tick; this one's results and event go out all the same.
  }
  WriteTickResult(result_, host_context);
  absl::Status emitted;
  try {
    emitted = EmitEvent(host_context);
  } catch (const std::bad_alloc&) {
    emitted = absl::ResourceExhaustedError("");
  }
  if (!emitted.ok()) {
    result_.status = std::move(emitted);
    result_.ended_by = maintenance::EndedBy::kUnset;
    WriteTickResult(result_, host_context);
    const std::lock_guard<std::mutex> lock(mutex_);
    // The report's newest tick is this one unless memory was short when it was copied.
    if (!status_.last_ticks.empty() && status_.last_ticks.front().tick_number == result_.tick_number) {
      status_.last_ticks.front().status = result_.status;
      status_.last_ticks.front().ended_by = result_.ended_by;
    }
  }
  return result_.status;
}

absl::Status Instance::EmitEvent(const maintenance_tick_context* context) {
  const maintenance::Severity severity = EventSeverity(result_);
  std::string text;
  absl::string_view shown = "maintenance error=\"no memory for the event\"";
  try {
    text = EventText(result_);
    shown = text;
  } catch (const std::bad_alloc&) {
    // A literal needs none.
  }
  if (host_.log.event == nullptr) {
    LogEvent(severity, shown);
    return absl::OkStatus();
  }
  auto event = boundary::Sized<maintenance_event>();
  event.severity = static_cast<int32_t>(severity);
  event.tick = context;
  event.text = boundary::ToBytes(shown);
  try {
    host_.log.event(host_.log.context, &event);
  } catch (...) {
    return registry::ContractViolation("event", "let an exception out, allowed none", "H-1");
  }
  return absl::OkStatus();
}

absl::Status Instance::ForgetFailures(absl::string_view table_namespace, absl::string_view table_name) {
  maintenance::FailureMemory& failures = sweep_->failures();
  if (table_name.empty()) {
    if (failures.ForgetAll() > 0) return absl::OkStatus();
    return absl::NotFoundError("failures: none are remembered");
  }
  if (failures.Forget(registry::TableKey({table_namespace, table_name}))) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("failures: none are remembered of ", registry::Printable(table_namespace),
                                          "/", registry::Printable(table_name)));
}

maintenance_settings Instance::Settings() const { return ToSettings(limits_); }

std::string Instance::Cursor() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return cursor_;
}

std::string Instance::Report() const {
  InstanceStatus status;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    status = status_;
  }
  status.backed_off = sweep_->failures().Worst(kBackedOffReported);
  status.failures = sweep_->failures().size();
  status.running = sweep_->visits().Running();
  status.recent = sweep_->visits().Recent();
  status.now_ns = clock_.NowNs();
  return ReportJson(prefix_, limits_, status, busy_.load(std::memory_order_relaxed));
}

}  // namespace caretaker::plugin
