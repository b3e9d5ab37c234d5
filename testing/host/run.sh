#!/bin/bash
# Sets up what is missing, builds, and maintains the tables of a RocksDB through the loaded plugin for one whole cycle.
#
#   testing/host/run.sh [--db PATH] [--keep] [FLAG...]
#
#   --db PATH  maintains a database of your own: registry in the default column family, rows in `data`. It must exist.
#              Without it a sample of 2,000 tables is made in a temporary folder, and removed at the end.
#   --keep     leaves the sample in place and says where it is
#   FLAG       goes to the host, for example --cycles=0 to serve until Ctrl-C, or --maintenance_table_page_size=500;
#              --help shows all
set -euo pipefail
caller=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly SAMPLE_TABLES=2000

fail() {
  printf 'run: %s\n' "$*" >&2
  exit 2
}

db=
keep=false
flags=()
while (($# > 0)); do
  # gflags takes one dash for two.
  word=$1
  [[ $word != -[!-]* ]] || word=-$word
  case $word in
    --db=*)
      db=${word#*=}
      [[ -n $db ]] || fail "--db: the path is empty; give --db PATH"
      ;;
    --db)
      (($# >= 2)) && [[ -n $2 ]] || fail "--db: no path, seen the end of the line or nothing, a path is needed; give --db PATH"
      db=$2
      shift
      ;;
    --keep) keep=true ;;
    --seed_tables | --seed_tables=*) fail "$1: the sample has $SAMPLE_TABLES tables; for others call the host itself" ;;
    *) flags+=("$1") ;;
  esac
  shift
done
if [[ -n $db ]]; then
  [[ $db == /* ]] || db=$caller/$db
  # Better now than after the build.
  [[ -e $db/CURRENT ]] || fail "database $db: is not there; give the path of one, or no --db for a sample"
fi

echo "run: setting up"
verification/setup.sh
echo "run: building the host and the plugin"
verification/bazel.sh build --config=ci //testing/host:maintenance_host //plugin:libcaretaker.so
bin=$(verification/bazel.sh info --config=ci bazel-bin 2> /dev/null)

seed=()
if [[ -z $db ]]; then
  scratch=$(mktemp -d)
  db=$scratch/sample
  seed=(--seed_tables=$SAMPLE_TABLES)
  if $keep; then
    trap 'echo "run: the sample is left at $db"' EXIT
  else
    trap 'rm -rf "$scratch"; echo "run: the sample is removed"' EXIT
  fi
  echo "run: starting the host: a sample of $SAMPLE_TABLES tables, three quarters of them with most rows deleted," \
    "then one whole cycle, a tick a second"
else
  echo "run: starting the host: one whole cycle, a tick a second"
fi
# From where the caller stands: a flag may name a file.
cd "$caller"
"$bin/testing/host/maintenance_host" --plugin="$bin/plugin/libcaretaker.so" --db="$db" "${seed[@]}" --cycles=1 \
  --maintenance_interval_secs=1 "${flags[@]}" &
host=$!
# Ctrl-C reaches the host by itself, and twice would be too much; another signal to this script is passed on.
trap : INT
trap 'kill -TERM "$host"' TERM HUP
status=0
wait "$host" || status=$?
# A wait that a signal ended says nothing of the host.
while kill -0 "$host" 2> /dev/null; do
  status=0
  wait "$host" || status=$?
done
exit "$status"
