#!/bin/bash
# The reference host from outside: whole cycles on a sample, wrong command lines, and what signals do to it.
#
#   maintenance_host_test.sh HOST PLUGIN
set -euo pipefail
host=$1 plugin=$2
work=$(mktemp -d)
pid=
trap '[[ -z $pid ]] || kill -KILL "$pid" 2> /dev/null || true; rm -rf "$work"' EXIT
db=$work/db

fail() {
  echo "maintenance_host: $*" >&2
  cat "$work/out" "$work/err" >&2 2> /dev/null || true
  exit 1
}
# expect_exit STATUS PATTERN ARGUMENT...: the status, and a line that matches on stdout or stderr.
expect_exit() {
  local status=0 expected=$1 pattern=$2
  shift 2
  "$host" "$@" > "$work/out" 2> "$work/err" || status=$?
  [[ $status == "$expected" ]] || fail "$*: exit status $status, expected $expected"
  said "$pattern"
}
said() { grep -Eq -- "$1" "$work/out" "$work/err" || fail "does not say: $1"; }
# Everything in the database that a compaction would have written: its table files, by name and content.
table_files() { (cd "$db" && md5sum ./*.sst); }

# A sample, a cycle: three quarters are compacted, and their garbage is gone.
expect_exit 0 '^  maintained +30$' --plugin="$plugin" --db="$db" --seed_tables=40 --cycles=1
said '^  unchanged +10$'
said '^entries: +13440 before, +2670 after$'
said '^ticks: +1, 0 failed, 1 whole cycles$'
said '^tick 1 cycle 1 scanned 40 maintained 30 unchanged 10 backlog 0 ended_by page_done [0-9.]+ ms$'

# A dry run names what the next tick visits, and leaves every table file as it is.
table_files > "$work/before"
expect_exit 0 '^40 tables would be visited; nothing was changed$' --plugin="$plugin" --db="$db" --dry_run
[[ $(grep -c '^tbl/sample' "$work/out") == 40 ]] || fail "--dry_run: not 40 keys"
expect_exit 0 '^tbl/sample0/table00000005$' --plugin="$plugin" --db="$db" --dry_run --maintenance_table_page_size=2
[[ $(wc -l < "$work/out") == 3 ]] || fail "--dry_run: not a page"

# An idle cycle rewrites nothing. (Opening the database flushes the registry's log: look from then on.)
expect_exit 0 '^  unchanged +40$' --plugin="$plugin" --db="$db" --cycles=1
table_files > "$work/before"
expect_exit 0 '^  unchanged +80$' --plugin="$plugin" --db="$db" --cycles=2 --maintenance_interval_secs=1 \
  --maintenance_table_page_size=25
said '^tick 4 cycle 2 scanned 15 unchanged 15 backlog 0 ended_by page_done '
said '^ticks: +4, 0 failed, 2 whole cycles$'
said '^entries: +2670 before, +2670 after$'
table_files | diff "$work/before" - > "$work/out" || fail "an idle cycle has written table files"

# The place in the cycle survives a restart; a damaged one is told, and costs the place alone.
expect_exit 0 '^20 tables would be visited' --plugin="$plugin" --db="$db" --dry_run --maintenance_table_page_size=20
first=$(head -n 1 "$work/out")
mkfifo "$work/ticks"
"$host" --plugin="$plugin" --db="$db" --cursor_file="$work/cursor" --maintenance_table_page_size=20 > "$work/ticks" &
pid=$!
exec 3< "$work/ticks"
grep -q -m 1 '^tick 1 ' <&3 || fail "--cursor_file: no tick"
# It waits for its second tick; asked for its report, it answers.
kill -USR1 "$pid"
grep -q -m 1 '"last_ticks":\[{"tick":1,' <&3 || fail "SIGUSR1: no report"
kill -KILL "$pid"
wait "$pid" 2> /dev/null || true
pid=
exec 3<&-
expect_exit 0 'would be visited' --plugin="$plugin" --db="$db" --cursor_file="$work/cursor" --dry_run \
  --maintenance_table_page_size=20
[[ $(head -n 1 "$work/out") != "$first" ]] || fail "--cursor_file: a killed host begins again at the first key"
echo damaged > "$work/cursor"
expect_exit 0 '^maintenance_host: the walk begins at the first key: cursor: ' --plugin="$plugin" --db="$db" \
  --cursor_file="$work/cursor" --cycles=1
expect_exit 1 "^maintenance_host: cursor file $work: can not be read: " --plugin="$plugin" --db="$db" --cursor_file="$work"

# Quiet, it has its summary only. Where nothing can be printed it says so at the end.
expect_exit 0 '^  unchanged +40$' --plugin="$plugin" --db="$db" --cycles=1 --quiet
[[ $(head -n 1 "$work/out") == 'visits by outcome:' ]] || fail "--quiet: prints more than the summary"
status=0
"$host" --plugin="$plugin" --db="$db" --cycles=1 > /dev/full 2> "$work/err" || status=$?
[[ $status == 1 ]] || fail "stdout full: exit status $status, expected 1"
said '^maintenance_host: stdout: can not be written, so lines are missing'

# The plugin's settings come from flags and environment.
MAINTENANCE_TABLE_PAGE_SIZE=20 expect_exit 0 '^tick 2 cycle 1 scanned 20 ' --plugin="$plugin" --db="$db" --cycles=1 \
  --maintenance_interval_secs=1

# Help needs no database, and no plugin either; without one it says nothing of the plugin's flags.
expect_exit 0 'maintenance_interval_secs' --plugin="$plugin" --help
expect_exit 0 'garbage_threshold_percent' --help
expect_exit 2 "$work/none.so: can not be loaded" --plugin="$work/none.so" --db="$db" --help --nohelp

# serve WORD FLAG...: starts the host on the database, and returns when it has printed a line that begins with WORD.
serve() {
  local word=$1 line=
  shift
  "$host" --plugin="$plugin" --db="$db" "$@" > "$work/lines" 2> "$work/err" &
  pid=$!
  exec 3< "$work/lines"
  while read -r -u 3 line && [[ $line != "$word"* ]]; do :; done
  [[ $line == "$word"* ]] || fail "serve $*: no line begins with $word"
}
# expect_end STATUS: the host's exit status; its remaining lines are in out.
expect_end() {
  local status=0
  cat <&3 > "$work/out"
  wait "$pid" || status=$?
  pid=
  [[ $status == "$1" ]] || fail "exit status $status, expected $1"
}
mkfifo "$work/lines"

# A signal ends a host that waits for its next tick.
for signal in TERM INT; do
  serve tick
  kill "-$signal" "$pid"
  expect_end 0
  said '^ticks: +1, 0 failed, 1 whole cycles$'
done

# And one that is in the middle of a tick, here over 400 tables at once: it leaves the rest.
rm -rf "$db"
serve serving --seed_tables=400 --seed_rows=500 --maintenance_table_page_size=400 --cycles=1
kill -TERM "$pid"
expect_end 0
said '^ticks: +[01], 0 failed, 0 whole cycles$'

# Nothing was lost: what is left is done now, and 100 tables have 500 rows, 300 have 50.
expect_exit 0 ', 1 whole cycles$' --plugin="$plugin" --db="$db" --cycles=1 --maintenance_table_page_size=400
said '^entries: +[0-9]+ before, +65[4-9][0-9]{2} after$'

# And one that is in the middle of a compaction, of a table that holds all the sample's rows: the operation ends, too.
rm -rf "$db"
expect_exit 0 '^  unchanged +12$' --plugin="$plugin" --db="$db" --seed_tables=12 --seed_rows=100000 --cycles=1 \
  --garbage_threshold_percent=100
ldb --db="$db" put tbl/all/rows '{"location":"tables","engine":"rocksdb","current_version":1}' > "$work/out" ||
  fail "ldb: could not put a registration; install rocksdb-tools"
serve serving --cycles=1 --garbage_walk_entries_max=1000000
# RocksDB's own log says when it has begun.
until grep -q compaction_started "$db/LOG"; do kill -0 "$pid" || fail "no compaction"; done
kill -TERM "$pid"
expect_end 0
said '^tick 1 cycle 1 scanned 13 interrupted 1 backlog 12 ended_by cancelled '
# It is the host that says when stopping takes it more than a second.
! grep -q 'still stopping' "$work/err" || fail "an operation is not cancelled within a second"
[[ $(ldb --db="$db" get tbl/all/rows) == *'"current_version":1}' ]] || fail "what was interrupted was published"

# A judgement ends, too: here of all rows, at every one of which it would be found clean.
serve serving --cycles=1 --garbage_walk_entries_max=100000000 --garbage_threshold_percent=100
kill -TERM "$pid"
expect_end 0
! grep -q 'still stopping' "$work/err" || fail "a judgement is not cancelled within a second"
expect_exit 0 '^  engine_timed_out +[1-9]' --plugin="$plugin" --db="$db" --cycles=1 \
  --garbage_walk_entries_max=100000000 --garbage_threshold_percent=100 --maintenance_table_timeout_ms=100

# Of a file that is damaged one table has the trouble, and the summary comes all the same.
expect_exit 0 ', 1 whole cycles$' --plugin="$plugin" --db="$work/damaged" --seed_tables=300 --seed_rows=10 --cycles=1 \
  --garbage_threshold_percent=100 --maintenance_table_page_size=300
# One that RocksDB does not look at while it opens the database.
file=$(ls "$work"/damaged/*.sst | sed -n 5p)
printf '%016d' 0 | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 16)) conv=notrunc 2> "$work/dd"
expect_exit 0 '^entries: +not counted before, +not counted after$' --plugin="$plugin" --db="$work/damaged" --cycles=1 \
  --maintenance_table_page_size=300
said 'maintenance_host: counting entries of .*sst: '
rm -rf "$work/damaged"

# A sample that a signal ends is removed.
rm -rf "$db"
serve making --seed_tables=5000
kill -TERM "$pid"
expect_end 1
said 'sample database .*: the host is stopping; what was made of it is removed'
[[ ! -e $db ]] || fail "half a sample is left"
