#!/usr/bin/python3 -I
"""Checks the direction of dependencies in the output of `bazel query --output=graph --nograph:factored`.

  dependencies.py --test_only=FILE < GRAPH

FILE lists the targets that are test-only (tests among them), one per line. What is checked:
- plugin -> maintenance -> registry, never the other way, and nothing but test-only targets uses testing/
- RocksDB is used by its adapter under registry/ and by testing/ only
- the plugin's library reaches no storage engine and nothing test-only
- no host and no test of it is linked with the flags that the plugin's library brings (both in a process: it exits)
Prints every finding and exits 1 if there is one.
"""

import argparse
import collections
import re
import sys

LIBRARY = "//plugin:libcaretaker.so"
FLAGS = "//plugin:flags"
MAY_USE = {
    "registry": {"registry"},
    "maintenance": {"maintenance", "registry"},
    "plugin": {"plugin", "maintenance", "registry"},
}
ROCKSDB_USERS = re.compile(r"//registry:rocksdb_|//testing[/:]")


def folder(label):
    return re.match(r"//([^/:]*)", label).group(1) if label.startswith("//") else ""


def read_graph(lines):
    graph = collections.defaultdict(set)
    for line in lines:
        labels = re.findall(r'"([^"]*)"', line)
        if len(labels) == 2 and "->" in line:
            graph[labels[0]].add(labels[1])
    return graph


def reachable(graph, start, through=lambda label: True):
    seen, waiting = {start}, [start]
    while waiting:
        label = waiting.pop()
        if label != start and not through(label):
            continue
        waiting.extend(graph[label] - seen)
        seen |= graph[label]
    return seen


def find_faults(graph, test_only):
    for user, used in sorted((user, used) for user in list(graph) for used in graph[user]):
        allowed = MAY_USE.get(folder(user))
        if user not in test_only and folder(user) != "testing" and folder(used) == "testing":
            yield "%s: uses testing, %s seen, none allowed; move what it needs" % (user, used)
        if user not in test_only and allowed and folder(used) in MAY_USE and folder(used) not in allowed:
            names = ", ".join(sorted(allowed))
            yield "%s: uses a folder above, %s seen, %s allowed; turn the dependency round" % (user, used, names)
        if user.startswith("//") and used.startswith("@rocksdb//") and not ROCKSDB_USERS.match(user):
            yield "%s: uses RocksDB, %s seen, only its adapter may; go through the metastore interface" % (user, used)
    for label in sorted(reachable(graph, LIBRARY)):
        if label.startswith("@rocksdb//") or label in test_only or folder(label) == "testing":
            yield "%s: reaches %s, no storage engine and no test code allowed; cut the path" % (LIBRARY, label)
    for user in sorted(graph):
        if folder(user) == "testing" or user.startswith("//plugin/host"):
            # What is inside the library is loaded, not linked.
            if FLAGS in reachable(graph, user, through=lambda label: label != LIBRARY):
                yield "%s: links the plugin's flags, %s seen, none allowed; load %s instead" % (user, FLAGS, LIBRARY)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--test_only", required=True)
    arguments = parser.parse_args()
    with open(arguments.test_only) as lines:
        test_only = set(lines.read().split())
    graph = read_graph(sys.stdin)
    findings = list(find_faults(graph, test_only))
    for label in (LIBRARY, FLAGS):
        if not any(label in used for used in graph.values()) and label not in graph:
            findings.append("%s: not in the graph, %d targets seen; give the whole tree's" % (label, len(graph)))
    for finding in findings:
        print(finding)
    print("dependencies: %d targets, %d findings" % (len(graph), len(findings)))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
