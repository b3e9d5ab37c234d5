#!/bin/bash
# Sets up what is missing, builds, and maintains the tables of a RocksDB through the loaded plugin for one whole cycle.
#
#   testing/host/run.sh [--db PATH] [FLAG...]
#
# Without --db it makes a sample database of 2,000 tables in a temporary folder and removes it at the end. Further flags go
# to the host, for example --cycles=0 to serve until Ctrl-C, or --maintenance_table_page_size=500.
set -euo pipefail
caller=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

db=
if [[ ${1:-} == --db=* ]]; then
  db=${1#--db=}
  shift
elif [[ ${1:-} == --db ]]; then
  (($# >= 2)) || {
    echo "run: --db: no path; give the path of a database" >&2
    exit 2
  }
  db=$2
  shift 2
fi
[[ -z $db || $db == /* ]] || db=$caller/$db

echo "run: setting up"
verification/setup.sh
echo "run: building"
verification/bazel.sh build --config=ci //testing/host:maintenance_host //plugin:libcaretaker.so
bin=$(verification/bazel.sh info --config=ci bazel-bin 2> /dev/null)

seed=()
if [[ -z $db ]]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  db=$scratch/sample
  seed=(--seed_tables=2000)
  echo "run: making a sample database of 2,000 tables, three quarters of them with most rows deleted"
fi
echo "run: one whole cycle, a tick a second"
"$bin/testing/host/maintenance_host" --plugin="$bin/plugin/libcaretaker.so" --db="$db" "${seed[@]}" --cycles=1 \
  --maintenance_interval_secs=1 "$@"
