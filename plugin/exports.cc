// The exported functions: check, convert, call, convert back. Each is noexcept behind a catch-all; nothing but a status
// and what the header says leaves them.
#include <pthread.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "plugin/boundary.h"
#include "plugin/flags.h"
#include "plugin/instance.h"
#include "plugin/maintenance_plugin.h"
#include "plugin/settings.h"
#include "plugin/tick_context.h"

// The opaque handle of the boundary is an Instance.
struct maintenance_instance {
  std::unique_ptr<caretaker::plugin::Instance> instance;
};

namespace {

using caretaker::plugin::Instance;
namespace boundary = caretaker::boundary;

constexpr maintenance_descriptor kDescriptor = {
    sizeof(maintenance_descriptor),
    MAINTENANCE_ABI_VERSION,
    MAINTENANCE_ABI_VERSION,
    "caretaker",
    "0.1.0",
    MAINTENANCE_CAPABILITY_CURSOR_EXPORT | MAINTENANCE_CAPABILITY_DRY_RUN | MAINTENANCE_CAPABILITY_REPORT |
        MAINTENANCE_CAPABILITY_FAILURE_MEMORY | MAINTENANCE_CAPABILITY_BUILT_IN_CODEC |
        MAINTENANCE_CAPABILITY_CONTAINMENT,
    MAINTENANCE_KEY_SIZE_MAX,
    MAINTENANCE_VALUE_SIZE_MAX,
    MAINTENANCE_CONTINUATION_SIZE_MAX,
    MAINTENANCE_REPORT_SIZE_MAX,
};

// A thread cancelled inside the plugin would unwind through frames that must catch everything, which ends the process.
// So a cancellation waits until the call has returned.
class NoThreadCancellation {
 public:
  NoThreadCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_); }
  NoThreadCancellation(const NoThreadCancellation&) = delete;
  NoThreadCancellation& operator=(const NoThreadCancellation&) = delete;
  ~NoThreadCancellation() { pthread_setcancelstate(state_, nullptr); }

 private:
  int state_ = 0;
};

// Runs one exported function's body and turns what comes out of it into a status.
template <typename Body>
absl::Status Contain(const Body& body) noexcept {
  const NoThreadCancellation no_cancellation;
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return absl::Status(absl::StatusCode::kResourceExhausted, "");
  } catch (...) {
    return absl::Status(absl::StatusCode::kInternal, "");
  }
}

template <typename Body>
int32_t Export(maintenance_error* host_error, const Body& body) noexcept {
  const absl::Status status = Contain(body);
  caretaker::plugin::WriteOwnError(status, host_error);
  return boundary::ToCode(status);
}

absl::Status CheckInstance(const maintenance_instance* instance) {
  if (instance == nullptr) return absl::InvalidArgumentError("instance: NULL; give what maintenance_create returned");
  if (instance->instance->InCreatingProcess()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "instance: used in another process than it was created in, allowed only there; create one after fork");
}

// Gives what `make` makes of the instance to the host's sink; no lock is held then.
template <typename Make>
int32_t Deliver(const maintenance_instance* instance, const maintenance_bytes_sink* host_sink,
                const Make& make) noexcept {
  int32_t answer = MAINTENANCE_OK;
  const int32_t code = Export(nullptr, [&]() -> absl::Status {
    if (absl::Status checked = CheckInstance(instance); !checked.ok()) return checked;
    maintenance_bytes_sink sink;
    if (!boundary::ReadStruct(host_sink, sizeof(sink), &sink) || sink.bytes == nullptr) {
      return absl::InvalidArgumentError("host_sink: NULL, too small or without its function; set all of it");
    }
    const std::string bytes = make(*instance->instance);
    answer = sink.bytes(sink.context, boundary::ToBytes(bytes));
    return absl::OkStatus();
  });
  return code == MAINTENANCE_OK ? answer : code;
}

absl::Status Tick(const maintenance_tick_context& arguments, maintenance_tick_context* results) {
  if (absl::Status checked = CheckInstance(arguments.instance); !checked.ok()) return checked;
  Instance& instance = *arguments.instance->instance;
  if ((arguments.flags & ~MAINTENANCE_TICK_DRY_RUN) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("flags: ", arguments.flags, " has unknown bits, allowed ",
                                                   MAINTENANCE_TICK_DRY_RUN, "; clear them"));
  }
  // For whoever gets the event, which has these results in it.
  results->instance = arguments.instance;
  if ((arguments.flags & MAINTENANCE_TICK_DRY_RUN) == 0) return instance.Tick(results);
  maintenance_bytes_sink sink;
  if (!boundary::ReadStruct(arguments.dry_run_sink, sizeof(sink), &sink) || sink.bytes == nullptr) {
    return absl::InvalidArgumentError("dry_run_sink: NULL, too small or without its function; set all of it");
  }
  return instance.DryRun(sink, results);
}

}  // namespace

const maintenance_descriptor* maintenance_describe(void) noexcept { return &kDescriptor; }

int32_t maintenance_register_flags(maintenance_error* host_error) noexcept {
  return Export(host_error, [] { return caretaker::plugin::RegisterFlags(); });
}

int32_t maintenance_check_options(const maintenance_option* options, size_t count,
                                  maintenance_error* host_error) noexcept {
  return Export(host_error,
                [&] { return caretaker::plugin::ReadSettings(options, count, /*with_gflags=*/true).status(); });
}

int32_t maintenance_create(const maintenance_create_args* args, maintenance_instance** host_instance,
                           maintenance_error* host_error) noexcept {
  return Export(host_error, [&]() -> absl::Status {
    if (host_instance == nullptr) return absl::InvalidArgumentError("host_instance: NULL; say where the instance goes");
    *host_instance = nullptr;
    maintenance_create_args arguments;
    if (!boundary::ReadStruct(args, sizeof(arguments), &arguments)) {
      return absl::InvalidArgumentError(
          absl::StrCat("args: NULL or a struct_size below ", sizeof(arguments), "; set it to sizeof"));
    }
    absl::StatusOr<std::unique_ptr<Instance>> instance = Instance::Create(arguments);
    if (!instance.ok()) return instance.status();
    *host_instance = new maintenance_instance{*std::move(instance)};
    return absl::OkStatus();
  });
}

int32_t maintenance_tick(maintenance_tick_context* host_context) noexcept {
  maintenance_tick_context context;
  if (!boundary::ReadStruct(host_context, sizeof(context), &context)) return MAINTENANCE_INVALID_ARGUMENT;
  auto results = boundary::Sized<maintenance_tick_context>();
  const absl::Status status = Contain([&] { return Tick(context, &results); });
  // Also where no tick ran, so that the host reads one place only.
  results.status = boundary::ToCode(status);
  results.error.struct_size = sizeof(results.error);
  caretaker::plugin::WriteOwnError(status, &results.error);
  results.instance = context.instance;
  results.flags = context.flags;
  results.dry_run_sink = context.dry_run_sink;
  boundary::WriteStruct(results, sizeof(context), host_context);
  return results.status;
}

int32_t maintenance_get_settings(const maintenance_instance* instance, maintenance_settings* host_settings) noexcept {
  return Export(nullptr, [&]() -> absl::Status {
    if (absl::Status checked = CheckInstance(instance); !checked.ok()) return checked;
    const maintenance_settings settings = instance->instance->Settings();
    if (boundary::WriteStruct(settings, sizeof(settings), host_settings)) return absl::OkStatus();
    return absl::InvalidArgumentError("host_settings: NULL or too small; set struct_size to sizeof");
  });
}

int32_t maintenance_report(maintenance_instance* instance, const maintenance_bytes_sink* host_sink) noexcept {
  return Deliver(instance, host_sink, [](const Instance& from) { return from.Report(); });
}

int32_t maintenance_export_cursor(maintenance_instance* instance, const maintenance_bytes_sink* host_sink) noexcept {
  return Deliver(instance, host_sink, [](const Instance& from) { return from.Cursor(); });
}

int32_t maintenance_forget_failures(maintenance_instance* instance, maintenance_bytes table_namespace,
                                    maintenance_bytes table_name, maintenance_error* host_error) noexcept {
  return Export(host_error, [&]() -> absl::Status {
    if (absl::Status checked = CheckInstance(instance); !checked.ok()) return checked;
    if (!boundary::IsValid(table_namespace) || !boundary::IsValid(table_name) ||
        (table_namespace.size == 0) != (table_name.size == 0)) {
      return absl::InvalidArgumentError("table: namespace and name are needed both, or none for all tables; give both");
    }
    return instance->instance->ForgetFailures(boundary::ToView(table_namespace), boundary::ToView(table_name));
  });
}

int32_t maintenance_destroy(maintenance_instance* instance, maintenance_error* host_error) noexcept {
  return Export(host_error, [&]() -> absl::Status {
    if (instance == nullptr) return absl::OkStatus();
    if (absl::Status checked = CheckInstance(instance); !checked.ok()) return checked;
    if (!instance->instance->TryRetire()) {
      return absl::FailedPreconditionError(
          "destroy: a tick is running, allowed when none is; call again when it returned");
    }
    delete instance;
    return absl::OkStatus();
  });
}
