#!/usr/bin/python3 -I
"""Counts test cases in what `bazel test --build_event_json_file=EVENTS` wrote.

  test_counts.py EVENTS EXPECTED

EXPECTED lists the test targets that were to run, one per line. Prints a line for each failure and, last, the numbers
"PASSED FAILED SKIPPED". A target that did not run, did not pass or has no case counts as a failure of its own unless
its cases say so already.
"""

import json
import re
import sys
import urllib.parse
import xml.etree.ElementTree


def read_results(path):
    """The last attempt of every run of every target: {(label, run, shard): result}."""
    results = {}
    with open(path) as events:
        for line in events:
            event = json.loads(line)
            if "testResult" in event:
                key = event["id"]["testResult"]
                results[key["label"], key.get("run", 1), key.get("shard", 1)] = event["testResult"]
    return results


def count_cases(result):
    """The names of the cases of a result, by how they ended."""
    passed, failed, skipped = [], [], []
    for output in result.get("testActionOutput", []):
        if output["name"] != "test.xml":
            continue
        try:
            document = xml.etree.ElementTree.parse(urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path))
        except (OSError, xml.etree.ElementTree.ParseError):
            continue
        # A test that left by itself, with status 0 but without a report: Bazel writes one with a case that passed.
        text = "".join(document.getroot().itertext())
        if "[==========] Running " in text and not re.search(r"\[==========\] .* ran\.", text):
            failed.append("(ended before its last case)")
            continue
        for case in document.iter("testcase"):
            name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
            if case.find("failure") is not None or case.find("error") is not None:
                failed.append(name)
            elif case.find("skipped") is not None or case.get("status") == "notrun":
                skipped.append(name)
            else:
                passed.append(name)
    return passed, failed, skipped


def main():
    events, expected = sys.argv[1:]
    try:
        results = read_results(events)
    except (OSError, ValueError) as error:
        print("%s: not readable, %s seen" % (events, error))
        results = {}
    totals = [0, 0, 0]
    for (label, _, _), result in sorted(results.items()):
        passed, failed, skipped = count_cases(result)
        status = result.get("status", "NO_STATUS")
        if status != "PASSED" and not failed:
            failed.append("(%s)" % status)
        elif not passed and not failed and not skipped:
            failed.append("(no case)")
        elif not passed and not failed:
            failed.append("(every case skipped)")
        for name in failed:
            print("failed: %s %s" % (label, name))
        for index, cases in enumerate((passed, failed, skipped)):
            totals[index] += len(cases)
    with open(expected) as labels:
        for label in sorted(set(labels.read().split()) - {label for label, _, _ in results}):
            print("failed: %s (did not run)" % label)
            totals[1] += 1
    print("%d %d %d" % tuple(totals))


if __name__ == "__main__":
    main()
