/* A plugin that lacks one of the exports, maintenance_report. */
#include <stddef.h>

#include "plugin/maintenance_plugin.h"

const maintenance_descriptor* maintenance_describe(void) { return NULL; }
int32_t maintenance_register_flags(maintenance_error* host_error) { return (void)host_error, MAINTENANCE_INTERNAL; }
int32_t maintenance_check_options(const maintenance_option* options, size_t count, maintenance_error* host_error) {
  return (void)options, (void)count, (void)host_error, MAINTENANCE_INTERNAL;
}
int32_t maintenance_create(const maintenance_create_args* args, maintenance_instance** host_instance,
                           maintenance_error* host_error) {
  return (void)args, (void)host_instance, (void)host_error, MAINTENANCE_INTERNAL;
}
int32_t maintenance_tick(maintenance_tick_context* host_context) { return (void)host_context, MAINTENANCE_INTERNAL; }
int32_t maintenance_get_settings(const maintenance_instance* instance, maintenance_settings* host_settings) {
  return (void)instance, (void)host_settings, MAINTENANCE_INTERNAL;
}
int32_t maintenance_export_cursor(maintenance_instance* instance, const maintenance_bytes_sink* host_sink) {
  return (void)instance, (void)host_sink, MAINTENANCE_INTERNAL;
}
int32_t maintenance_forget_failures(maintenance_instance* instance, maintenance_bytes table_namespace,
                                    maintenance_bytes table_name, maintenance_error* host_error) {
  return (void)instance, (void)table_namespace, (void)table_name, (void)host_error, MAINTENANCE_INTERNAL;
}
int32_t maintenance_destroy(maintenance_instance* instance, maintenance_error* host_error) {
  return (void)instance, (void)host_error, MAINTENANCE_INTERNAL;
}
