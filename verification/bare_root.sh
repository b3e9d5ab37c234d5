#!/bin/bash
# Runs the README's two commands where nothing was installed: in an empty Debian 12 root with git, ca-certificates and
# this machine's apt sources and proxy settings, on a clone of HEAD.
#
#   verification/bare_root.sh [--work-tree] [--keep] [COMMAND...]
#
#   --work-tree  takes the files as they are now instead of HEAD
#   --keep       leaves the root in place and says where it is
#   COMMAND      runs inside the clone, with bash; several are run one after the other, whatever each one's status.
#                Default: testing/host/run.sh, then verification/gate.sh
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly SUITE=bookworm
readonly CLONE=/srv/caretaker

fail() {
  printf 'bare_root: %s\n' "$*" >&2
  exit 1
}

from_work_tree=false
keep=false
while [[ ${1:-} == --* ]]; do
  case $1 in
    --work-tree) from_work_tree=true ;;
    --keep) keep=true ;;
    *) fail "$1: unknown option; known are --work-tree and --keep" ;;
  esac
  shift
done
commands=("$@")
((${#commands[@]} > 0)) || commands=(testing/host/run.sh verification/gate.sh)

[[ $EUID == 0 ]] || fail "user $(id -un): only root can make a root file system; run as root"
command -v debootstrap > /dev/null || fail "debootstrap: not installed; run: apt-get install debootstrap"
$from_work_tree || git rev-parse --quiet --verify HEAD > /dev/null ||
  fail "HEAD: the repository has no commit to clone; commit first, or give --work-tree"

root=$(mktemp -d /var/tmp/caretaker-root.XXXXXX)
# apt inside gives up root to download.
chmod 755 "$root"
cleanup() {
  rm -f "$root.log"
  # The mounts were made in a namespace of their own and went away with its last process.
  if $keep; then
    echo "bare_root: left in place: $root"
  else
    rm -rf --one-file-system "$root"
  fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

mapfile -t sources < <(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
  'Origin: Debian' 'Created-By: Packages' | sort -u)
mirror=$(printf '%s\n' "${sources[@]}" | awk -v suite="$SUITE" '$3 == suite && $4 == "main" { print $2; exit }')
[[ -n $mirror ]] || fail "apt: knows no source of $SUITE main, ${#sources[@]} others seen; run apt-get update"

echo "bare_root: debootstrap $SUITE"
debootstrap --variant=minbase --include=git,ca-certificates "$SUITE" "$root" "$mirror" > "$root.log" 2>&1 || {
  tail -n 20 "$root.log" >&2
  fail "debootstrap: failed, its last lines are above"
}

printf '%s\n' "${sources[@]}" > "$root/etc/apt/sources.list"
apt-config dump | grep '^Acquire::' > "$root/etc/apt/apt.conf.d/90this-machine" || true
for settings in /etc/apt/auth.conf.d /etc/apt/trusted.gpg.d /etc/apt/keyrings /usr/local/share/ca-certificates; do
  [[ ! -d $settings ]] || cp -a "$settings/." "$root$settings/"
done
chroot "$root" update-ca-certificates > /dev/null 2>&1
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"

if $from_work_tree; then
  mkdir -p "$root$CLONE"
  git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from=- | tar -x -C "$root$CLONE"
  chroot "$root" bash -c "cd $CLONE && git init --quiet && git add --all"
else
  git clone --quiet --no-hardlinks . "$root$CLONE"
fi

# The namespaces end with their first process: no mount and no server of the inside outlives this script.
inside() {
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child bash -c '
    set -eu
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    exec chroot "$1" /usr/bin/env -i HOME=/var/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CI=true \
      http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" no_proxy="${no_proxy:-}" \
      bash -c "cd $2 && $3"
  ' inside "$root" "$CLONE" "$1"
}

failures=0
results=()
for command in "${commands[@]}"; do
  echo "bare_root: $command"
  status=0
  seconds=$SECONDS
  inside "$command" || status=$?
  results+=("$command: exit status $status, $((SECONDS - seconds)) s")
  ((status == 0)) || failures=$((failures + 1))
done
printf 'bare_root: %s\n' "${results[@]}"
((failures == 0)) || fail "$failures of ${#commands[@]} commands failed"
