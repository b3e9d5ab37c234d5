#!/bin/bash
# The reference host from outside: a whole cycle on a sample database, an idle second one, a clean stop, wrong arguments.
set -euo pipefail
host=$1 plugin=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "maintenance_host: $*" >&2
  cat "$work/out" "$work/err" >&2 || true
  exit 1
}
# expect_exit STATUS WORDS ARGUMENT...: the status, and the words on stderr.
expect_exit() {
  local status=0 expected=$1 words=$2
  shift 2
  "$host" "$@" > "$work/out" 2> "$work/err" || status=$?
  [[ $status == "$expected" ]] || fail "$*: exit status $status, expected $expected"
  grep -q -- "$words" "$work/out" "$work/err" || fail "$*: does not say: $words"
}

expect_exit 0 "30 tables maintained" --plugin="$plugin" --db="$work/db" --seed_tables=40 --cycles=1
grep -q "10 tables unchanged" "$work/out" || fail "the clean quarter was not left alone"
grep -q "^entries: 13440 before, 2670 after$" "$work/out" || fail "entries are not those of 40 tables"
expect_exit 0 "40 tables unchanged" --plugin="$plugin" --db="$work/db" --cycles=1
expect_exit 0 "80 tables unchanged" --plugin="$plugin" --db="$work/db" --cycles=2 --maintenance_table_page_size=9 \
  --maintenance_interval_secs=1 --maintenance_max_operations=40

expect_exit 2 "the path is empty" --db="$work/db"
expect_exit 2 "$work/none.so: can not be loaded" --plugin="$work/none.so" --db="$work/db"
expect_exit 2 "maintenance_table_page_size (flag): 0 is out of range, allowed 1..10000" --plugin="$plugin" \
  --db="$work/db" --maintenance_table_page_size=0
expect_exit 2 "--db: is not given" --plugin="$plugin"
expect_exit 1 "database $work/none: is not there" --plugin="$plugin" --db="$work/none"
expect_exit 1 "database $work/db: is there already" --plugin="$plugin" --db="$work/db" --seed_tables=1

# It serves until SIGTERM, and then ends well: told by its own lines, not by the clock.
mkfifo "$work/lines"
"$host" --plugin="$plugin" --db="$work/db" > "$work/lines" 2> "$work/err" &
pid=$!
exec 3< "$work/lines"
while read -r -u 3 line; do
  [[ $line != tick* ]] || break
done
kill -TERM "$pid"
cat <&3 > "$work/out"
wait "$pid" || fail "SIGTERM: exit status $?, expected 0"
grep -q "1 ticks, 1 whole cycles" "$work/out" || fail "SIGTERM: no summary"
