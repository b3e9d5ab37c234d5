#include "plugin/host/plugin.h"

#include <dlfcn.h>

#include <mutex>

#include "absl/strings/str_cat.h"
#include "plugin/boundary.h"
#include "plugin/host/whole_file.h"

namespace caretaker::host {
namespace {

// Two plugins that register the same flags at once would end the process: loading and registering is one at a time.
std::mutex g_loading;

template <typename Function>
bool Find(void* library, const char* name, Function* function, std::string* missing) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function == nullptr) *missing = name;
  return *function != nullptr;
}

}  // namespace

absl::StatusOr<PluginLibrary> PluginLibrary::Load(const std::string& path) {
  // An empty path would open the host itself.
  if (path.empty()) return absl::InvalidArgumentError("plugin: the path is empty; give the path of libcaretaker.so");
  const std::lock_guard<std::mutex> lock(g_loading);
  if (const absl::Status whole = CheckWholeFile(path); !whole.ok()) {
    return absl::Status(whole.code(), absl::StrCat("plugin ", path, ": can not be loaded: ", whole.message()));
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const words = dlerror();
    return absl::NotFoundError(absl::StrCat("plugin ", path, ": can not be loaded: ", words == nullptr ? "" : words));
  }
  PluginLibrary loaded;
  std::string missing;
  if (!Find(library, "maintenance_describe", &loaded.describe, &missing) ||
      !Find(library, "maintenance_register_flags", &loaded.register_flags, &missing) ||
      !Find(library, "maintenance_check_options", &loaded.check_options, &missing) ||
      !Find(library, "maintenance_create", &loaded.create, &missing) ||
      !Find(library, "maintenance_tick", &loaded.tick, &missing) ||
      !Find(library, "maintenance_get_settings", &loaded.get_settings, &missing) ||
      !Find(library, "maintenance_report", &loaded.report, &missing) ||
      !Find(library, "maintenance_export_cursor", &loaded.export_cursor, &missing) ||
      !Find(library, "maintenance_forget_failures", &loaded.forget_failures, &missing) ||
      !Find(library, "maintenance_destroy", &loaded.destroy, &missing)) {
    dlclose(library);
    return absl::FailedPreconditionError(absl::StrCat("plugin ", path, ": does not export ", missing,
                                                      ", so it is no maintenance plugin; give another file"));
  }
  const maintenance_descriptor* const descriptor = loaded.describe();
  if (descriptor == nullptr || descriptor->struct_size < sizeof(maintenance_descriptor) ||
      descriptor->abi_version_min > MAINTENANCE_ABI_VERSION || descriptor->abi_version_max < MAINTENANCE_ABI_VERSION) {
    return absl::FailedPreconditionError(absl::StrCat("plugin ", path, ": does not support ABI version ",
                                                      MAINTENANCE_ABI_VERSION, " of this host; use the same release"));
  }
  return loaded;
}

absl::Status PluginLibrary::RegisterFlags() const {
  const std::lock_guard<std::mutex> lock(g_loading);
  maintenance_error error = boundary::EmptyError();
  return boundary::ToStatus(register_flags(&error), &error);
}

absl::StatusOr<std::unique_ptr<Plugin>> Plugin::Create(const PluginLibrary& library, const HostObjects& objects,
                                                       const InstanceOptions& options) {
  std::unique_ptr<Plugin> plugin(new Plugin(library, objects));
  std::vector<maintenance_option> given;
  for (const auto& [name, value] : options.settings) {
    auto option = boundary::Sized<maintenance_option>();
    option.name = boundary::ToBytes(name);
    option.value = boundary::ToBytes(value);
    given.push_back(option);
  }
  auto args = boundary::Sized<maintenance_create_args>();
  args.abi_version = MAINTENANCE_ABI_VERSION;
  args.flags = options.without_gflags ? MAINTENANCE_CREATE_WITHOUT_GFLAGS : 0;
  args.host = plugin->tables_.get();
  args.prefix = boundary::ToBytes(options.prefix);
  args.cursor = boundary::ToBytes(options.cursor);
  args.options = given.data();
  args.option_count = given.size();
  maintenance_error error = boundary::EmptyError();
  const std::lock_guard<std::mutex> lock(g_loading);
  const int32_t code = library.create(&args, &plugin->instance_, &error);
  if (code != MAINTENANCE_OK) return boundary::ToStatus(code, &error);
  return plugin;
}

Plugin::~Plugin() { library_.destroy(instance_, nullptr); }

absl::Status Plugin::Tick(maintenance_tick_context* results) {
  *results = boundary::Sized<maintenance_tick_context>();
  results->instance = instance_;
  return boundary::ToStatus(library_.tick(results), &results->error);
}

absl::Status Plugin::DryRun(std::vector<std::string>* keys, maintenance_tick_context* results) {
  keys->clear();
  auto sink = boundary::Sized<maintenance_bytes_sink>();
  sink.context = keys;
  sink.bytes = [](void* context, maintenance_bytes key) -> int32_t {
    try {
      static_cast<std::vector<std::string>*>(context)->emplace_back(key.data, key.size);
      return MAINTENANCE_OK;
    } catch (...) {
      return MAINTENANCE_RESOURCE_EXHAUSTED;
    }
  };
  *results = boundary::Sized<maintenance_tick_context>();
  results->instance = instance_;
  results->flags = MAINTENANCE_TICK_DRY_RUN;
  results->dry_run_sink = &sink;
  return boundary::ToStatus(library_.tick(results), &results->error);
}

maintenance_settings Plugin::Settings() const {
  auto settings = boundary::Sized<maintenance_settings>();
  library_.get_settings(instance_, &settings);
  return settings;
}

absl::StatusOr<std::string> Plugin::Report() const { return Take(library_.report); }

absl::StatusOr<std::string> Plugin::ExportCursor() const { return Take(library_.export_cursor); }

absl::StatusOr<std::string> Plugin::Take(decltype(&maintenance_report) give) const {
  std::string taken;
  auto sink = boundary::Sized<maintenance_bytes_sink>();
  sink.context = &taken;
  sink.bytes = [](void* context, maintenance_bytes bytes) -> int32_t {
    try {
      static_cast<std::string*>(context)->assign(bytes.data, bytes.size);
      return MAINTENANCE_OK;
    } catch (...) {
      return MAINTENANCE_RESOURCE_EXHAUSTED;
    }
  };
  const int32_t code = give(instance_, &sink);
  if (code != MAINTENANCE_OK) return boundary::ToStatus(code, nullptr);
  return taken;
}

absl::Status Plugin::ForgetFailures(const std::string& table_namespace, const std::string& table_name) {
  maintenance_error error = boundary::EmptyError();
  return boundary::ToStatus(
      library_.forget_failures(instance_, boundary::ToBytes(table_namespace), boundary::ToBytes(table_name), &error),
      &error);
}

}  // namespace caretaker::host
