#!/bin/bash
# Checks that a public header compiles alone as every C and C++ that it promises, with two compilers, and holds nothing
# but what a C boundary may hold.
#
#   header_check.sh HEADER LIST_OF_FUNCTIONS
set -euo pipefail
header=$1
functions=$2
findings=0

find_fault() {
  printf '%s: %s\n' "$header" "$*"
  findings=$((findings + 1))
}

source=$(mktemp)
trap 'rm -f "$source"' EXIT
# Twice, for the include guard; the typedef, for ISO C forbids an empty file.
printf '#include "%s"\n#include "%s"\ntypedef int not_empty;\n' "$(realpath "$header")" "$(realpath "$header")" > "$source"

compile() {
  "$@" -pedantic-errors -Wall -Wextra -Werror -fsyntax-only "$source" ||
    find_fault "does not compile alone, see above, with $*; it must, without a warning"
}
for compiler in /usr/bin/gcc /usr/bin/clang; do
  for standard in c99 c11 c17; do
    compile "$compiler" -x c -std="$standard" -Wc++-compat -Wstrict-prototypes
  done
  for standard in c++11 c++17 c++20; do
    compile "$compiler" -x c++ -std="$standard"
  done
done

# Without comments, but with its own directives; both branches of an #if, so gcc complains of names defined twice.
code=$(/usr/bin/gcc -w -x c -fpreprocessed -dD -E -P "$header" 2>/dev/null)

includes=$(grep -oE '#[[:space:]]*include.*' <<< "$code" | sed 's/.*include[[:space:]]*//' | sort -u | tr '\n' ' ')
[[ $includes == '<stddef.h> <stdint.h> ' ]] ||
  find_fault "includes: others than allowed, ${includes:-none }seen, <stddef.h> and <stdint.h> allowed; do without"

refuse() {
  local seen
  seen=$(grep -nE "$2" <<< "$code" | head -n 3) || return 0
  find_fault "$1: found, ${seen//$'\n'/ | } seen, none allowed; use an integer of fixed width"
}
refuse 'enum' '\benum\b'
refuse 'bool' '\b(bool|_Bool)\b'
refuse 'long' '\blong\b'
# A colon stands nowhere else in a header of declarations, whatever macro makes the width.
refuse 'bit-field' ':'

mapfile -t names < <(sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$functions")
((${#names[@]} > 0)) || find_fault "functions: none listed in $functions, 0 seen, at least 1 expected; restore the list"
for name in "${names[@]}"; do
  grep -qE "\b$name\(" <<< "$code" || find_fault "$name: not declared, listed in $functions; declare it, or strike it off"
done

echo "$header: $findings findings"
((findings == 0))
