#!/bin/bash
# Checks that no file of a list names what is true of one machine only.
#
#   git ls-files | machine_paths.sh LIST
set -euo pipefail
expressions=$(mktemp)
trap 'rm -f "$expressions"' EXIT
sed -e '/^#/d' -e '/^[[:space:]]*$/d' "$1" > "$expressions"
[[ -s $expressions ]] || {
  echo "machine paths: $1 lists nothing, 0 expressions seen, at least 1 expected; restore the list"
  exit 1
}
mapfile -t files
((${#files[@]} > 0)) || {
  echo "machine paths: no file, 0 seen, at least 1 expected; give the output of git ls-files"
  exit 1
}
findings=0
for file in "${files[@]}"; do
  # A file that was deleted and not yet committed is still listed.
  [[ -f $file ]] || continue
  seen=$(grep -nIE --file="$expressions" -- "$file") || continue
  printf 'machine paths: %s: true of one machine only, %s seen, none allowed; take it at run time\n' "$file" "$seen"
  findings=$((findings + 1))
done
echo "machine paths: ${#files[@]} files, $findings findings"
((findings == 0))
