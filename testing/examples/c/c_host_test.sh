#!/bin/bash
# Compiles the host in C as its page says, with every warning an error, runs it, and looks at what it did.
set -euo pipefail
source=$1 plugin=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "c_host: $*" >&2
  cat "$work/out" "$work/err" >&2 2> /dev/null || true
  exit 1
}
/usr/bin/gcc -std=c11 -Wall -Wextra -pedantic -Werror -I. "$source" -o "$work/host" -ldl -lpthread
"$work/host" "$plugin" > "$work/out" 2> "$work/err" || fail "exit status $?, expected 0"
diff "$work/out" - << 'EXPECTED' || fail "prints something else, see above"
tick 1: scanned 3, operations 2, maintained 2
tick 2: scanned 1, operations 1, maintained 0
tbl/shop/items {"location":"t/1","engine":"toy","current_version":8}
tbl/shop/notes not a registration
tbl/shop/orders {"location":"t/2","engine":"toy","current_version":100}
tbl/shop/people {"location":"t/3","engine":"toy","current_version":1}
EXPECTED
[[ $(wc -l < "$work/err") == 1 ]] && grep -q '^event: .*corrupt=1.*tbl/shop/notes' "$work/err" ||
  fail "the corrupt table is not in one event"
status=0
"$work/host" /nonexistent/libcaretaker.so 2> "$work/err" || status=$?
[[ $status == 2 ]] && grep -q '^plugin /nonexistent/libcaretaker.so: can not be loaded: ' "$work/err" ||
  fail "a missing plugin: exit status $status, expected 2"
