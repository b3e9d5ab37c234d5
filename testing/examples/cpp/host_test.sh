#!/bin/bash
# Runs the host in C++ on the built plugin, and checks what it prints.
set -euo pipefail
host=$1 plugin=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf 'host_test: %s\n' "$*" >&2
  cat "$work/out" "$work/err" >&2 || true
  exit 1
}

"$host" "$plugin" > "$work/out" 2> "$work/err" || fail "exit status $?, expected 0"
diff - "$work/out" >&2 << 'END' || fail "prints something else"
tick 1: scanned 2, operations 1, maintained 1, corrupt 1, next in 60000 ms
tick 2: scanned 1, operations 1, maintained 1, corrupt 0, next in 60000 ms
2 operations
tbl/people/accounts {"location":"d/1","engine":"demo","current_version":5}
tbl/shop/orders {"location":"d/2","engine":"demo"}
tbl/shop/stock {"location":"d/3","engine":"demo","current_version":100}
usr/ann not a table
END
events=$(grep -c '^event: maintenance tick=' "$work/err" || true)
[[ $events == 2 ]] || fail "$events events, expected one for each of 2 ticks"

status=0
"$host" /nonexistent/libcaretaker.so > "$work/out" 2> "$work/err" || status=$?
[[ $status == 2 ]] || fail "without a plugin: exit status $status, expected 2"
grep -qF 'host: plugin /nonexistent/libcaretaker.so: can not be loaded: ' "$work/err" || fail "it does not say why"
