/* A plugin that supports another ABI version only: for the loader's test. */
#include "plugin/maintenance_plugin.h"

static const maintenance_descriptor descriptor = {.struct_size = sizeof(maintenance_descriptor),
                                                  .abi_version_min = 0x00ff0000u,
                                                  .abi_version_max = 0x00ff0000u,
                                                  .name = "other",
                                                  .version = "255.0"};

const maintenance_descriptor* maintenance_describe(void) { return &descriptor; }
int32_t maintenance_register_flags(maintenance_error* host_error) {
  (void)host_error;
  return MAINTENANCE_UNIMPLEMENTED;
}
int32_t maintenance_check_options(const maintenance_option* options, size_t count, maintenance_error* host_error) {
  (void)options, (void)count, (void)host_error;
  return MAINTENANCE_UNIMPLEMENTED;
}
int32_t maintenance_create(const maintenance_create_args* args, maintenance_instance** host_instance,
                           maintenance_error* host_error) {
  (void)args, (void)host_instance, (void)host_error;
  return MAINTENANCE_UNIMPLEMENTED;
}
int32_t maintenance_tick(maintenance_tick_context* host_context) {
  (void)host_context;
  return MAINTENANCE_UNIMPLEMENTED;
}
int32_t maintenance_get_settings(const maintenance_instance* instance, maintenance_settings* host_settings) {
  (void)instance, (void)host_settings;
  return MAINTENANCE_UNIMPLEMENTED;
}
int32_t maintenance_report(maintenance_instance* instance, const maintenance_bytes_sink* host_sink) {
  (void)instance, (void)host_sink;
  return MAINTENANCE_UNIMPLEMENTED;
}
int32_t maintenance_export_cursor(maintenance_instance* instance, const maintenance_bytes_sink* host_sink) {
  (void)instance, (void)host_sink;
  return MAINTENANCE_UNIMPLEMENTED;
}
int32_t maintenance_forget_failures(maintenance_instance* instance, maintenance_bytes table_namespace,
                                    maintenance_bytes table_name, maintenance_error* host_error) {
  (void)instance, (void)table_namespace, (void)table_name, (void)host_error;
  return MAINTENANCE_UNIMPLEMENTED;
}
int32_t maintenance_destroy(maintenance_instance* instance, maintenance_error* host_error) {
  (void)instance, (void)host_error;
  return MAINTENANCE_OK;
}
