/*
 * The C boundary between a storage engine host and a maintenance plugin.
 *
 * A host keeps a registry of tables, one key `tbl/<namespace>/<name>` each, and calls
 * maintenance_tick() every interval. Each tick reads one bounded page of the registry, and for each
 * table on it takes the table's lock, reads its registration again, hands exactly that generation to
 * the host's engine, and publishes the new version by compare-and-set. The host owns scheduling,
 * metastore, locks and engine; the plugin owns the cursor and the budgets.
 *
 * Thread-safety: stated per function. Words are those of docs/glossary.md.
 *
 * CONVENTIONS. [P-n] binds the plugin, [H-n] the host, [E-n] the host's engine, [B-n] both.
 *
 * [B-1]  Every struct that crosses begins with `struct_size`, set by the side that owns the memory to
 *        the size that it was compiled with. Structs only grow at the end. The reader takes what both
 *        sides know: members past struct_size are absent (zero), members past its own are left alone.
 *        Below the size of the first released header a struct is refused: INVALID_ARGUMENT.
 *        Two exceptions: maintenance_bytes never changes; a maintenance_error may be of any size, and
 *        takes as much of the message as it has room for.
 * [B-2]  A maintenance_bytes is borrowed: it is valid until the call that it was passed to returns, and
 *        is never NUL-terminated. Keys, values and continuations may hold any byte. data may be NULL
 *        only when size is 0; size is at most PTRDIFF_MAX.
 * [B-3]  Nothing allocated on one side is freed on the other.
 * [B-4]  Integers, not enums: a value that the reader does not know is junk, never undefined behaviour.
 *        Reserved members are zero.
 * [B-5]  Statuses are the canonical codes below. A status other than OK comes with a maintenance_error
 *        where the function takes one (NULL: the caller wants none); of an error that the host writes the
 *        code is ignored, and the message ends at its first NUL. Beside what its list says, every function of
 *        the plugin may return RESOURCE_EXHAUSTED (out of memory, nothing was done) and INTERNAL (a fault of
 *        the plugin's, or a sink of the host's that let an exception out).
 * [P-1]  No exception, abort, exit, signal handler, thread or thread-local destructor leaves or is
 *        started by the plugin. Out of memory is RESOURCE_EXHAUSTED.
 * [P-2]  Loading maps the library and does nothing else: no flag, no log line, no lock. (gflags, which it needs,
 *        registers its own few flags where the process did not have it yet.)
 * [P-3]  During a tick, get_settings, report, export_cursor and forget_failures return at once, also when
 *        called from inside a host function: they wait for no operation and for no table lock.
 * [P-4]  Instances are independent. One instance runs one tick at a time; a second one returns UNAVAILABLE
 *        at once and emits no event.
 * [P-5]  An instance works in the process that created it. In a child after fork() every function that takes
 *        it answers FAILED_PRECONDITION.
 * [H-1]  Host functions return: no exception, longjmp or thread exit passes through the plugin's frames.
 *        (A plugin with MAINTENANCE_CAPABILITY_CONTAINMENT turns a C++ exception into INTERNAL.)
 * [H-2]  Host functions do not call back into the same instance's tick or destroy.
 * [H-3]  Every path of the host that creates, drops or changes a table takes that table's lock. Metastore
 *        functions take no table lock.
 * [H-4]  A read under the lock sees the latest write (consistent reads; never a lagging replica).
 * [H-5]  With several hosts on one registry, compare_and_set checks the fence token in the same transaction.
 * [H-6]  A host function that returns OK has written its outcome, or called its sink as stated. Outcomes
 *        start as UNSET. OK without an outcome, an unknown outcome, or a status outside 0..16 is a
 *        contract violation.
 * [H-7]  A sink is called only inside the call that it was passed to, on that call's thread.
 * [E-1]  maintain may be given a version that it has already maintained, and succeeds.
 * [E-2]  maintain deletes nothing that the version it was given needs: the host may die between maintain
 *        and the publication. Old data goes in a later call that names a later version.
 * [E-3]  maintain answers UNCHANGED, CHANGED with a version above the one given, or a status.
 *
 * A contract violation ends the tick with INTERNAL, naming the function and the rule; the table's lock is
 * given back and the next tick works. Without an incarnation in the registration, the guarantee against
 * drop-and-recreate rests on the table lock alone.
 */
#ifndef CARETAKER_PLUGIN_MAINTENANCE_PLUGIN_H_
#define CARETAKER_PLUGIN_MAINTENANCE_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MAINTENANCE_API __attribute__((visibility("default")))
#else
#define MAINTENANCE_API
#endif

#ifdef __cplusplus
#define MAINTENANCE_NOEXCEPT noexcept
extern "C" {
#else
#define MAINTENANCE_NOEXCEPT
#endif

/* The version of this header, major << 16 | minor. While major is 0 a change of minor may break. */
#define MAINTENANCE_ABI_VERSION 0x00000001u

/* Canonical status codes, with absl's numbers. */
#define MAINTENANCE_OK 0
#define MAINTENANCE_CANCELLED 1
#define MAINTENANCE_UNKNOWN 2
#define MAINTENANCE_INVALID_ARGUMENT 3
#define MAINTENANCE_DEADLINE_EXCEEDED 4
#define MAINTENANCE_NOT_FOUND 5
#define MAINTENANCE_ALREADY_EXISTS 6
#define MAINTENANCE_PERMISSION_DENIED 7
#define MAINTENANCE_RESOURCE_EXHAUSTED 8
#define MAINTENANCE_FAILED_PRECONDITION 9
#define MAINTENANCE_ABORTED 10
#define MAINTENANCE_OUT_OF_RANGE 11
#define MAINTENANCE_UNIMPLEMENTED 12
#define MAINTENANCE_INTERNAL 13
#define MAINTENANCE_UNAVAILABLE 14
#define MAINTENANCE_DATA_LOSS 15
#define MAINTENANCE_UNAUTHENTICATED 16

/* Limits, in bytes. A longer key, value, location, engine or incarnation makes the table `corrupt`: it is
 * counted and passed over. A longer continuation is a contract violation. */
#define MAINTENANCE_KEY_SIZE_MAX 1024
#define MAINTENANCE_VALUE_SIZE_MAX 1048576
#define MAINTENANCE_CONTINUATION_SIZE_MAX 4096
#define MAINTENANCE_FIELD_SIZE_MAX 1024
#define MAINTENANCE_REPORT_SIZE_MAX 262144
#define MAINTENANCE_EVENT_TEXT_SIZE_MAX 4096
#define MAINTENANCE_ERROR_MESSAGE_SIZE_MAX 1024
/* Options per create or check_options. */
#define MAINTENANCE_OPTIONS_MAX 64
/* Metastore calls are given at least this much time, so that a tick over its budget can still finish the
 * table that it is at. In milliseconds. */
#define MAINTENANCE_METASTORE_CALL_MS_MIN 1000

/* remaining_ns: there is no limit. */
#define MAINTENANCE_NO_LIMIT ((int64_t)-1)

/* Borrowed bytes [B-2]. */
typedef struct maintenance_bytes {
  const char* data;
  size_t size;
} maintenance_bytes;

/* An error, in memory that the caller of the function owns. Its message stays readable for as long as that
 * memory does: nothing in it points into the plugin. The callee writes code, message_size and message, and
 * writes them on OK too (code 0, empty). A longer message is cut at a UTF-8 boundary. */
typedef struct maintenance_error {
  size_t struct_size;
  int32_t code;
  uint32_t message_size; /* Bytes before the NUL, at most MESSAGE_SIZE_MAX - 1. */
  char message[MAINTENANCE_ERROR_MESSAGE_SIZE_MAX];
} maintenance_error;

/* What accompanies each call of a host function. Relative times only: no clock is shared. */
typedef struct maintenance_call {
  size_t struct_size;
  /* Nanoseconds until the call should have returned, or MAINTENANCE_NO_LIMIT. For metastore calls what is left
   * of the tick's budget, at least MAINTENANCE_METASTORE_CALL_MS_MIN; for maintain the table timeout; for lock the
   * same as wait_ns. */
  int64_t remaining_ns;
  uint64_t fence_token;    /* What may_act gave last in this tick; 0 without one, and always for lock. */
  int32_t has_fence_token; /* 0 or 1. */
  int32_t reserved;
} maintenance_call;

/* Receives one byte string. Returns MAINTENANCE_OK, or why it could not take it (the host then returns that
 * status from its function). Called exactly once where success is to be reported. */
typedef struct maintenance_bytes_sink {
  size_t struct_size;
  void* context;
  int32_t (*bytes)(void* context, maintenance_bytes bytes);
} maintenance_bytes_sink;

/* ------------------------------------------------------------------ the host's metastore */

/* Answers of maintenance_page_sink.entry. */
#define MAINTENANCE_ENTRY_TAKEN 1
#define MAINTENANCE_ENTRY_TAKEN_AND_STOP 2 /* Taken, and the last one: end the page after it. */
#define MAINTENANCE_ENTRY_REFUSED 3        /* Not taken: end the page before it, or return. */

/* The plugin's receiver of one page. Runs plugin code under host frames; never throws, never blocks.
 * The host calls entry() for at most `limit` entries and then, unless it returns a status, exactly one of
 * continue_after() and end_of_prefix(), once. [H-8] */
typedef struct maintenance_page_sink {
  size_t struct_size;
  void* context;
  /* key: with the prefix. value: may be longer than the limits; it is then counted as corrupt. */
  int32_t (*entry)(void* context, maintenance_bytes key, maintenance_bytes value);
  /* There may be more: the next page begins at this mark, 1..MAINTENANCE_CONTINUATION_SIZE_MAX bytes that
   * mean something to the host only. */
  void (*continue_after)(void* context, maintenance_bytes continuation);
  void (*end_of_prefix)(void* context);
} maintenance_page_sink;

/* Answers of compare_and_set. */
#define MAINTENANCE_COMPARE_UNSET 0
#define MAINTENANCE_COMPARE_SWAPPED 1       /* The key held `expected` and now durably holds `desired`. */
#define MAINTENANCE_COMPARE_MISMATCH 2      /* Nothing written: the key is absent or holds other bytes. */
#define MAINTENANCE_COMPARE_FENCED 3        /* Nothing written: the fence token is no longer good. */
#define MAINTENANCE_COMPARE_INDETERMINATE 4 /* It may or may not have been written; the plugin reads back. */

/* Threads: called on the tick's thread only. All may block, for about call->remaining_ns. None takes a table
 * lock [H-3]. */
typedef struct maintenance_metastore {
  size_t struct_size;
  void* context;
  /* Delivers at most `limit` (1..10000) entries whose keys begin with `prefix`, beginning at `continuation`
   * (empty: the first key). A page may be short, or empty, and still continue: a backend bounds the work of a
   * request, not only its live keys. No order of keys is relied upon, only this [H-9]: a key present from the
   * first to the last page of a walk comes exactly once, no key comes twice in a page, none is outside the prefix. A
   * page without entries continues somewhere else than it began. Returns OK; OUT_OF_RANGE: this continuation is not
   * accepted (the plugin begins again at the first key); any other status: the scan failed, the plugin tries the same
   * page in the next tick. */
  int32_t (*scan_page)(void* context, const maintenance_call* call, maintenance_bytes prefix,
                       maintenance_bytes continuation, uint32_t limit, const maintenance_page_sink* plugin_sink,
                       maintenance_error* plugin_error);
  /* Reads one key, seeing the latest write [H-4]. OK: plugin_sink was called exactly once. NOT_FOUND: the key is
   * absent, the sink was not called. Any other status: the read failed (the table ends as `read_failed`). */
  int32_t (*get)(void* context, const maintenance_call* call, maintenance_bytes key,
                 const maintenance_bytes_sink* plugin_sink, maintenance_error* plugin_error);
  /* Writes `desired` if the key holds exactly the bytes `expected`, durably, and checks call->fence_token in the same
   * transaction [H-5]. OK: *plugin_outcome is one of MAINTENANCE_COMPARE_*. A status: nothing was written and the
   * table ends as `publish_failed`. May be NULL in a host whose engine publishes by itself. */
  int32_t (*compare_and_set)(void* context, const maintenance_call* call, maintenance_bytes key,
                             maintenance_bytes expected, maintenance_bytes desired, int32_t* plugin_outcome,
                             maintenance_error* plugin_error);
} maintenance_metastore;

/* ------------------------------------------------------------------ the host's table locks */

#define MAINTENANCE_LOCK_UNSET 0
#define MAINTENANCE_LOCK_ACQUIRED 1
#define MAINTENANCE_LOCK_BUSY 2
#define MAINTENANCE_LOCK_CANCELLED 3 /* The host stopped the wait because it wants to stop. */

/* Threads: lock and unlock of one table are called on the same thread, the tick's. One lock is held at a time. */
typedef struct maintenance_locks {
  size_t struct_size;
  void* context;
  /* Takes the table's exclusive lock, waiting at most wait_ns (0: try once, do not wait at all). OK: *plugin_outcome
   * is one of MAINTENANCE_LOCK_*, and when ACQUIRED *plugin_handle is whatever unlock needs. A status: not locked
   * (the table ends as `lock_failed`). */
  int32_t (*lock)(void* context, const maintenance_call* call, maintenance_bytes table_namespace,
                  maintenance_bytes table_name, int64_t wait_ns, uint64_t* plugin_handle, int32_t* plugin_outcome,
                  maintenance_error* plugin_error);
  /* Gives the lock back. Called exactly once per ACQUIRED, on every path [P-6]. Does not block, does not fail. */
  void (*unlock)(void* context, uint64_t handle);
} maintenance_locks;

/* ------------------------------------------------------------------ the host's engine */

/* One generation of one table, as read under its lock. */
typedef struct maintenance_generation {
  size_t struct_size;
  maintenance_bytes table_namespace;
  maintenance_bytes table_name;
  maintenance_bytes location;
  maintenance_bytes engine;
  maintenance_bytes incarnation; /* Empty when has_incarnation is 0. */
  maintenance_bytes value;       /* The registration's bytes as they were read. */
  uint64_t version;
  int32_t has_incarnation; /* 0 or 1. */
  int32_t reserved;
} maintenance_generation;

#define MAINTENANCE_OPERATION_UNSET 0
#define MAINTENANCE_OPERATION_UNCHANGED 1
#define MAINTENANCE_OPERATION_CHANGED 2

typedef struct maintenance_operation_result {
  size_t struct_size;
  int32_t outcome; /* MAINTENANCE_OPERATION_*; starts as UNSET. */
  int32_t reserved;
  uint64_t version; /* With CHANGED: the new version, above the one given [E-3]. */
} maintenance_operation_result;

typedef struct maintenance_engine {
  size_t struct_size;
  void* context;
  /* Maintains one table, whose lock is held, on the tick's thread. May block until call->remaining_ns has passed;
   * stopping by then, and on is_cancelled, is the engine's own business. OK: plugin_result is written.
   * DEADLINE_EXCEEDED: `engine_timed_out`. CANCELLED: `interrupted`. UNAVAILABLE, RESOURCE_EXHAUSTED: the engine, not
   * the table, is in trouble (`engine_failed`; three in a row end the tick). Any other status: `engine_failed`. */
  int32_t (*maintain)(void* context, const maintenance_call* call, const maintenance_generation* generation,
                      maintenance_operation_result* plugin_result, maintenance_error* plugin_error);
} maintenance_engine;

/* ------------------------------------------------------------------ optional host tables */

#define MAINTENANCE_ANSWER_UNSET 0
#define MAINTENANCE_ANSWER_YES 1
#define MAINTENANCE_ANSWER_NO 2

/* Called on the tick's thread, several times per table; cheap, and never blocking. Either may be NULL. */
typedef struct maintenance_control {
  size_t struct_size;
  void* context;
  /* Does the host want the tick to stop? A status counts as YES. */
  int32_t (*is_cancelled)(void* context, int32_t* plugin_answer, maintenance_error* plugin_error);
  /* May this host still act on the registry? YES comes with the fence token, which goes along with the metastore's
   * functions and with maintain; 0, which it starts as, stands for none. A status counts as NO. */
  int32_t (*may_act)(void* context, int32_t* plugin_answer, uint64_t* plugin_fence_token,
                     maintenance_error* plugin_error);
} maintenance_control;

/* Nanoseconds of a monotonic clock with any origin; not affected by steps of the wall clock. Never blocks. May be
 * called on any thread that calls the plugin. Without it the plugin uses the system's monotonic clock. */
typedef struct maintenance_clock {
  size_t struct_size;
  void* context;
  int64_t (*now_ns)(void* context);
} maintenance_clock;

#define MAINTENANCE_SEVERITY_INFO 0
#define MAINTENANCE_SEVERITY_WARNING 1
#define MAINTENANCE_SEVERITY_ERROR 2

struct maintenance_tick_context;

typedef struct maintenance_event {
  size_t struct_size;
  int32_t severity;
  int32_t reserved;
  const struct maintenance_tick_context* tick; /* The finished tick's results. */
  maintenance_bytes text; /* One line of `key=value` words, printable ASCII, at most EVENT_TEXT_SIZE_MAX. */
} maintenance_event;

/* One event per tick [P-7], on the tick's thread, with no lock held. Without this table it is a line of glog, where the
 * process has glog 0.6 for itself, and otherwise one on stderr. */
typedef struct maintenance_log {
  size_t struct_size;
  void* context;
  void (*event)(void* context, const maintenance_event* event);
} maintenance_log;

/* What a registration says; used by hosts that bring their own encoding. */
typedef struct maintenance_registration {
  size_t struct_size;
  maintenance_bytes location;
  maintenance_bytes engine;
  maintenance_bytes incarnation;
  uint64_t version;
  int32_t has_incarnation; /* 0 or 1. */
  int32_t reserved;
} maintenance_registration;

typedef struct maintenance_registration_sink {
  size_t struct_size;
  void* context;
  int32_t (*registration)(void* context, const maintenance_registration* registration);
} maintenance_registration_sink;

/* Replaces the built-in JSON codec, for which a registration is one JSON object with "location" and "engine" (strings),
 * "current_version" (a number, 0..18446744073709551615) and, where the host has it, "incarnation_id" (a string), in any
 * order and with any other fields; publishing replaces the digits of current_version and no other byte. Both functions
 * are needed. Threads: the tick's. Neither blocks. */
typedef struct maintenance_codec {
  size_t struct_size;
  void* context;
  /* OK: plugin_sink was called exactly once. Any status: these bytes are `corrupt`. */
  int32_t (*decode)(void* context, maintenance_bytes value, const maintenance_registration_sink* plugin_sink,
                    maintenance_error* plugin_error);
  /* Gives the bytes of `value` with its version replaced. OK: plugin_sink was called exactly once. A status: the table
   * ends as `publish_failed`. */
  int32_t (*encode_version)(void* context, maintenance_bytes value, uint64_t version,
                            const maintenance_bytes_sink* plugin_sink, maintenance_error* plugin_error);
} maintenance_codec;

/* The host's tables. The first three are mandatory, the rest may be NULL. create copies the tables; the contexts in
 * them stay the host's and must live until destroy has returned OK. */
typedef struct maintenance_host {
  size_t struct_size;
  const maintenance_metastore* metastore;
  const maintenance_locks* locks;
  const maintenance_engine* engine;
  const maintenance_control* control;
  const maintenance_clock* clock;
  const maintenance_log* log;
  const maintenance_codec* codec;
} maintenance_host;

/* ------------------------------------------------------------------ the plugin */

/* Capabilities: what a plugin may leave out. A function whose capability is not declared answers UNIMPLEMENTED. */
#define MAINTENANCE_CAPABILITY_CURSOR_EXPORT 0x01u
#define MAINTENANCE_CAPABILITY_DRY_RUN 0x02u
#define MAINTENANCE_CAPABILITY_REPORT 0x04u
#define MAINTENANCE_CAPABILITY_FAILURE_MEMORY 0x08u
#define MAINTENANCE_CAPABILITY_BUILT_IN_CODEC 0x10u
#define MAINTENANCE_CAPABILITY_CONTAINMENT 0x20u

typedef struct maintenance_descriptor {
  size_t struct_size;
  uint32_t abi_version_min; /* The oldest and newest header of a host that this plugin accepts. */
  uint32_t abi_version_max;
  const char* name;    /* NUL-terminated, static. */
  const char* version; /* NUL-terminated, static. */
  uint64_t capabilities;
  uint64_t key_size_max;
  uint64_t value_size_max;
  uint64_t continuation_size_max;
  uint64_t report_size_max;
} maintenance_descriptor;

/* One setting by name, for example {"maintenance_table_page_size", "128"}; the names are in docs/flags.md. In an
 * array of these every element has the same struct_size, which is also the distance between elements. */
typedef struct maintenance_option {
  size_t struct_size;
  maintenance_bytes name;
  maintenance_bytes value;
} maintenance_option;

typedef struct maintenance_instance maintenance_instance;

/* create_args.flags: register no gflags and read none; options and environment remain. */
#define MAINTENANCE_CREATE_WITHOUT_GFLAGS 0x1u

typedef struct maintenance_create_args {
  size_t struct_size;
  uint32_t abi_version; /* MAINTENANCE_ABI_VERSION of the host's header. */
  uint32_t flags;       /* MAINTENANCE_CREATE_*; unknown bits are refused. */
  const maintenance_host* host;
  maintenance_bytes prefix; /* `tbl/` (also when empty) or `tbl/<namespace>/`: what this instance walks. */
  const maintenance_option* options;
  size_t option_count;      /* At most MAINTENANCE_OPTIONS_MAX. */
  maintenance_bytes cursor; /* From maintenance_export_cursor, or empty. */
} maintenance_create_args;

/* Where a setting's value comes from. An option beats a flag that was set, which beats the environment, which beats
 * the default. */
#define MAINTENANCE_SOURCE_DEFAULT 1
#define MAINTENANCE_SOURCE_ENVIRONMENT 2
#define MAINTENANCE_SOURCE_FLAG 3
#define MAINTENANCE_SOURCE_OPTION 4

typedef struct maintenance_setting {
  int64_t value;
  int32_t source; /* MAINTENANCE_SOURCE_*. */
  int32_t reserved;
} maintenance_setting;

/* Units are in the names; ranges are in docs/flags.md. max_operations is the effective one: never 0. */
typedef struct maintenance_settings {
  size_t struct_size;
  maintenance_setting interval_secs;
  maintenance_setting table_page_size;
  maintenance_setting max_operations;
  maintenance_setting tick_budget_ms;
  maintenance_setting table_timeout_ms;
  maintenance_setting lock_wait_ms;
  maintenance_setting lock_budget_ms;
  maintenance_setting scan_requests_max;
  maintenance_setting backoff_cycles_max;
  maintenance_setting check_drop_markers; /* 0 or 1. */
} maintenance_settings;

/* Indices of tick_context.outcomes. Each candidate that a tick finishes ends in exactly one of them [P-8]. */
#define MAINTENANCE_OUTCOME_MAINTAINED 0        /* Changed, and its new version is published. */
#define MAINTENANCE_OUTCOME_UNCHANGED 1         /* The engine found nothing to do. */
#define MAINTENANCE_OUTCOME_CONFLICT 2          /* Changed, but the registration moved on: not published. */
#define MAINTENANCE_OUTCOME_PUBLISH_UNKNOWN 3   /* Changed; whether it is published could not be found out. */
#define MAINTENANCE_OUTCOME_PUBLISH_FAILED 4    /* Changed; the publication failed, nothing was written. */
#define MAINTENANCE_OUTCOME_GONE 5              /* No registration under the lock. */
#define MAINTENANCE_OUTCOME_DROPPING 6          /* It has a drop marker. */
#define MAINTENANCE_OUTCOME_CORRUPT 7           /* Key or value can not be decoded, or is over a limit. */
#define MAINTENANCE_OUTCOME_LOCK_BUSY 8         /* Its lock was held by another, twice. */
#define MAINTENANCE_OUTCOME_LOCK_FAILED 9       /* lock returned a status. */
#define MAINTENANCE_OUTCOME_READ_FAILED 10      /* The read under the lock returned a status. */
#define MAINTENANCE_OUTCOME_BACKED_OFF 11       /* Passed over because of its earlier failures. */
#define MAINTENANCE_OUTCOME_ENGINE_FAILED 12    /* maintain returned a status. */
#define MAINTENANCE_OUTCOME_ENGINE_TIMED_OUT 13 /* maintain returned DEADLINE_EXCEEDED. */
#define MAINTENANCE_OUTCOME_INTERRUPTED 14      /* maintain returned CANCELLED. */
#define MAINTENANCE_OUTCOME_FENCED 15           /* Changed; the right to act was lost, so it is not published. */
#define MAINTENANCE_OUTCOME_COUNT 16
#define MAINTENANCE_OUTCOME_CAPACITY 32 /* Room for outcomes of later versions. */

/* Why a tick with status OK ended. */
#define MAINTENANCE_ENDED_BY_UNSET 0              /* The tick's status is not OK. */
#define MAINTENANCE_ENDED_BY_PAGE_DONE 1          /* Every candidate is finished. */
#define MAINTENANCE_ENDED_BY_OPERATIONS 2         /* max_operations were run; the backlog waits. */
#define MAINTENANCE_ENDED_BY_TIME 3               /* The tick's budget is spent; the backlog waits. */
#define MAINTENANCE_ENDED_BY_CANCELLED 4          /* The host wants to stop. */
#define MAINTENANCE_ENDED_BY_FENCED 5             /* The host may no longer act. */
#define MAINTENANCE_ENDED_BY_ENGINE_UNAVAILABLE 6 /* Three UNAVAILABLE or RESOURCE_EXHAUSTED in a row. */
#define MAINTENANCE_ENDED_BY_NOTHING_TO_DO 7      /* No candidate was found. */

/* tick_context.flags: a dry run. Names the keys of the candidates that the next tick will visit to dry_run_sink, in
 * order, one call each, and changes nothing: no lock, no operation, no publication, no event; cursor, cycle and
 * failures stay as they are. On a registry that stays as it is, and without cancel, fence, time budget or failures, the
 * next tick visits exactly these [P-11]. Written then are status (also what the sink returned), ended_by (the next
 * tick's), cycle_number, scan_requests, duration_ns, overrun_ns and error; the other results are 0. */
#define MAINTENANCE_TICK_DRY_RUN 0x1u

/* Arguments and results of one tick. The host sets the members marked [in] and zeroes the rest; the plugin writes the
 * others on every return, except struct_size. */
typedef struct maintenance_tick_context {
  size_t struct_size;                         /* [in] */
  maintenance_instance* instance;             /* [in] */
  uint32_t flags;                             /* [in] MAINTENANCE_TICK_*; unknown bits are refused. */
  int32_t status;                             /* What the function returned. */
  int32_t ended_by;                           /* MAINTENANCE_ENDED_BY_*. */
  int32_t cycle_completed;                    /* 1: this tick finished the last table before the end of the prefix. */
  const maintenance_bytes_sink* dry_run_sink; /* [in] */
  /* When to call again: the interval, or 0 when nothing but scanning was done and there is more to scan. Where no tick
   * ran it is the interval for UNAVAILABLE, and otherwise says nothing. */
  int64_t call_again_ms;
  uint64_t tick_number;    /* From 1. 0: no tick ran, and the status is the plugin's own, not the scan's. */
  uint64_t cycle_number;   /* From 1: the cycle that this tick worked in. */
  uint64_t backlog_before; /* backlog_before + scanned = sum(outcomes) + backlog_after. [P-8] */
  uint64_t scanned;        /* Entries taken from the registry: at most table_page_size. [P-9] */
  uint64_t backlog_after;
  uint64_t scan_requests;                          /* At most scan_requests_max. [P-9] */
  uint64_t operations;                             /* Calls of maintain: at most max_operations. [P-10] */
  uint64_t generation_changed;                     /* Tables whose re-read bytes differ from the scanned ones. */
  uint64_t outcomes[MAINTENANCE_OUTCOME_CAPACITY]; /* By MAINTENANCE_OUTCOME_*. */
  int64_t duration_ns;
  int64_t overrun_ns; /* By how much the tick outlasted its budget; 0 without one. */
  int64_t scan_ns;
  int64_t lock_wait_ns;
  int64_t engine_ns;
  maintenance_error error;     /* error.struct_size need not be set: it is part of this struct. */
  int32_t cycle_restarted;     /* 1: the cycle was broken off, as the metastore did not accept its continuation. */
  int32_t cycle_short;         /* 1: completed with less than half the tables of the last complete cycle. */
  uint64_t cycle_visited;      /* Tables that ended in an outcome in this cycle, up to this tick's end. */
  uint64_t last_cycle_visited; /* In the last complete cycle before this tick; 0 without one. */
  /* From 3 on: so many ticks in a row ended without an outcome and without a new continuation, though nobody held them
   * back. Below that 0. */
  uint64_t stalled_ticks;
} maintenance_tick_context;

/* The plugin's description; constant, and the same at every call. Never NULL. Any thread, at any time; does not block.
 */
MAINTENANCE_API const maintenance_descriptor* maintenance_describe(void) MAINTENANCE_NOEXCEPT;

/* Registers the plugin's gflags, once per process; a later call is OK and does nothing. A server calls it after loading
 * and before it parses its command line. maintenance_create does it when the host has not. The flags stay registered
 * until the process ends: the library is never unmapped.
 * host_error: out, may be NULL. Threads: any, but not beside another thread that parses or registers flags.
 * Returns OK; ALREADY_EXISTS: a flag of that name exists and is not ours (the message names it and its file), nothing
 * was registered: give settings as options, with MAINTENANCE_CREATE_WITHOUT_GFLAGS; RESOURCE_EXHAUSTED. */
MAINTENANCE_API int32_t maintenance_register_flags(maintenance_error* host_error) MAINTENANCE_NOEXCEPT;

/* Validates settings as maintenance_create would, from options, flags and environment, and creates nothing: what a
 * server calls before it serves. options: in, `count` of them, at most MAINTENANCE_OPTIONS_MAX; may be NULL with 0.
 * Flags count where they are registered, so a host that creates WITHOUT_GFLAGS does not register them either.
 * Threads: any, but not beside one that changes the environment; does not block. Returns OK; INVALID_ARGUMENT: the
 * message names the setting, where its value came from, the value and what is allowed; RESOURCE_EXHAUSTED. */
MAINTENANCE_API int32_t maintenance_check_options(const maintenance_option* options, size_t count,
                                                  maintenance_error* host_error) MAINTENANCE_NOEXCEPT;

/* Creates an instance: all or nothing, but for the flags, which stay registered. Copies what it keeps; settings are
 * immutable from here on. Calls no host function. args: in. host_instance: out, NULL unless OK; the host gives it back
 * to maintenance_destroy. host_error: out, may be NULL. Threads: any, but not beside one that parses or registers flags
 * or changes the environment; does not block. Returns OK; INVALID_ARGUMENT: an argument, a missing host function, a
 * setting or a cursor is wrong (the message says which): change the call; FAILED_PRECONDITION: the host's ABI version
 * is not supported; ALREADY_EXISTS: as maintenance_register_flags; UNIMPLEMENTED: a cursor was given and the capability
 * is not declared; RESOURCE_EXHAUSTED.
 */
MAINTENANCE_API int32_t maintenance_create(const maintenance_create_args* args, maintenance_instance** host_instance,
                                           maintenance_error* host_error) MAINTENANCE_NOEXCEPT;

/* Runs one bounded tick on the calling thread, and returns. Blocks as long as the host's functions do.
 * host_context: in and out. Threads: any, one at a time per instance [P-4].
 * Returns, also in host_context->status: OK: see ended_by; UNAVAILABLE: another tick is running, call later; the scan's
 * status: nothing was done, the next tick tries again (OUT_OF_RANGE: it begins at the first key); INTERNAL: the host
 * broke a rule, which the error names, or the plugin has a fault; INVALID_ARGUMENT: the context is wrong;
 * FAILED_PRECONDITION: another process created the instance [P-5]; UNIMPLEMENTED: a dry run without the capability;
 * RESOURCE_EXHAUSTED: out of memory, nothing is lost. */
MAINTENANCE_API int32_t maintenance_tick(maintenance_tick_context* host_context) MAINTENANCE_NOEXCEPT;

/* The effective settings, each with its source. host_settings: out; struct_size in. Threads: any; returns at once
 * [P-3]. Returns OK; INVALID_ARGUMENT; FAILED_PRECONDITION [P-5]. */
MAINTENANCE_API int32_t maintenance_get_settings(const maintenance_instance* instance,
                                                 maintenance_settings* host_settings) MAINTENANCE_NOEXCEPT;

/* One JSON document for a status page, at most MAINTENANCE_REPORT_SIZE_MAX bytes, given to host_sink in one call on
 * this thread, with no lock held. Threads: any; waits for no operation [P-3]. Returns OK; INVALID_ARGUMENT; what the
 * sink returned; FAILED_PRECONDITION [P-5]; UNIMPLEMENTED; RESOURCE_EXHAUSTED. */
MAINTENANCE_API int32_t maintenance_report(maintenance_instance* instance,
                                           const maintenance_bytes_sink* host_sink) MAINTENANCE_NOEXCEPT;

/* The cursor as one opaque, versioned string of at most 4,352 + 16 x table_page_size bytes, given to host_sink in one
 * call on this thread, with no lock held. Threads: any; waits for no operation [P-3]. Returns OK; INVALID_ARGUMENT;
 * what the sink returned; FAILED_PRECONDITION [P-5]; UNIMPLEMENTED; RESOURCE_EXHAUSTED. */
MAINTENANCE_API int32_t maintenance_export_cursor(maintenance_instance* instance,
                                                  const maintenance_bytes_sink* host_sink) MAINTENANCE_NOEXCEPT;

/* Forgets the failures of one table, or of all when both names are empty, so that it is tried in its next cycle.
 * host_error: out, may be NULL. Threads: any; returns at once [P-3]. Returns OK; NOT_FOUND: nothing is remembered of
 * it; INVALID_ARGUMENT: one name without the other; FAILED_PRECONDITION [P-5]; UNIMPLEMENTED. */
MAINTENANCE_API int32_t maintenance_forget_failures(maintenance_instance* instance, maintenance_bytes table_namespace,
                                                    maintenance_bytes table_name,
                                                    maintenance_error* host_error) MAINTENANCE_NOEXCEPT;

/* Destroys an instance. After OK the plugin calls no host function of it again, and the host makes no call with it.
 * NULL is OK and does nothing. host_error: out, may be NULL. Threads: any; returns at once. Not beside another call on
 * the same instance that may still begin: stop the thread that ticks, then destroy. A tick that has called a host
 * function already is refused, not waited for. Returns OK; FAILED_PRECONDITION: a tick is running (call again when it
 * has returned), or [P-5]; nothing was done. */
MAINTENANCE_API int32_t maintenance_destroy(maintenance_instance* instance,
                                            maintenance_error* host_error) MAINTENANCE_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CARETAKER_PLUGIN_MAINTENANCE_PLUGIN_H_ */
