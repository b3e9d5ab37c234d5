#!/bin/bash
# The benchmark at a small size: what it counts, that it prints a ratio, and that it fails where a count is wrong.
#
#   tick_benchmark_test.sh BENCHMARK PLUGIN
set -euo pipefail
benchmark=$1 plugin=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/temporary" "$work/kept"
# Debian's RocksDB is not instrumented: the thread sanitizer does not see what its own threads synchronise by.
echo 'race:librocksdb.so' > "$work/suppressions"
export TSAN_OPTIONS=suppressions=$work/suppressions

fail() {
  echo "tick_benchmark: $*" >&2
  cat "$work/out" >&2
  exit 1
}
# expect_exit STATUS PATTERN ARGUMENT...: the status, and a line that matches on stdout or stderr.
expect_exit() {
  local status=0 expected=$1 pattern=$2
  shift 2
  TMPDIR=$work/temporary "$benchmark" "$@" > "$work/out" 2>&1 || status=$?
  [[ $status == "$expected" ]] || fail "$*: exit status $status, expected $expected"
  grep -Eq -- "$pattern" "$work/out" || fail "$*: does not say: $pattern"
}

# 1,000 tables are seven whole pages and a short one.
measured='candidates=2k floor_ns=[0-9.]+k? ratio=[0-9.]+ tick_ns=[0-9.]+k? unchanged=2k$'
expect_exit 0 "^tick/tables:1000/.* $measured" --plugin="$plugin" --tables=1000 --cycles=2
[[ -z $(ls -A "$work/temporary") ]] || fail "the temporary database is left"

# A kept database is used again. One corrupt registration, one table too few, and the benchmark fails.
expect_exit 0 "^tick/tables:1000/.* $measured" --plugin="$plugin" --tables=50,1000 --cycles=2 --db_dir="$work/kept"
mv "$work/kept/1000" "$work/kept/1001"
expect_exit 1 'ERROR.*tick 8: scanned 104, unchanged 104, both expected 105' --plugin="$plugin" --tables=50,1001 \
  --cycles=1 --db_dir="$work/kept"
ldb --db="$work/kept/1001" put tbl/benchmark0/table '{}' > "$work/out" || fail "ldb: could not put a registration"
expect_exit 1 'ERROR.*tick 1: scanned 128, unchanged 127, both expected 128' --plugin="$plugin" --tables=1001,50 \
  --cycles=1 --db_dir="$work/kept"

expect_exit 1 'none.so: can not be loaded' --plugin="$work/none.so"
expect_exit 1 '--tables: 0 is out of range, allowed 1..100000000' --plugin="$plugin" --tables=10,0
expect_exit 1 'argument word: is no flag' --plugin="$plugin" word
