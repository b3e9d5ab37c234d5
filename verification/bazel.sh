#!/bin/bash
# Runs Debian's Bazel on this workspace in a clean environment: a JAVA_HOME, CC, PATH or ~/.bazelrc of the caller's
# changes nothing. All scripts call Bazel through this one.
#
#   verification/bazel.sh COMMAND [ARGUMENT...]
#
# CARETAKER_BAZEL_ROOT names a folder for Bazel's output. Without it Bazel uses its own default under HOME, or a folder
# under /var/tmp when HOME is unset or cannot be written.
set -euo pipefail
PATH=/usr/sbin:/usr/bin:/sbin:/bin
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  printf 'bazel: %s\n' "$*" >&2
  exit 1
}

[[ -x /usr/bin/bazel ]] || fail "/usr/bin/bazel: not there; run verification/setup.sh"

options=(--nohome_rc)
output_root=${CARETAKER_BAZEL_ROOT:-}
if [[ -z $output_root && ! -w ${HOME:-/nonexistent} ]]; then
  output_root=/var/tmp/caretaker-bazel-$EUID
fi
if [[ -n $output_root ]]; then
  mkdir -p -m 700 "$output_root"
  # Others may write /var/tmp: what is built and run must not be theirs.
  [[ -O $output_root ]] || fail "$output_root: belongs to another user; set CARETAKER_BAZEL_ROOT to a folder of yours"
  options+=(--output_user_root="$output_root")
fi

# Debian's Bazel is built for the JDK that it depends on; the javac in PATH may lead to a later one.
for jdk in /usr/lib/jvm/java-17-openjdk-*; do
  [[ -x $jdk/bin/java ]] && options+=(--server_javabase="$jdk")
done

exec env -i \
  HOME="${HOME:-$output_root}" \
  LANG=C.UTF-8 \
  PATH="$PATH" \
  TERM="${TERM:-dumb}" \
  USER="$(id -un 2>/dev/null || id -u)" \
  /usr/bin/bazel "${options[@]}" "$@"
