#!/bin/bash
# Passes when a check, fed with something broken in one way, fails and says so: what keeps a check from seeing nothing.
#
#   expect_finding.sh REGULAR_EXPRESSION COMMAND [ARGUMENT...]
#
# Standard input: the file STDIN, if it is set; or the lines of the file NAMES, each ended by a NUL. An empty expression:
# nothing is broken, and the check must pass.
set -euo pipefail
expected=$1
shift
status=0
if [[ -n ${NAMES:-} ]]; then
  output=$(tr '\n' '\0' < "$NAMES" | "$@" 2>&1) || status=$?
else
  output=$("$@" 2>&1 < "${STDIN:-/dev/null}") || status=$?
fi
echo "$output"
if [[ -z $expected ]]; then
  exit "$status"
fi
[[ $status == 1 ]] || {
  echo "$1: did not fail as a check does, exit status $status seen, 1 expected"
  exit 1
}
grep -qE "$expected" <<< "$output" || {
  echo "$1: failed for another reason, see above, a line with $expected expected"
  exit 1
}
