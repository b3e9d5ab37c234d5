#!/bin/bash
# A registry that RocksDB's own ldb made is maintained: versions advance, and every other byte of the values stays.
set -euo pipefail
host=$1 plugin=$2
db=$(mktemp -d)/db
trap 'rm -rf "$(dirname "$db")"' EXIT

ldb() { /usr/bin/ldb --db="$db" "$@"; }

before='{ "x":[1,{"current_version":3}] , "engine":"rocks\u0064b", "current_version" : 99 ,"location":"rows\/orders"}'
after='{ "x":[1,{"current_version":3}] , "engine":"rocks\u0064b", "current_version" : 100 ,"location":"rows\/orders"}'
clean='{"location":"rows/clean","engine":"rocksdb","current_version":7}'
ldb put tbl/shop/orders "$before" --create_if_missing > /dev/null
ldb put tbl/shop/clean "$clean" > /dev/null
ldb put tbl/shop/broken '{"location":' > /dev/null
ldb create_column_family data > /dev/null
for row in 1 2 3 4; do ldb --column_family=data put "rows/orders/$row" row > /dev/null; done
for row in 1 2 3; do ldb --column_family=data delete "rows/orders/$row" > /dev/null; done
ldb --column_family=data put rows/clean/1 row > /dev/null

"$host" --plugin="$plugin" --db="$db" --cycles=1

expect() {
  local seen
  seen=$(ldb get "$1")
  [[ $seen == "$2" ]] || {
    printf '%s: not as expected\nseen     %s\nexpected %s\n' "$1" "$seen" "$2" >&2
    exit 1
  }
}
expect tbl/shop/orders "$after"
expect tbl/shop/clean "$clean"
expect tbl/shop/broken '{"location":'
[[ $(ldb --column_family=data get rows/orders/4) == row ]]
rows=$(ldb --column_family=data scan | wc -l)
[[ $rows == 2 ]] || {
  echo "data: $rows rows, 2 expected" >&2
  exit 1
}
