/*
 * A whole host in C: a registry of tables in memory, their locks, an engine, and the loop that calls ticks. The page
 * docs/hosting.md walks through it.
 *
 *   cc -std=c11 -I. testing/examples/c/host.c -o host -ldl -lpthread
 *   ./host PATH_OF_LIBCARETAKER_SO
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "plugin/maintenance_plugin.h"

/* ------------------------------------------------------------------ the tables, in the order of their keys */

typedef struct table {
  const char* key;
  char value[256];
  int garbage_rows;
  pthread_mutex_t lock;
} table;

static table tables[] = {
    {"tbl/shop/items", "{\"location\":\"t/1\",\"engine\":\"toy\",\"current_version\":7}", 10,
     PTHREAD_MUTEX_INITIALIZER},
    {"tbl/shop/notes", "not a registration", 10, PTHREAD_MUTEX_INITIALIZER},
    {"tbl/shop/orders", "{\"location\":\"t/2\",\"engine\":\"toy\",\"current_version\":99}", 5,
     PTHREAD_MUTEX_INITIALIZER},
    {"tbl/shop/people", "{\"location\":\"t/3\",\"engine\":\"toy\",\"current_version\":1}", 0,
     PTHREAD_MUTEX_INITIALIZER},
};
static const size_t table_count = sizeof tables / sizeof tables[0];

static maintenance_bytes bytes_of(const char* text) {
  const maintenance_bytes bytes = {text, strlen(text)};
  return bytes;
}

static int same(maintenance_bytes a, const char* b) { return a.size == strlen(b) && memcmp(a.data, b, a.size) == 0; }

static table* find(maintenance_bytes key) {
  for (size_t i = 0; i < table_count; ++i) {
    if (same(key, tables[i].key)) return &tables[i];
  }
  return NULL;
}

/* ------------------------------------------------------------------ the metastore */

/* The continuation is the last key of the page before: what is created or dropped meanwhile moves no other table. */
static int32_t scan_page(void* context, const maintenance_call* call, maintenance_bytes prefix,
                         maintenance_bytes continuation, uint32_t limit, const maintenance_page_sink* sink,
                         maintenance_error* error) {
  (void)context, (void)call, (void)error;
  char after[MAINTENANCE_KEY_SIZE_MAX + 1] = "";
  if (continuation.size > MAINTENANCE_KEY_SIZE_MAX) return MAINTENANCE_OUT_OF_RANGE;
  if (continuation.size > 0) memcpy(after, continuation.data, continuation.size);
  const char* last = NULL;
  for (size_t i = 0; i < table_count; ++i) {
    const char* key = tables[i].key;
    if (strncmp(key, prefix.data, prefix.size) != 0 || strcmp(key, after) <= 0) continue;
    if (limit == 0) {
      sink->continue_after(sink->context, bytes_of(last));
      return MAINTENANCE_OK;
    }
    const int32_t answer = sink->entry(sink->context, bytes_of(key), bytes_of(tables[i].value));
    if (answer == MAINTENANCE_ENTRY_REFUSED) {
      sink->continue_after(sink->context, last == NULL ? continuation : bytes_of(last));
      return MAINTENANCE_OK;
    }
    last = key;
    limit = answer == MAINTENANCE_ENTRY_TAKEN_AND_STOP ? 0 : limit - 1;
  }
  sink->end_of_prefix(sink->context);
  return MAINTENANCE_OK;
}

static int32_t get(void* context, const maintenance_call* call, maintenance_bytes key,
                   const maintenance_bytes_sink* sink, maintenance_error* error) {
  (void)context, (void)call, (void)error;
  const table* found = find(key);
  return found == NULL ? MAINTENANCE_NOT_FOUND : sink->bytes(sink->context, bytes_of(found->value));
}

static int32_t compare_and_set(void* context, const maintenance_call* call, maintenance_bytes key,
                               maintenance_bytes expected, maintenance_bytes desired, int32_t* outcome,
                               maintenance_error* error) {
  (void)context, (void)call, (void)error;
  table* found = find(key);
  *outcome = MAINTENANCE_COMPARE_MISMATCH;
  if (found == NULL || !same(expected, found->value)) return MAINTENANCE_OK;
  if (desired.size >= sizeof found->value) return MAINTENANCE_RESOURCE_EXHAUSTED;
  memcpy(found->value, desired.data, desired.size);
  found->value[desired.size] = '\0';
  *outcome = MAINTENANCE_COMPARE_SWAPPED;
  return MAINTENANCE_OK;
}

/* ------------------------------------------------------------------ the table locks */

static int32_t lock(void* context, const maintenance_call* call, maintenance_bytes table_namespace,
                    maintenance_bytes table_name, int64_t wait_ns, uint64_t* handle, int32_t* outcome,
                    maintenance_error* error) {
  (void)context, (void)call, (void)error;
  char key[MAINTENANCE_KEY_SIZE_MAX + 1];
  snprintf(key, sizeof key, "tbl/%.*s/%.*s", (int)table_namespace.size, table_namespace.data, (int)table_name.size,
           table_name.data);
  table* found = find(bytes_of(key));
  if (found == NULL) return MAINTENANCE_NOT_FOUND; /* Tables of this host are never dropped. */
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  wait_ns += until.tv_nsec;
  until.tv_sec += wait_ns / 1000000000;
  until.tv_nsec = wait_ns % 1000000000;
  const int locked = pthread_mutex_clocklock(&found->lock, CLOCK_MONOTONIC, &until);
  *handle = (uint64_t)(found - tables);
  *outcome = locked == 0 ? MAINTENANCE_LOCK_ACQUIRED : MAINTENANCE_LOCK_BUSY;
  return MAINTENANCE_OK;
}

static void unlock(void* context, uint64_t handle) {
  (void)context;
  pthread_mutex_unlock(&tables[handle].lock);
}

/* ------------------------------------------------------------------ the engine */

static int32_t maintain(void* context, const maintenance_call* call, const maintenance_generation* generation,
                        maintenance_operation_result* result, maintenance_error* error) {
  (void)context, (void)call, (void)error;
  for (size_t i = 0; i < table_count; ++i) {
    if (!same(generation->value, tables[i].value)) continue;
    result->outcome = tables[i].garbage_rows > 0 ? MAINTENANCE_OPERATION_CHANGED : MAINTENANCE_OPERATION_UNCHANGED;
    result->version = generation->version + 1;
    tables[i].garbage_rows = 0;
    return MAINTENANCE_OK;
  }
  return MAINTENANCE_INTERNAL;
}

/* ------------------------------------------------------------------ events */

static void event(void* context, const maintenance_event* event) {
  (void)context;
  if (event->severity == MAINTENANCE_SEVERITY_INFO) return;
  fprintf(stderr, "event: %.*s\n", (int)event->text.size, event->text.data);
}

/* ------------------------------------------------------------------ the plugin, and the loop */

typedef struct plugin {
  const maintenance_descriptor* (*describe)(void);
  int32_t (*create)(const maintenance_create_args*, maintenance_instance**, maintenance_error*);
  int32_t (*tick)(maintenance_tick_context*);
  int32_t (*destroy)(maintenance_instance*, maintenance_error*);
} plugin;

static int load(const char* path, plugin* loaded) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "plugin %s: can not be loaded: %s\n", path, dlerror());
    return 0;
  }
  *(void**)&loaded->describe = dlsym(library, "maintenance_describe");
  *(void**)&loaded->create = dlsym(library, "maintenance_create");
  *(void**)&loaded->tick = dlsym(library, "maintenance_tick");
  *(void**)&loaded->destroy = dlsym(library, "maintenance_destroy");
  if (!loaded->describe || !loaded->create || !loaded->tick || !loaded->destroy) {
    fprintf(stderr, "plugin %s: lacks an export; give another file\n", path);
    return 0;
  }
  const maintenance_descriptor* about = loaded->describe();
  if (about->abi_version_min > MAINTENANCE_ABI_VERSION || about->abi_version_max < MAINTENANCE_ABI_VERSION) {
    fprintf(stderr, "plugin %s: is of another ABI version; use the same release\n", path);
    return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  plugin plugin;
  if (argc != 2 || !load(argv[1], &plugin)) return 2;

  const maintenance_metastore metastore = {sizeof metastore, NULL, scan_page, get, compare_and_set};
  const maintenance_locks locks = {sizeof locks, NULL, lock, unlock};
  const maintenance_engine engine = {sizeof engine, NULL, maintain};
  const maintenance_log log = {sizeof log, NULL, event};
  const maintenance_host host = {
      .struct_size = sizeof host, .metastore = &metastore, .locks = &locks, .engine = &engine, .log = &log};
  const maintenance_option options[] = {
      {sizeof options[0], bytes_of("maintenance_table_page_size"), bytes_of("3")},
      {sizeof options[0], bytes_of("maintenance_interval_secs"), bytes_of("1")},
  };
  const maintenance_create_args args = {.struct_size = sizeof args,
                                        .abi_version = MAINTENANCE_ABI_VERSION,
                                        .flags = MAINTENANCE_CREATE_WITHOUT_GFLAGS,
                                        .host = &host,
                                        .options = options,
                                        .option_count = sizeof options / sizeof options[0]};
  maintenance_instance* instance = NULL;
  maintenance_error error = {.struct_size = sizeof error};
  if (plugin.create(&args, &instance, &error) != MAINTENANCE_OK) {
    fprintf(stderr, "create: %s\n", error.message);
    return 2;
  }

  int completed = 0;
  for (int ticks = 0; ticks < 10 && !completed; ++ticks) {
    maintenance_tick_context tick = {.struct_size = sizeof tick, .instance = instance};
    if (plugin.tick(&tick) != MAINTENANCE_OK) fprintf(stderr, "tick: %s\n", tick.error.message);
    printf("tick %llu: scanned %llu, operations %llu, maintained %llu\n", (unsigned long long)tick.tick_number,
           (unsigned long long)tick.scanned, (unsigned long long)tick.operations,
           (unsigned long long)tick.outcomes[MAINTENANCE_OUTCOME_MAINTAINED]);
    completed = tick.cycle_completed;
    /* A server does its other work, or waits, until tick.call_again_ms have passed since this tick began. */
    if (!completed) nanosleep(&(struct timespec){tick.call_again_ms / 1000, tick.call_again_ms % 1000 * 1000000}, NULL);
  }

  for (size_t i = 0; i < table_count; ++i) printf("%s %s\n", tables[i].key, tables[i].value);
  if (plugin.destroy(instance, &error) != MAINTENANCE_OK) fprintf(stderr, "destroy: %s\n", error.message);
  return completed ? 0 : 1;
}
