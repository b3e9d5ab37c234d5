/* A whole host in C11: a registry in memory, table locks, an engine, and ticks until one cycle is complete.
 *
 *   host PATH_OF_PLUGIN
 *
 * Needs plugin/maintenance_plugin.h, the C library and nothing else. docs/hosting.md walks through it. Prints a line
 * per tick, then all keys with their values; the plugin's events go to stderr. Exit status: 0 when the cycle is
 * complete, 1 when something failed, 2 for a wrong command line or a file that is no plugin of this ABI version.
 *
 * One thread: nobody but the tick touches the registry, so the registry has no lock of its own. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugin/maintenance_plugin.h"

/* ---------------------------------------------------------------- the registry */

#define VALUE_SIZE_MAX 160
#define ENTRY_COUNT (sizeof entries / sizeof entries[0])

typedef struct entry {
  const char* key;
  char value[VALUE_SIZE_MAX];
} entry;

/* Sorted by key. One value is no registration, and one key is no table's. */
static entry entries[] = {
    {"tbl/people/accounts", "{\"location\":\"d/1\",\"engine\":\"demo\",\"current_version\":4}"},
    {"tbl/people/badges", "{\"location\":\"d/2\",\"engine\":\"demo\",\"current_version\":9,\"owner\":\"ann\"}"},
    {"tbl/shop/baskets", "{\"location\":\"d/3\",\"engine\":\"demo\",\"current_version\":1,\"incarnation_id\":\"b-2\"}"},
    {"tbl/shop/orders", "{\"location\":\"d/4\",\"engine\":\"demo\"}"},
    {"tbl/shop/stock", "{\"location\":\"d/5\",\"engine\":\"demo\",\"current_version\":99}"},
    {"usr/ann", "not a table"},
};

static maintenance_bytes view(const char* text) {
  const maintenance_bytes bytes = {text, strlen(text)};
  return bytes;
}

/* Bytes, not text: keys may hold NUL, and nothing that crosses ends with one. */
static int compare(maintenance_bytes left, maintenance_bytes right) {
  const size_t shorter = left.size < right.size ? left.size : right.size;
  const int order = shorter == 0 ? 0 : memcmp(left.data, right.data, shorter);
  return order != 0 ? order : (left.size > right.size) - (left.size < right.size);
}

static int begins_with(maintenance_bytes key, maintenance_bytes prefix) {
  return key.size >= prefix.size && memcmp(key.data, prefix.data, prefix.size) == 0;
}

static entry* find(maintenance_bytes key) {
  for (size_t i = 0; i < ENTRY_COUNT; ++i) {
    if (compare(view(entries[i].key), key) == 0) return &entries[i];
  }
  return NULL;
}

/* Returns `code`, with a message for the plugin's event. */
static int32_t fail(maintenance_error* plugin_error, int32_t code, const char* message) {
  if (plugin_error != NULL && plugin_error->struct_size >= sizeof *plugin_error) {
    plugin_error->code = code;
    plugin_error->message_size = (uint32_t)snprintf(plugin_error->message, sizeof plugin_error->message, "%s", message);
  }
  return code;
}

/* ---------------------------------------------------------------- the metastore */

/* The continuation is the last key of the page: the next page begins after it, whether or not it still exists. */
static int32_t scan_page(void* context, const maintenance_call* call, maintenance_bytes prefix,
                         maintenance_bytes continuation, uint32_t limit, const maintenance_page_sink* plugin_sink,
                         maintenance_error* plugin_error) {
  (void)context, (void)call;
  if (continuation.size != 0 && !begins_with(continuation, prefix)) {
    return fail(plugin_error, MAINTENANCE_OUT_OF_RANGE, "the continuation is of another prefix");
  }
  maintenance_bytes last = continuation;
  uint32_t taken = 0;
  int full = 0;
  for (size_t i = 0; i < ENTRY_COUNT; ++i) {
    const maintenance_bytes key = view(entries[i].key);
    if (!begins_with(key, prefix) || compare(key, continuation) <= 0) continue;
    if (full) {
      plugin_sink->continue_after(plugin_sink->context, last);
      return MAINTENANCE_OK;
    }
    const int32_t answer = plugin_sink->entry(plugin_sink->context, key, view(entries[i].value));
    if (answer == MAINTENANCE_ENTRY_REFUSED) return fail(plugin_error, MAINTENANCE_ABORTED, "an entry was refused");
    last = key;
    full = ++taken == limit || answer == MAINTENANCE_ENTRY_TAKEN_AND_STOP;
  }
  plugin_sink->end_of_prefix(plugin_sink->context);
  return MAINTENANCE_OK;
}

static int32_t get(void* context, const maintenance_call* call, maintenance_bytes key,
                   const maintenance_bytes_sink* plugin_sink, maintenance_error* plugin_error) {
  (void)context, (void)call, (void)plugin_error;
  const entry* const found = find(key);
  if (found == NULL) return MAINTENANCE_NOT_FOUND;
  return plugin_sink->bytes(plugin_sink->context, view(found->value));
}

static int32_t compare_and_set(void* context, const maintenance_call* call, maintenance_bytes key,
                               maintenance_bytes expected, maintenance_bytes desired, int32_t* plugin_outcome,
                               maintenance_error* plugin_error) {
  (void)context, (void)call;
  entry* const found = find(key);
  if (found == NULL || compare(view(found->value), expected) != 0) {
    *plugin_outcome = MAINTENANCE_COMPARE_MISMATCH;
    return MAINTENANCE_OK;
  }
  if (desired.size >= VALUE_SIZE_MAX) {
    return fail(plugin_error, MAINTENANCE_RESOURCE_EXHAUSTED, "no room for the new value");
  }
  memcpy(found->value, desired.data, desired.size);
  found->value[desired.size] = '\0';
  *plugin_outcome = MAINTENANCE_COMPARE_SWAPPED;
  return MAINTENANCE_OK;
}

/* ---------------------------------------------------------------- the table locks */

/* One lock for all tables is a lock of each table, only a coarse one. A tick holds one at a time. */
static int held;

/* Never waits: with one thread nobody could give the lock back meanwhile. */
static int32_t lock(void* context, const maintenance_call* call, maintenance_bytes table_namespace,
                    maintenance_bytes table_name, int64_t wait_ns, uint64_t* plugin_handle, int32_t* plugin_outcome,
                    maintenance_error* plugin_error) {
  (void)context, (void)call, (void)table_namespace, (void)table_name, (void)wait_ns, (void)plugin_error;
  *plugin_outcome = held ? MAINTENANCE_LOCK_BUSY : MAINTENANCE_LOCK_ACQUIRED;
  *plugin_handle = 1;
  held = 1;
  return MAINTENANCE_OK;
}

static void unlock(void* context, uint64_t handle) {
  (void)context, (void)handle;
  held = 0;
}

/* ---------------------------------------------------------------- the engine and the log */

/* Counts in its context, and says that the table has a new version. */
static int32_t maintain(void* context, const maintenance_call* call, const maintenance_generation* generation,
                        maintenance_operation_result* plugin_result, maintenance_error* plugin_error) {
  (void)call, (void)plugin_error;
  ++*(uint64_t*)context;
  /* After the last version there is none. */
  const int last = generation->version == UINT64_MAX;
  plugin_result->outcome = last ? MAINTENANCE_OPERATION_UNCHANGED : MAINTENANCE_OPERATION_CHANGED;
  plugin_result->version = last ? 0 : generation->version + 1;
  return MAINTENANCE_OK;
}

static void event(void* context, const maintenance_event* told) {
  (void)context;
  fprintf(stderr, "event: %.*s\n", (int)told->text.size, told->text.data);
}

/* ---------------------------------------------------------------- the plugin */

typedef struct plugin {
  const maintenance_descriptor* (*describe)(void);
  int32_t (*create)(const maintenance_create_args*, maintenance_instance**, maintenance_error*);
  int32_t (*tick)(maintenance_tick_context*);
  int32_t (*destroy)(maintenance_instance*, maintenance_error*);
} plugin;

/* ISO C has no cast from an object's address to a function's, so the address is copied. */
static int find_function(void* library, const char* name, void* function) {
  void* const address = dlsym(library, name);
  memcpy(function, &address, sizeof address);
  if (address == NULL) fprintf(stderr, "host: %s: the plugin does not export it\n", name);
  return address != NULL;
}

/* Returns 1 with all functions found and the ABI version checked. */
static int load(const char* path, plugin* loaded) {
  void* const library = path[0] == '\0' ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "host: the plugin can not be loaded: %s\n", path[0] == '\0' ? "the path is empty" : dlerror());
    return 0;
  }
  if (!find_function(library, "maintenance_describe", &loaded->describe) ||
      !find_function(library, "maintenance_create", &loaded->create) ||
      !find_function(library, "maintenance_tick", &loaded->tick) ||
      !find_function(library, "maintenance_destroy", &loaded->destroy)) {
    return 0;
  }
  const maintenance_descriptor* const descriptor = loaded->describe();
  if (descriptor->abi_version_min > MAINTENANCE_ABI_VERSION || descriptor->abi_version_max < MAINTENANCE_ABI_VERSION) {
    fprintf(stderr, "host: ABI version %#x is needed, the plugin has %#x to %#x\n", MAINTENANCE_ABI_VERSION,
            descriptor->abi_version_min, descriptor->abi_version_max);
    return 0;
  }
  return 1;
}

/* The plugin copies tables and options; what the contexts point to has to outlive the instance. */
static int32_t create(const plugin* loaded, uint64_t* operations, maintenance_instance** instance) {
  const maintenance_metastore metastore = {sizeof metastore, NULL, scan_page, get, compare_and_set};
  const maintenance_locks locks = {sizeof locks, NULL, lock, unlock};
  const maintenance_engine engine = {sizeof engine, operations, maintain};
  const maintenance_log log = {sizeof log, NULL, event};
  const maintenance_host host = {
      .struct_size = sizeof host, .metastore = &metastore, .locks = &locks, .engine = &engine, .log = &log};
  const maintenance_option options[] = {
      {sizeof options[0], view("maintenance_table_page_size"), view("3")},
      {sizeof options[0], view("maintenance_max_operations"), view("2")},
  };
  const maintenance_create_args args = {.struct_size = sizeof args,
                                        .abi_version = MAINTENANCE_ABI_VERSION,
                                        .flags = MAINTENANCE_CREATE_WITHOUT_GFLAGS,
                                        .host = &host,
                                        .options = options,
                                        .option_count = sizeof options / sizeof options[0]};
  maintenance_error error = {.struct_size = sizeof error};
  const int32_t status = loaded->create(&args, instance, &error);
  if (status != MAINTENANCE_OK) fprintf(stderr, "host: create: status %d: %s\n", (int)status, error.message);
  return status;
}

/* Ticks until a cycle is complete. A server would sleep for call_again_ms after each; this one says how long. */
static int32_t run_cycle(const plugin* loaded, maintenance_instance* instance) {
  maintenance_tick_context tick;
  do {
    memset(&tick, 0, sizeof tick);
    tick.struct_size = sizeof tick;
    tick.instance = instance;
    const int32_t status = loaded->tick(&tick);
    if (status != MAINTENANCE_OK) {
      fprintf(stderr, "host: tick %" PRIu64 ": status %d: %s\n", tick.tick_number, (int)status, tick.error.message);
      return status;
    }
    printf("tick %" PRIu64 ": scanned %" PRIu64 ", operations %" PRIu64 ", maintained %" PRIu64 ", corrupt %" PRIu64
           ", backlog %" PRIu64 ", next in %" PRId64 " ms\n",
           tick.tick_number, tick.scanned, tick.operations, tick.outcomes[MAINTENANCE_OUTCOME_MAINTAINED],
           tick.outcomes[MAINTENANCE_OUTCOME_CORRUPT], tick.backlog_after, tick.call_again_ms);
  } while (!tick.cycle_completed);
  return MAINTENANCE_OK;
}

int main(int argc, char** argv) {
  plugin loaded;
  if (argc != 2) fprintf(stderr, "host: give the path of libcaretaker.so, and nothing else\n");
  if (argc != 2 || !load(argv[1], &loaded)) return 2;
  uint64_t operations = 0;
  maintenance_instance* instance = NULL;
  if (create(&loaded, &operations, &instance) != MAINTENANCE_OK) return 1;
  const int32_t ran = run_cycle(&loaded, instance);

  maintenance_error error = {.struct_size = sizeof error};
  const int32_t destroyed = loaded.destroy(instance, &error);
  if (destroyed != MAINTENANCE_OK) fprintf(stderr, "host: destroy: status %d: %s\n", (int)destroyed, error.message);
  printf("%s %s: %" PRIu64 " operations\n", loaded.describe()->name, loaded.describe()->version, operations);
  for (size_t i = 0; i < ENTRY_COUNT; ++i) printf("%s %s\n", entries[i].key, entries[i].value);
  return ran == MAINTENANCE_OK && destroyed == MAINTENANCE_OK ? 0 : 1;
}
