/* Gives README.md's function a host of two tables in memory, and checks that one tick maintained both. */
#include <stdio.h>
#include <string.h>

#include "plugin/maintenance_plugin.h"

int32_t tick_once(const char* path, const maintenance_host* host);

static struct {
  const char* key;
  char value[128];
} tables[] = {
    {"tbl/shop/orders", "{\"location\":\"o\",\"engine\":\"e\",\"current_version\":9}"},
    {"tbl/shop/people", "{\"location\":\"p\",\"engine\":\"e\",\"current_version\":1}"},
};

static maintenance_bytes bytes(const char* text) {
  maintenance_bytes view = {text, strlen(text)};
  return view;
}

static char* find(maintenance_bytes key) {
  for (size_t i = 0; i < 2; ++i) {
    if (strlen(tables[i].key) == key.size && memcmp(tables[i].key, key.data, key.size) == 0) return tables[i].value;
  }
  return NULL;
}

static int32_t scan_page(void* context, const maintenance_call* call, maintenance_bytes prefix,
                         maintenance_bytes continuation, uint32_t limit, const maintenance_page_sink* sink,
                         maintenance_error* error) {
  (void)context, (void)call, (void)prefix, (void)continuation, (void)error;
  for (size_t i = 0; i < 2 && i < limit; ++i) sink->entry(sink->context, bytes(tables[i].key), bytes(tables[i].value));
  sink->end_of_prefix(sink->context);
  return MAINTENANCE_OK;
}

static int32_t get(void* context, const maintenance_call* call, maintenance_bytes key,
                   const maintenance_bytes_sink* sink, maintenance_error* error) {
  (void)context, (void)call, (void)error;
  const char* value = find(key);
  return value == NULL ? MAINTENANCE_NOT_FOUND : sink->bytes(sink->context, bytes(value));
}

static int32_t compare_and_set(void* context, const maintenance_call* call, maintenance_bytes key,
                               maintenance_bytes expected, maintenance_bytes desired, int32_t* outcome,
                               maintenance_error* error) {
  (void)context, (void)call, (void)error;
  char* value = find(key);
  *outcome = MAINTENANCE_COMPARE_MISMATCH;
  if (value != NULL && strlen(value) == expected.size && memcmp(value, expected.data, expected.size) == 0) {
    memcpy(value, desired.data, desired.size);
    value[desired.size] = '\0';
    *outcome = MAINTENANCE_COMPARE_SWAPPED;
  }
  return MAINTENANCE_OK;
}

static int32_t lock(void* context, const maintenance_call* call, maintenance_bytes table_namespace,
                    maintenance_bytes table_name, int64_t wait_ns, uint64_t* handle, int32_t* outcome,
                    maintenance_error* error) {
  (void)context, (void)call, (void)table_namespace, (void)table_name, (void)wait_ns, (void)error;
  *handle = 1;
  *outcome = MAINTENANCE_LOCK_ACQUIRED;
  return MAINTENANCE_OK;
}

static void unlock(void* context, uint64_t handle) { (void)context, (void)handle; }

static int32_t maintain(void* context, const maintenance_call* call, const maintenance_generation* generation,
                        maintenance_operation_result* result, maintenance_error* error) {
  (void)context, (void)call, (void)error;
  result->outcome = MAINTENANCE_OPERATION_CHANGED;
  result->version = generation->version + 1;
  return MAINTENANCE_OK;
}

int main(int argc, char** argv) {
  const maintenance_metastore metastore = {sizeof metastore, NULL, scan_page, get, compare_and_set};
  const maintenance_locks locks = {sizeof locks, NULL, lock, unlock};
  const maintenance_engine engine = {sizeof engine, NULL, maintain};
  const maintenance_host host = {
      .struct_size = sizeof host, .metastore = &metastore, .locks = &locks, .engine = &engine};
  const int32_t status = argc == 2 ? tick_once(argv[1], &host) : MAINTENANCE_INVALID_ARGUMENT;
  printf("status %d\n%s\n%s\n", status, tables[0].value, tables[1].value);
  return status == MAINTENANCE_OK && strstr(tables[0].value, ":10}") && strstr(tables[1].value, ":2}") ? 0 : 1;
}
