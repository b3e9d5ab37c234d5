#!/bin/bash
# Every outcome that is not the good one, as a drill shows it: in the summary, in the event, and nothing of it is kept.
#
#   drill_test.sh HOST PLUGIN
set -euo pipefail
host=$1 plugin=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
db=$work/db
fail() {
  echo "drill: $*" >&2
  cat "$work/out" "$work/err" >&2 2> /dev/null || true
  exit 1
}
run() { "$host" --plugin="$plugin" --db="$db" "$@" > "$work/out" 2> "$work/err"; }
run --seed_tables=12 --cycles=1 --garbage_threshold_percent=100 || fail "sample: exit status $?"
ldb --db="$db" scan > "$work/before"

seen=0
for outcome in conflict publish_unknown publish_failed gone dropping corrupt lock_busy lock_failed read_failed \
  engine_failed engine_timed_out interrupted fenced; do
  # The last table, since a fence ends the tick.
  run --cycles=1 --fault="$outcome@table00000009" --maintenance_check_drop_markers --garbage_threshold_percent=100 ||
    fail "$outcome: exit status $?"
  grep -Eq "^  $outcome +1\$" "$work/out" || fail "$outcome: not in the summary"
  grep -Eq "^  unchanged +11\$" "$work/out" || fail "$outcome: the others did not go on"
  case $outcome in
    gone | dropping | interrupted) ;; # Nobody has to look.
    *) grep -q " $outcome=\"tbl/sample4/table00000009" "$work/err" || fail "$outcome: the event does not name the table" ;;
  esac
  ldb --db="$db" scan | diff "$work/before" - > "$work/diff" || fail "$outcome: the registry has changed"
  seen=$((seen + 1))
done
((seen == 13)) || fail "$seen outcomes seen, expected 13"

# A table that failed sits out the next cycle.
run --cycles=2 --fault=engine_failed@table00000009 --maintenance_interval_secs=1 --garbage_threshold_percent=100 ||
  fail "backed_off: exit status $?"
grep -Eq '^  backed_off +1$' "$work/out" || fail "backed_off: not in the summary"

# A word that is none.
status=0
run --cycles=1 --fault=bad || status=$?
[[ $status == 2 ]] && grep -q -- '--fault: bad is no outcome that a drill has, allowed are conflict ' "$work/err" ||
  fail "a wrong word: exit status $status, expected 2"
