#!/usr/bin/python3 -I
"""Proves that what the contracts promise was tested: each scenario names its tests, and each of them passed.

  contracts.py EVENTS FOLDER

EVENTS is what `bazel test --build_event_json_file` wrote. FOLDER holds the contracts: Markdown files of scenarios,

  ### Title
  - Given: ...
  - When: ...
  - Then: ...
  - Test: `//package:target Suite.Case`        one line per test; of a shell test only the target

A case with parameters stands for all its instances. Prints a line for each problem, then one that counts.
"""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_counts  # noqa: E402

PARTS = ("Given", "When", "Then", "Test")
PART = re.compile(r"- (%s): (.*)" % "|".join(PARTS))
TEST = re.compile(r"`(//[\w/.-]*:[\w.-]+)(?: (\w+\.\w+))?`")


def read_scenarios(path):
    """[(title, {part: [text]}, [problem])], in the order of the file."""
    scenarios = []
    last = None
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("### "):
                scenarios.append((line[4:], {part: [] for part in PARTS}, []))
                last = None
            elif scenarios and line.startswith("- "):
                found = PART.fullmatch(line)
                if found:
                    last = scenarios[-1][1][found.group(1)]
                    last.append(found.group(2))
                else:
                    scenarios[-1][2].append("line %d: %s: is none of %s" % (number, line, ", ".join(PARTS)))
            elif line.startswith("  ") and last:
                last[-1] += " " + line.strip()
            elif line.startswith("#"):
                last = None
    return scenarios


def cases_of(results):
    """{label: {case: [how each of its instances ended]}}, cases without their parameters."""
    labels = {}
    for (label, _, _), result in results.items():
        cases = labels.setdefault(label, {})
        for ending, names in zip(("passed", "failed", "skipped"), test_counts.count_cases(result)):
            for name in names:
                # Instance/Suite.Case/Parameter
                plain = re.sub(r"^\w+/(?=\w+\.)|/[^/.]*$", "", name)
                cases.setdefault(plain, []).append(ending)
        cases.setdefault(None, []).append("passed" if result.get("status") == "PASSED" else "failed")
    return labels


def problems_of(title, parts, labels):
    for part in PARTS:
        if not parts[part]:
            yield "has no line '- %s: '" % part
        if part != "Test" and len(parts[part]) > 1:
            yield "has %d lines '- %s: ', 1 allowed" % (len(parts[part]), part)
    for text in parts["Test"]:
        found = TEST.fullmatch(text)
        if not found:
            yield "test %s: is not written `//package:target Suite.Case`" % text
            continue
        label, case = found.groups()
        endings = labels.get(label, {}).get(case)
        if endings is None:
            yield "test %s: did not run, or does not exist" % text
        elif set(endings) != {"passed"}:
            yield "test %s: %s" % (text, ", ".join(sorted(set(endings) - {"passed"})))


def main():
    events, folder = sys.argv[1:]
    labels = cases_of(test_counts.read_results(events))
    files = sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    problems = [] if files else ["%s: holds no contract, 0 files seen, at least 1 expected" % folder]
    seen = {}
    tests = 0
    for name in files:
        scenarios = read_scenarios(os.path.join(folder, name))
        if not scenarios:
            problems.append("%s: has no scenario, 0 seen, at least 1 expected" % name)
        for title, parts, unreadable in scenarios:
            where = "%s: %s: " % (name, title)
            if title in seen:
                problems.append(where + "this title is there already, in %s" % seen[title])
            seen[title] = name
            tests += len(parts["Test"])
            problems += [where + problem for problem in unreadable + list(problems_of(title, parts, labels))]
    for problem in problems:
        print(problem)
    print("contracts: %d scenarios, %d tests, %d problems" % (len(seen), tests, len(problems)))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
