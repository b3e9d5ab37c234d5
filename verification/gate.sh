#!/bin/bash
# The one command for people and for CI: sets up what is missing, checks, builds and tests the tree. The last line is
# "N passed, N failed", counted from the results of the tests; the exit status is 0 only if nothing failed.
#
#   verification/gate.sh [--full]
#
#   --full   adds what takes long: debug, sanitizer and clang builds, clang-tidy, an empty Debian root
#
# With CI=true results of an earlier run are not reused, and no Bazel server is left behind.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# What is checked is the tree, not what a caller's environment makes of it.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

full=false
case ${1:-} in
  '') ;;
  --full) full=true ;;
  *)
    echo "gate: $1: unknown option; known is --full" >&2
    exit 2
    ;;
esac
(($# <= 1)) || {
  echo "gate: $2: one option is allowed, $# seen; give --full or nothing" >&2
  exit 2
}

passed=0
failed=0
skipped=0
summary=()
scratch=$(mktemp -d)

finish() {
  local status=$?
  trap - EXIT
  [[ ${CI:-} != true || ! -x /usr/bin/bazel ]] || verification/bazel.sh shutdown > /dev/null 2>&1 || true
  rm -rf "$scratch"
  # Whatever ended the gate early is a failure, too.
  ((status == 0 || failed > 0)) || failed=1
  ((passed > 0 || failed > 0)) || failed=1
  ((${#summary[@]} == 0)) || printf 'gate: %s\n' "${summary[@]}"
  local numbers="$passed passed, $failed failed"
  ((skipped == 0)) || numbers+=", $skipped skipped"
  echo "$numbers"
  ((failed == 0)) || exit 1
  exit 0
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Runs one step; a step that fails counts as a failure, and the others run all the same. Bash does not end a function
# called from here when a command of it fails, so the functions join their commands.
step() {
  local name=$1 seconds=$SECONDS result=ok failed_before=$failed
  shift
  echo "== $name"
  "$@" || {
    result=FAILED
    # The step may have counted its failures itself.
    ((failed > failed_before)) || failed=$((failed + 1))
  }
  summary+=("$(printf '%-24s %-6s %4d s' "$name" "$result" $((SECONDS - seconds)))")
  [[ $result == ok ]]
}

# A check is a step that counts when it passes as well, like a test.
check() {
  step "$@" || return 0
  passed=$((passed + 1))
}

bazel() {
  verification/bazel.sh "$@"
}

# Tracked files, and new ones that are not ignored: what a commit of everything would hold. Each ends in a NUL, as names
# may hold anything else; a link counts also where it leads nowhere.
tree_files() {
  git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard -- "$@" | while IFS= read -r -d '' file; do
    [[ ! -e $file && ! -L $file ]] || printf '%s\0' "$file"
  done
}

check_format() {
  local files
  mapfile -d '' -t files < <(tree_files '*.h' '*.c' '*.cc' '*.cpp')
  ((${#files[@]} > 0)) || {
    echo "format: no source file, 0 seen, at least 1 expected; run the gate in a git work tree"
    return 1
  }
  /usr/bin/clang-format --dry-run -Werror --ferror-limit=1 "${files[@]}" || {
    echo "format: not formatted, see above; run: clang-format -i FILE"
    return 1
  }
  echo "format: ${#files[@]} files"
}

build() {
  bazel build --config=ci --keep_going "$@" //...
}

# run_tests NAME OPTION...: runs all tests and adds their numbers.
run_tests() {
  local name=$1 events=$scratch/$1.json expected=$scratch/$1.expected numbers status=0
  shift
  local targets='tests(//...) except attr(tags, "[\[ ]manual[,\]]", //...)'
  [[ " $* " != *" --test_tag_filters=-shipped "* ]] || targets="$targets except attr(tags, \"[\[ ]shipped[,\]]\", //...)"
  bazel query --noshow_progress "$targets" > "$expected" 2> "$scratch/query" || {
    cat "$scratch/query"
    return 1
  }
  [[ -s $expected ]] || {
    echo "$name: no test, 0 targets seen, at least 1 expected"
    return 1
  }
  bazel test --config=ci --keep_going --build_event_json_file="$events" "$@" //... || status=$?
  numbers=$(verification/test_counts.py "$events" "$expected") || return 1
  sed '$d' <<< "$numbers"
  local counted
  read -ra counted <<< "$(tail -n 1 <<< "$numbers")"
  passed=$((passed + counted[0]))
  failed=$((failed + counted[1]))
  skipped=$((skipped + counted[2]))
  echo "$name: ${counted[0]} passed, ${counted[1]} failed, ${counted[2]} skipped"
  ((status == 0 && counted[1] == 0))
}

check_dependencies() {
  bazel query --noshow_progress --noimplicit_deps --output=graph --nograph:factored 'deps(//...)' > "$scratch/graph" &&
    bazel query --noshow_progress 'tests(//...) union attr(testonly, 1, //...)' > "$scratch/test_only" &&
    verification/checks/dependencies.py --test_only="$scratch/test_only" < "$scratch/graph" &&
    tree_files '*.h' '*.c' '*.cc' | verification/checks/engine_headers.sh
}

check_top_level() {
  tree_files | verification/checks/top_level.sh verification/checks/top_level.txt
}

check_machine_paths() {
  tree_files | verification/checks/machine_paths.sh verification/checks/machine_paths.txt
}

check_contracts() {
  verification/contracts.py "$scratch/shipped.json" verification/contracts
}

# The public header alone is in a test; all others speak the same language.
check_glossary() {
  local headers
  mapfile -d '' -t headers < <(tree_files ':(glob)plugin/**/*.h' ':(glob)maintenance/**/*.h' ':(glob)registry/**/*.h')
  verification/glossary.py docs/glossary.md "${headers[@]}"
}

check_pages() {
  local pages
  mapfile -d '' -t pages < <(tree_files '*.md')
  verification/pages.py "${pages[@]}"
}

check_lint() {
  local files
  # Without tests: the analyzer does not see through GoogleTest's matchers.
  mapfile -d '' -t files < <(tree_files ':(glob)plugin/**/*.cc' ':(glob)registry/**/*.cc' ':(glob)maintenance/**/*.cc' \
    ':(glob)testing/**/*.cc' ':!*_test.cc')
  ((${#files[@]} > 0)) || return 1
  verification/compile_commands.py "$scratch/compile_commands.json" &&
    printf '%s\0' "${files[@]}" |
    xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet -p "$scratch" --warnings-as-errors='*'
}

cached=()
[[ ${CI:-} != true ]] || cached=(--nocache_test_results)

step "set-up" verification/setup.sh || exit 1
check "format" check_format
check "top level" check_top_level
check "machine paths" check_machine_paths
check "glossary" check_glossary
check "build" build
check "dependencies" check_dependencies
step "tests" run_tests shipped "${cached[@]}" || true
check "contracts" check_contracts
check "pages" check_pages

# What takes long. Tests tagged "shipped" look at the shipped library and say nothing about another build of it.
if $full; then
  for config in debug asan ubsan tsan clang; do
    step "tests, $config" run_tests "$config" --config="$config" --build_tests_only --test_tag_filters=-shipped \
      "${cached[@]}" || true
  done
  check "clang-tidy" check_lint
  check "empty Debian root" verification/bare_root.sh
fi
