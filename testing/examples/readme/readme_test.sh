#!/bin/bash
# Compiles the C of README.md as it stands there, with every warning an error, and runs it on the built plugin.
set -euo pipefail
readme=$1 main=$2 plugin=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n '/^```c$/,/^```$/p' "$readme" | sed '/^```/d' > "$work/readme.c"
lines=$(wc -l < "$work/readme.c")
if ((lines < 10)); then
  echo "README.md: no C in it, $lines lines seen, at least 10 expected; keep the example between \`\`\`c and \`\`\`" >&2
  exit 1
fi
/usr/bin/gcc -std=c11 -Wall -Wextra -Werror -I. "$work/readme.c" "$main" -o "$work/example"
"$work/example" "$plugin"
if "$work/example" /nonexistent/libcaretaker.so; then
  echo "README.md: the example reports success without a plugin" >&2
  exit 1
fi
