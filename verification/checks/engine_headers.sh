#!/bin/bash
# Checks that headers of a storage engine are included by its adapter and by tests only: an include needs no dependency
# that Bazel would know of, as the system's headers are in every search path.
#
#   git ls-files -z '*.h' '*.c' '*.cc' | engine_headers.sh
set -euo pipefail
mapfile -d '' -t files
((${#files[@]} > 0)) || {
  echo "engine headers: no file, 0 seen, at least 1 expected; give the output of git ls-files"
  exit 1
}
findings=0
users=0
for file in "${files[@]}"; do
  seen=$(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"](rocksdb|aws)/' -- "$file") || continue
  users=$((users + 1))
  [[ $file == registry/rocksdb_* || $file == testing/* ]] && continue
  echo "engine headers: $file: includes an engine's header, ${seen%%$'\n'*} seen, none allowed; go through the interface"
  findings=$((findings + 1))
done
((users > 0)) || {
  echo "engine headers: nobody includes one, 0 of ${#files[@]} files seen, at least 1 expected; run it in the root of the tree"
  exit 1
}
echo "engine headers: ${#files[@]} files, $findings findings"
((findings == 0))
