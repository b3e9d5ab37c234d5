#!/bin/bash
# The benchmark measures what it says, on a registry so small that the gate can run it: counts, never a time.
#
#   tick_benchmark_test.sh BENCHMARK PLUGIN
set -euo pipefail
benchmark=$1 plugin=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work
fail() {
  echo "tick_benchmark: $*" >&2
  cat "$work/out" >&2
  exit 1
}
"$benchmark" --plugin="$plugin" --tables=1000,3000 --benchmark_min_time=0.01 > "$work/out" 2>&1 ||
  fail "exit status $?, expected 0"
for tables in 1000 3000; do
  grep -Eq "^tick/tables:$tables/manual_time .* floor_ns=[0-9.]+.* ratio=[0-9.]+.* tick_ns=[0-9.]+.* visited=[1-9]" "$work/out" ||
    fail "no line for $tables tables with a ratio"
done
[[ -z $(find "$work" -name 'registry_database_*') ]] || fail "a database is left"
status=0
"$benchmark" --plugin="$plugin" --tables=100 > "$work/out" 2>&1 || status=$?
[[ $status == 2 ]] && grep -q -- '--tables: 100 seen, numbers in 256..' "$work/out" || fail "too few tables are not refused"
