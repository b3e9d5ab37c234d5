#!/bin/bash
# Checks the names at the top of the tree against a list of regular expressions.
#
#   git ls-files -z | top_level.sh LIST
set -euo pipefail
mapfile -t allowed < <(sed -e 's/[[:space:]]*#.*//' -e '/^[[:space:]]*$/d' "$1")
mapfile -d '' -t names < <(cut -z -d/ -f1 | sort -z -u)
((${#names[@]} > 0)) || {
  echo "top level: no file, 0 names seen, at least 1 expected; give the output of git ls-files"
  exit 1
}
expression=$(IFS='|'; echo "${allowed[*]}")
findings=0
for name in "${names[@]}"; do
  [[ $name =~ ^($expression)$ ]] && continue
  echo "top level: not in the list, $name seen, the names of $1 allowed; move it into a folder"
  findings=$((findings + 1))
done
echo "top level: ${#names[@]} names, $findings findings"
((findings == 0))
