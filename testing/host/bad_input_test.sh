#!/bin/bash
# What is wrong with the host's surroundings is said in one clear sentence, with the right exit status, and nothing is
# written. One row per case, see `row`.
#
#   bad_input_test.sh HOST PLUGIN OTHER_ABI_PLUGIN SYMBOL_MISSING_PLUGIN FILE_FAULT
set -euo pipefail
host=$(realpath "$1") plugin=$(realpath "$2") other_abi=$(realpath "$3") symbol_missing=$(realpath "$4")
file_fault=$(realpath "$5")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
rows=0 wrong=0

# Everything that a row could have written, by name and content.
tree() { find . -path ./said -prune -o ! -path './torn/LOG' -printf '%p %y %s %l\n' -type f -exec md5sum {} + | LC_ALL=C sort; }

# row STATUS PATTERN WORD...: runs the words, of which HOST is the host with its plugin. They must end with STATUS, say
# on stderr exactly one line, which matches PATTERN, and leave every file as it was.
row() {
  local expected=$1 pattern=$2 status=0 problems=()
  shift 2
  local words=()
  for word in "$@"; do
    if [[ $word == HOST ]]; then words+=("$host" --plugin="$plugin"); else words+=("$word"); fi
  done
  mkdir -p said
  tree > said/before
  timeout 60 env "${words[@]}" > said/out 2> said/err || status=$?
  tree > said/after
  [[ $status == "$expected" ]] || problems+=("exit status $status, expected $expected")
  [[ $(wc -l < said/err) == 1 ]] || problems+=("$(wc -l < said/err) lines on stderr, expected 1")
  grep -Eq -- "$pattern" said/err || problems+=("does not say: $pattern")
  [[ ! -s said/out || -n ${allow_output:-} ]] || problems+=("says something on stdout")
  diff said/before said/after > said/diff || problems+=("files have changed: $(cat said/diff)")
  rows=$((rows + 1))
  ((${#problems[@]} == 0)) && return
  wrong=$((wrong + 1))
  printf 'bad_input: %s\n' "$*" "${problems[@]/#/  }" "  said: $(cat said/err)" >&2
}

"$host" --plugin="$plugin" --db=db --seed_tables=4 --cycles=1 > /dev/null
cp -r db family && ldb --db=family drop_column_family data > /dev/null
cp -r db damaged && : > damaged/CURRENT
mkdir empty
echo 'no plugin' > file
cp "$plugin" cut.so && truncate -s 10000 cut.so
echo '--maintenance_lock_wait_ms=600001' > flags
echo "--plugin=$other_abi" > other

# The database.
row 1 '^maintenance_host: database none: is not there; give ' HOST --db=none
row 1 '^maintenance_host: database empty: is not there; give ' HOST --db=empty
row 1 '^maintenance_host: database file: is not there; give ' HOST --db=file
row 1 '^maintenance_host: database family: has no column family data.*; make it: ldb --db=family create' HOST --db=family
row 1 '^maintenance_host: database damaged: ' HOST --db=damaged
allow_output=1 row 1 '^maintenance_host: database db: there is something already, which is left alone; give ' \
  HOST --db=db --seed_tables=1
allow_output=1 row 1 '^maintenance_host: database none/db: can not be made: No such file or directory' \
  HOST --db=none/db --seed_tables=1

# Damage is found while RocksDB opens what it reads, and its log may say more.
cp -r db torn && truncate -s 100 "torn/$(cat torn/CURRENT)" && rm -f torn/LOG*
row 1 '^maintenance_host: database torn: Corruption: .*MANIFEST' HOST --db=torn

# The plugin.
row 2 '^maintenance_host: plugin: the path is empty' "$host" --db=db
row 2 '^maintenance_host: plugin none.so: can not be loaded: .*No such file' "$host" --plugin=none.so --db=db
row 2 '^maintenance_host: plugin ./file: can not be loaded: .*' "$host" --plugin=./file --db=db
row 2 '^maintenance_host: plugin ./cut.so: can not be loaded: the file is cut off, 10000 bytes seen, ' "$host" --plugin ./cut.so --db=db
row 2 '^maintenance_host: plugin ./empty: can not be loaded: .*' "$host" -plugin=./empty --db=db
row 2 '^maintenance_host: plugin .*: does not export maintenance_report,' "$host" --plugin="$symbol_missing" --db=db
row 2 '^maintenance_host: plugin .*: does not support ABI version 1 of this host' "$host" --plugin="$other_abi" --db=db

# Flags of the host; what gflags says itself, too.
row 2 "unknown command line flag 'no_such_flag'" HOST --db=db --no_such_flag=1
row 2 "unknown command line flag 'maintenance_tabel'" HOST --db=db --maintenance_tabel=1
row 2 "illegal value 'many'.*'cycles'|'cycles'.*illegal value 'many'|many.*cycles" HOST --db=db --cycles=many
row 2 "illegal value '-1'.*cycles" HOST --db=db --cycles=-1
row 2 "flag '--?db' is missing its argument" HOST --db
row 2 '^maintenance_host: --db: is not given, a path is needed; give --db=PATH$' HOST
row 2 '^maintenance_host: --garbage_threshold_percent: 101 is out of range, allowed 1..100; ' HOST --db=db \
  --garbage_threshold_percent=101
row 2 '^maintenance_host: --seed_tables: 100001 is out of range, allowed 0..100000; ' HOST --db=new --seed_tables=100001
row 2 '^maintenance_host: argument word: is no flag' HOST --db=db word
row 2 '^maintenance_host: --plugin: is .*, but .* is loaded already' HOST --db=db --flagfile=other
row 2 'no_flags' HOST --db=db --flagfile=no_flags

# A bad value of the plugin's, from each source.
row 2 'illegal value .many.*maintenance_table_page_size' HOST --db=db --maintenance_table_page_size=many
row 2 '^maintenance_host: maintenance_table_page_size \(flag\): 0 is out of range, allowed 1..10000' HOST --db=db \
  --maintenance_table_page_size=0
row 2 'maintenance_lock_wait_ms \(flag\): 600001 is out of range, allowed 0..600000' HOST --db=db --flagfile=flags
row 2 'MAINTENANCE_INTERVAL_SECS.*: 86401 is out of range, allowed 1..86400' MAINTENANCE_INTERVAL_SECS=86401 HOST --db=db
row 2 'MAINTENANCE_INTERVAL_SECS.*soon.*allowed 1..86400' MAINTENANCE_INTERVAL_SECS=soon HOST --db=db
row 2 'maintenance_interval_secs \(flag\): 0 is out of range, allowed 1..86400' FLAGS_maintenance_interval_secs=0 HOST \
  --db=db --fromenv=maintenance_interval_secs
row 2 'maintenance_interval_secs' HOST --db=db --fromenv=maintenance_interval_secs

# Without its right to look.
if [[ $EUID == 0 ]]; then
  chmod 755 . && mkdir -m 700 private && cp -r db private/db
  unprivileged() { setpriv --reuid 65534 --clear-groups -- "$@"; }
  if unprivileged test -x "$host" -a -r "$plugin"; then
    row 1 '^maintenance_host: database private/db: can not be looked at: Permission denied; ' bash -c \
      "setpriv --reuid 65534 --clear-groups -- '$host' --plugin='$plugin' --db=private/db"
  else
    echo "bad_input: another user can not run the host from where it is: a database in a private folder is not tried here"
  fi
fi

# In use by another process.
mkfifo lines
"$host" --plugin="$plugin" --db=db > lines 2>&1 &
serving=$!
exec 3< lines
read -r -u 3 _
row 1 '^maintenance_host: database db: .*lock.*; a process has it open: stop that one, or give ' HOST --db=db
kill "$serving"
cat <&3 > /dev/null
wait "$serving"
exec 3<&-

# A file system that can not be written. For root only a mount is one; a machine may not allow that.
if [[ $EUID == 0 ]]; then
  in_mounts() { unshare --mount --propagation private bash -euc "$@" 2> /dev/null; }
  mkdir mounted
  if in_mounts 'mount -t tmpfs none mounted'; then
    # Each row has mounts of its own, so that none is left behind.
    export -f row tree
    export host plugin
    mounted_row() {
      local result
      result=$(in_mounts "$1
        rows=0 wrong=0
        row \"\${@:2}\" 2>&1
        echo \"\$wrong\"" bash "$@")
      rows=$((rows + 1))
      [[ $result == 0 ]] && return
      wrong=$((wrong + 1))
      printf '%s\n' "$result" >&2
    }
    read_only='mount --bind db mounted; mount -o remount,ro,bind mounted;'
    full='mount -t tmpfs -o size=2m none mounted; cp -r db/. mounted; dd if=/dev/zero of=mounted/full bs=4k 2> said/dd || true;'
    mounted_row "$read_only" 1 '^maintenance_host: database mounted: .*Read-only file system; the host writes: make it ' \
      HOST --db=mounted
    mounted_row "$full" 1 '^maintenance_host: database mounted: its disk is full, [0-9]+ bytes are free, at least ' \
      HOST --db=mounted
    allow_output=1 mounted_row "$read_only" 1 \
      '^maintenance_host: database mounted/new: can not be made: Read-only file system' \
      HOST --db=mounted/new --seed_tables=1
    allow_output=1 mounted_row "$full" 1 '^maintenance_host: .*database mounted/new: .*(disk is full|No space left)' \
      HOST --db=mounted/new --seed_tables=1
    allow_output=1 mounted_row 'mount -t tmpfs -o size=40m none mounted;' 1 \
      '^maintenance_host: sample database mounted/new: .*No space left on device.*removed' \
      HOST --db=mounted/new --seed_tables=1 --seed_rows=100000 --seed_tables=100
  else
    echo "bad_input: this machine allows no mounts: a read-only and a full file system are not tried here"
  fi
fi

# A disk that becomes full while the host serves, seen from each file that it writes: the host ends, says so, and the
# next start is as good as any.
for fault in 'write .sst 2' 'sync .sst 3' 'write MANIFEST 9' 'sync MANIFEST 3' 'write .log 1' 'sync .log 2'; do
  rm -rf filling
  "$host" --plugin="$plugin" --db=filling --seed_tables=8 --cycles=1 --garbage_threshold_percent=100 > /dev/null
  status=0
  FILE_FAULT="no_space $fault" LD_PRELOAD=$file_fault timeout 60 "$host" --plugin="$plugin" --db=filling --cycles=1 \
    > said/out 2> said/err || status=$?
  rows=$((rows + 1))
  [[ $status == 1 ]] && grep -Eq '^maintenance_host: gives up: database filling: .*No space left.*; RocksDB writes' said/err &&
    "$host" --plugin="$plugin" --db=filling --cycles=1 > said/out 2> said/err &&
    grep -q ' 1 whole cycles$' said/out && continue
  wrong=$((wrong + 1))
  printf 'bad_input: no space at: %s: exit status %s\n' "$fault" "$status" >&2
  cat said/out said/err >&2
done
# Only RocksDB's own log: nothing depends on it.
row_status=0
FILE_FAULT="no_space write /LOG 1" LD_PRELOAD=$file_fault "$host" --plugin="$plugin" --db=db --cycles=1 > said/out ||
  row_status=$?
rows=$((rows + 1))
[[ $row_status == 0 ]] || { wrong=$((wrong + 1)); echo "bad_input: no space for LOG: exit status $row_status" >&2; }

echo "bad_input: $rows rows, $wrong wrong"
# Without mounts there are five less.
((rows >= 41 && wrong == 0))
