#!/bin/bash
# Installs the packages of verification/packages.txt that are missing; does nothing, quickly, when none is.
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin
cd "$(dirname "${BASH_SOURCE[0]}")"

readonly ATTEMPTS=4
# Mirrors drop connections now and then, and an unattended upgrade may hold the lock for a while.
readonly APT_OPTIONS=(
  -o DPkg::Lock::Timeout=300
  -o Acquire::Retries=3
  -o Acquire::http::Timeout=30
  -o Acquire::https::Timeout=30
  -o Dpkg::Use-Pty=0
)

fail() {
  printf 'setup: %s\n' "$*" >&2
  exit 1
}

wanted_packages() {
  sed -e 's/#.*//' -e '/^[[:space:]]*$/d' -e 's/[[:space:]]*$//' packages.txt
}

missing_packages() {
  local installed
  # dpkg-query fails when it knows one name too few; what it does know is what counts.
  installed=$(dpkg-query --show --showformat='${db:Status-Abbrev} ${Package}\n' "$@" 2>/dev/null || true)
  comm -23 <(printf '%s\n' "$@" | sort -u) <(sed -n 's/^.i  *//p' <<< "$installed" | sort -u)
}

as_root() {
  if [[ $EUID == 0 ]]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

attempt() {
  local attempt
  for ((attempt = 1; attempt <= ATTEMPTS; ++attempt)); do
    as_root "$@" && return
    echo "setup: $1 $2 failed, attempt $attempt of $ATTEMPTS" >&2
  done
  return 1
}

command -v apt-get dpkg-query > /dev/null ||
  fail "apt: not found; this project is built on Debian 12, where apt-get and dpkg-query are present"
mapfile -t wanted < <(wanted_packages)
((${#wanted[@]} > 0)) || fail "packages.txt: names no package, 0 seen, at least 1 expected; restore the file"
mapfile -t missing < <(missing_packages "${wanted[@]}")
if ((${#missing[@]} == 0)); then
  echo "setup: all ${#wanted[@]} packages are installed"
  exit 0
fi

echo "setup: installing ${#missing[@]} of ${#wanted[@]} packages: ${missing[*]}"
if [[ $EUID != 0 ]]; then
  command -v sudo > /dev/null ||
    fail "root: needed to install packages, user $(id -un), and sudo is not installed;" \
      "run as root: apt-get install --no-install-recommends ${missing[*]}"
  sudo -n true 2>/dev/null || [[ -t 0 ]] ||
    fail "sudo: asks for a password and there is no terminal to type it;" \
      "run as root: apt-get install --no-install-recommends ${missing[*]}"
fi

echo "setup: apt-get update"
attempt apt-get "${APT_OPTIONS[@]}" -qq update ||
  fail "apt-get update: failed $ATTEMPTS times; check the network and /etc/apt/sources.list"
echo "setup: apt-get install"
attempt apt-get "${APT_OPTIONS[@]}" -qq install --yes --no-install-recommends "${missing[@]}" > /dev/null ||
  fail "apt-get install: failed $ATTEMPTS times; the packages are Debian 12's (bookworm, main)"

mapfile -t missing < <(missing_packages "${wanted[@]}")
((${#missing[@]} == 0)) || fail "apt-get install: succeeded, but not installed: ${missing[*]}"
echo "setup: done, all ${#wanted[@]} packages are installed"
