/*
 * Preloaded into a program, makes one file operation of it go wrong:
 *
 *   FILE_FAULT="ACTION OPERATION SUFFIX N" LD_PRELOAD=libfile_fault.so PROGRAM
 *
 * OPERATION: `write` or `sync` (fsync and fdatasync). SUFFIX: how the file's path ends, `.sst` for example; of a path
 * that holds `/MANIFEST-` it is `MANIFEST`. N, from 1: the how manieth such operation of the process.
 * ACTION: `kill_before` it, `kill_half` (of a write: after its first half), `kill_after` it: SIGKILL to the process.
 * `hang`: says so on stderr, and the thread never comes back. `no_space`: this and every later such operation fails
 * with ENOSPC, after half of it was done.
 *
 * A FILE_FAULT that can not be read ends the program with SIGABRT, so that no test passes without its fault.
 * Thread-safe.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

typedef struct fault {
  char action[16];
  char operation[16];
  char suffix[32];
  long at;
} fault;

static fault the_fault;
static atomic_long operations_met;
static ssize_t (*real_write)(int, const void*, size_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void read_fault(void) {
  const char* text = getenv("FILE_FAULT");
  if (text == NULL ||
      sscanf(text, "%15s %15s %31s %ld", the_fault.action, the_fault.operation, the_fault.suffix, &the_fault.at) != 4) {
    abort();
  }
  *(void**)&real_write = dlsym(RTLD_NEXT, "write");
  *(void**)&real_fsync = dlsym(RTLD_NEXT, "fsync");
  *(void**)&real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
}

static int path_matches(int fd) {
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size <= 0) return 0;
  path[size] = '\0';
  if (strcmp(the_fault.suffix, "MANIFEST") == 0) return strstr(path, "/MANIFEST-") != NULL;
  const size_t suffix_size = strlen(the_fault.suffix);
  return (size_t)size >= suffix_size && strcmp(path + size - suffix_size, the_fault.suffix) == 0;
}

/* Does the fault strike this operation? */
static int strikes(const char* operation, int fd) {
  if (strcmp(the_fault.operation, operation) != 0) return 0;
  const int saved = errno;
  const int matches = path_matches(fd);
  errno = saved;
  if (!matches) return 0;
  const long met = atomic_fetch_add(&operations_met, 1) + 1;
  return met == the_fault.at || (met > the_fault.at && strcmp(the_fault.action, "no_space") == 0);
}

static int action_is(const char* action) { return strcmp(the_fault.action, action) == 0; }

static void die(void) {
  static const char words[] = "file_fault: hangs\n";
  if (action_is("hang")) {
    real_write(STDERR_FILENO, words, sizeof words - 1);
  } else {
    kill(getpid(), SIGKILL);
  }
  for (;;) pause();
}

EXPORTED ssize_t write(int fd, const void* data, size_t size) {
  if (!strikes("write", fd)) return real_write(fd, data, size);
  if (action_is("kill_before") || action_is("hang")) die();
  const ssize_t written = real_write(fd, data, action_is("kill_after") ? size : size / 2);
  if (!action_is("no_space")) die();
  /* A disk that fills takes what fits, and says so at the next call. */
  if (written > 0) return written;
  errno = ENOSPC;
  return -1;
}

static int sync_or_fault(int fd, int (*real)(int)) {
  if (!strikes("sync", fd)) return real(fd);
  if (action_is("kill_before") || action_is("kill_half") || action_is("hang")) die();
  if (action_is("kill_after")) {
    real(fd);
    die();
  }
  errno = ENOSPC;
  return -1;
}

EXPORTED int fsync(int fd) { return sync_or_fault(fd, real_fsync); }

EXPORTED int fdatasync(int fd) { return sync_or_fault(fd, real_fdatasync); }
