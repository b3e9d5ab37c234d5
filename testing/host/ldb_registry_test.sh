#!/bin/bash
# A registry that somebody else made, with RocksDB's own ldb, is maintained: the version of a table that had garbage
# advances, and every other byte, of that value and of all the others, stays.
#
#   ldb_registry_test.sh HOST PLUGIN
set -euo pipefail
host=$1 plugin=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
db=$work/db

fail() {
  echo "ldb_registry: $*" >&2
  cat "$work/out" "$work/err" >&2 2> /dev/null || true
  exit 1
}
command -v ldb > /dev/null || fail "ldb: not found in $PATH, needed to make the registry; install rocksdb-tools"

registry() { ldb --db="$db" "$@"; }
# Left to itself ldb would compact after every fourth call, and leave no garbage.
rows() { ldb --db="$db" --column_family=data --auto_compaction=false "$@"; }
# As hexadecimal digits, so that no byte is lost on the way.
hex() { printf '0x'; printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n' | tr a-f A-F; }
put() { registry --hex put "$(hex "$1")" "$(hex "$2")" "${@:3}" > /dev/null; }
# LOCATION: four rows, three of them deleted.
rows_with_garbage() {
  local row
  for row in 1 2 3 4; do rows put "$1/$row" row > /dev/null; done
  for row in 1 2 3; do rows delete "$1/$row" > /dev/null; done
}

declare -A before after
# Spaces, tabs and line feeds, escapes in keys and values, unknown fields that hold a version themselves.
before[tbl/shop/orders]=$'{ "x":[1,{"current_version":3}] ,\n\t"engine":"rocks\\u0064b", "current\\u005fversion" : 99 ,
 "location":"rows\\/orders" , "n":1e400,"\\u006e":null }'
after[tbl/shop/orders]=${before[tbl/shop/orders]/: 99 ,/: 100 ,}
# As the origin writes it, whole.
before[tbl/shop/items]='{"location":"rows/items","engine":"rocksdb","current_version":7,"incarnation_id":"01J","schema_ipc":[255,0,7]}'
after[tbl/shop/items]=${before[tbl/shop/items]/:7,/:8,}
# The last step that a version can take, and a name with a slash.
before[tbl/shop/a/b]='{"location":"rows/last","engine":"rocksdb","current_version":18446744073709551614}'
after[tbl/shop/a/b]=${before[tbl/shop/a/b]/614/615}
# Garbage, but no version left.
before[tbl/shop/full]='{"location":"rows/full","engine":"rocksdb","current_version":18446744073709551615}'
# No garbage; no rows at all; a range deletion; not to be read; no table.
before[tbl/shop/clean]='{"location":"rows/clean","engine":"rocksdb","current_version":7}'
before[tbl/shop/empty]='{"location":"rows/empty","engine":"rocksdb","current_version":7}'
before[tbl/shop/ranged]='{"location":"rows/ranged","engine":"rocksdb","current_version":1}'
after[tbl/shop/ranged]=${before[tbl/shop/ranged]/:1\}/:2\}}
before[tbl/shop/broken]='{"location":'
before[other/key]='{"current_version":1}'

put tbl/shop/orders "${before[tbl/shop/orders]}" --create_if_missing
for key in "${!before[@]}"; do
  put "$key" "${before[$key]}"
  [[ -n ${after[$key]:-} ]] || after[$key]=${before[$key]}
done
registry create_column_family data > /dev/null
for table in orders items last full; do rows_with_garbage "rows/$table"; done
rows put rows/clean/1 row > /dev/null
for row in 1 2 3 4; do rows put "rows/ranged/$row" row > /dev/null; done
rows deleterange rows/ranged/1 rows/ranged/4 > /dev/null

"$host" --plugin="$plugin" --db="$db" --cycles=1 > "$work/out" 2> "$work/err" || fail "host: exit status $?, expected 0"
grep -Eq '^  maintained +4$' "$work/out" || fail "not four tables were maintained"
grep -Eq '^  unchanged +2$' "$work/out" || fail "not two tables were left as they are"
grep -Eq '^  corrupt +1$' "$work/out" || fail "the broken registration was not counted"
grep -Eq '^  engine_failed +1$' "$work/out" || fail "the table without a next version did not fail"

for key in "${!after[@]}"; do
  seen=$(registry --hex get "$(hex "$key")")
  [[ $seen == "$(hex "${after[$key]}")" ]] || fail "$key: $seen, expected $(hex "${after[$key]}"): ${after[$key]}"
done
keys=$(registry --hex scan | wc -l)
[[ $keys == "${#after[@]}" ]] || fail "registry: $keys keys, expected ${#after[@]}"
for row in orders/4 items/4 last/4 full/4 clean/1 ranged/4; do
  [[ $(rows get "rows/$row") == row ]] || fail "rows/$row: is lost"
done
[[ $(rows scan | wc -l) == 6 ]] || fail "data: $(rows scan | wc -l) rows, expected 6"
