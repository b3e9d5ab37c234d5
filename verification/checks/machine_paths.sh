#!/bin/bash
# Checks that no file of a list names what is true of one machine only.
#
#   git ls-files -z | machine_paths.sh LIST
#
# Of a link that leads to no file it is the path that counts.
set -euo pipefail
expressions=$(mktemp)
trap 'rm -f "$expressions"' EXIT
sed -e '/^#/d' -e '/^[[:space:]]*$/d' "$1" > "$expressions"
[[ -s $expressions ]] || {
  echo "machine paths: $1 lists nothing, 0 expressions seen, at least 1 expected; restore the list"
  exit 1
}
mapfile -d '' -t files
((${#files[@]} > 0)) || {
  echo "machine paths: no file, 0 seen, at least 1 expected; give the output of git ls-files"
  exit 1
}
findings=0
read=0
for file in "${files[@]}"; do
  status=0
  if [[ -L $file && ! -f $file ]]; then
    seen=$(readlink -- "$file" | grep -nE --file="$expressions") || status=$?
  elif [[ -f $file ]]; then
    seen=$(grep -nIE --file="$expressions" -- "$file") || status=$?
  else
    continue # A file that was deleted and not yet committed is still listed.
  fi
  ((status <= 1)) || {
    echo "machine paths: $file: grep failed with $status, allowed 0 or 1; mend the expressions of $1"
    exit 1
  }
  read=$((read + 1))
  ((status == 0)) || continue
  printf 'machine paths: %s: true of one machine only, %s seen, none allowed; take it at run time\n' "$file" "$seen"
  findings=$((findings + 1))
done
((read > 0)) || {
  echo "machine paths: none of ${#files[@]} files is there, 0 read, at least 1 expected; run it in the root of the tree"
  exit 1
}
echo "machine paths: $read files, $findings findings"
((findings == 0))
