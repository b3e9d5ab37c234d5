#!/usr/bin/python3 -I
"""Writes the compilation database of the workspace, for clang-tidy and clangd.

  compile_commands.py [FILE]     (default: compile_commands.json at the top of the tree)

Build first: what the build makes must be there.
"""

import json
import os
import subprocess
import sys

WORKSPACE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# gcc's own, which clang does not know.
UNKNOWN_TO_CLANG = {"-fno-canonical-system-headers", "-Wno-free-nonheap-object", "-Wunused-but-set-parameter"}


def bazel(*words):
    command = [os.path.join(WORKSPACE, "verification", "bazel.sh")] + list(words)
    finished = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if finished.returncode:
        sys.exit("compile_commands: bazel %s: failed, its words follow\n%s" % (words[0], finished.stderr))
    return finished.stdout


def main():
    output = sys.argv[1] if len(sys.argv) > 1 else os.path.join(WORKSPACE, "compile_commands.json")
    actions = json.loads(bazel("aquery", "--output=jsonproto", 'mnemonic("CppCompile", //...)'))["actions"]
    # The folder that Bazel compiles in links only what the last build used.
    roots = {"external": bazel("info", "output_base"), "bazel-out": bazel("info", "execution_root")}
    roots = {name: os.path.join(path.strip(), "") for name, path in roots.items()}
    commands = {}
    for action in actions:
        words = [word for word in action["arguments"] if word not in UNKNOWN_TO_CLANG]
        words = [roots.get(word.partition("/")[0], "") + word for word in words]
        source = words[words.index("-c") + 1]
        if not source.startswith("/"):
            commands[source] = {"directory": WORKSPACE, "file": source, "arguments": words}
    if not commands:
        sys.exit("compile_commands: no compilation, 0 seen, at least 1 expected; build //... first")
    with open(output, "w") as database:
        json.dump(list(commands.values()), database, indent=1)


if __name__ == "__main__":
    main()
