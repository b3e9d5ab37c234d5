#!/bin/bash
# Compiles the host in C as its README.md says, against a copy of the public header and nothing else of this repository,
# and checks what it prints on the built plugin, and what it says when something is wrong. Bazel's build of the same file
# has to print the same.
set -euo pipefail
source=$1 built=$2 header=$3 plugin=$4 other_abi=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'host_test: %s\n' "$*" >&2
  cat "$work/out" "$work/err" >&2 || true
  exit 1
}

# expect_failure STATUS WORDS COMMAND...: the exit status, and a line of stderr that holds the words.
expect_failure() {
  local status=$1 words=$2 seen=0
  shift 2
  "$@" > "$work/out" 2> "$work/err" || seen=$?
  [[ $seen == "$status" ]] || fail "$*: exit status $seen, expected $status"
  grep -qF -- "$words" "$work/err" || fail "$*: stderr lacks: $words"
}

mkdir "$work/plugin"
cp "$header" "$work/plugin/maintenance_plugin.h"
/usr/bin/cc -std=c11 -Wall -Wextra -pedantic -Werror -I "$work" "$source" -o "$work/host"

cat > "$work/expected" << 'END'
tick 1: scanned 3, operations 2, maintained 2, corrupt 0, backlog 1, next in 60000 ms
tick 2: scanned 0, operations 1, maintained 1, corrupt 0, backlog 0, next in 60000 ms
tick 3: scanned 2, operations 1, maintained 1, corrupt 1, backlog 0, next in 60000 ms
caretaker 0.1.0: 4 operations
tbl/people/accounts {"location":"d/1","engine":"demo","current_version":5}
tbl/people/badges {"location":"d/2","engine":"demo","current_version":10,"owner":"ann"}
tbl/shop/baskets {"location":"d/3","engine":"demo","current_version":2,"incarnation_id":"b-2"}
tbl/shop/orders {"location":"d/4","engine":"demo"}
tbl/shop/stock {"location":"d/5","engine":"demo","current_version":100}
usr/ann not a table
END

for host in "$work/host" "$built"; do
  "$host" "$plugin" > "$work/out" 2> "$work/err" || fail "$host: exit status $?, expected 0"
  diff "$work/expected" "$work/out" >&2 || fail "$host: prints something else"
  events=$(grep -c '^event: maintenance tick=' "$work/err" || true)
  [[ $events == 3 ]] || fail "$host: $events events, expected one for each of 3 ticks"
  grep -qF 'corrupt="tbl/shop/orders: registration: current_version is missing' "$work/err" ||
    fail "$host: no event names the corrupt table"
  expect_failure 2 'host: give the path' "$host"
  expect_failure 2 'can not be loaded: the path is empty' "$host" ''
  expect_failure 2 'can not be loaded: /nonexistent/libcaretaker.so: ' "$host" /nonexistent/libcaretaker.so
  expect_failure 2 'maintenance_describe: the plugin does not export it' "$host" libc.so.6
  expect_failure 2 'ABI version 0x1 is needed' "$host" "$other_abi"
  expect_failure 1 'create: status 3: MAINTENANCE_LOCK_WAIT_MS (environment): never is not a whole number' \
    env MAINTENANCE_LOCK_WAIT_MS=never "$host" "$plugin"
done
