#!/usr/bin/python3 -I
"""Holds the pages to what they show: runs their commands, finds their code, follows their links.

  pages.py [--list] PAGE...        from the root of the tree

A block of a page is judged by its language and by the line before it:

  sh                      every command is run, in one shell per block, from the root of the tree
    <!-- not run: why -->     is not
    verification/gate.sh      is not: it is what runs this
  c, cpp                  <!-- from FILE -->: stands in FILE, line for line; <!-- compiled by //package:target -->: the
                          test of that name compiles it
  text, json              is shown as it is

Prints a line for each problem, and last the counts. --list prints the commands without running them.
"""

import os
import re
import subprocess
import sys

# A command that takes longer is no command for a page.
COMMAND_SECONDS_MAX = 600
MARK = re.compile(r"<!-- (not run|from|compiled by):? (.*?) -->")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def read_blocks(lines):
    """[(line number, language, mark of the line before, [line])]"""
    blocks = []
    block = None
    before = ""
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            if block is None:
                block = (number, line[3:], before, [])
            else:
                blocks.append(block)
                block = None
        elif block is not None:
            block[3].append(line)
        before = line
    if block is not None:
        blocks.append(block)
    return blocks


def run(commands):
    try:
        done = subprocess.run(["/bin/bash", "-euo", "pipefail", "-c", commands], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True,
                              timeout=COMMAND_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return "took longer than %d s" % COMMAND_SECONDS_MAX
    if done.returncode == 0:
        return None
    return "exit status %d seen, 0 expected: %s" % (done.returncode, done.stdout[-2000:])


def code_problem(kind, target, code):
    if kind == "from":
        if not os.path.isfile(target):
            return "%s: is not there" % target
        with open(target, encoding="utf-8") as source:
            if code in source.read():
                return None
        return "does not stand in %s like that" % target
    if kind == "compiled by":
        package, _, name = target.partition(":")
        build = os.path.join(package[2:], "BUILD.bazel")
        if os.path.isfile(build):
            with open(build, encoding="utf-8") as targets:
                if 'name = "%s"' % name in targets.read():
                    return None
        return "%s: is no target" % target
    return "has no line '<!-- from FILE -->' before it"


def main():
    pages = sys.argv[1:]
    list_only = pages[:1] == ["--list"]
    pages = pages[1:] if list_only else pages
    problems = []
    ran = not_run = quoted = links = 0
    for page in pages:
        with open(page, encoding="utf-8") as text:
            lines = text.read().split("\n")
        for number, language, before, block in read_blocks(lines):
            where = "%s:%d: " % (page, number)
            mark = MARK.fullmatch(before)
            kind, what = mark.groups() if mark else ("", "")
            if language == "sh":
                commands = "\n".join(line for line in block if not line.startswith("verification/gate.sh"))
                if kind == "not run":
                    not_run += 1
                elif list_only:
                    print(commands)
                elif commands.strip():
                    ran += 1
                    print("pages: %s%s" % (where, commands.strip().replace("\n", "; ")), flush=True)
                    problem = run(commands)
                    if problem:
                        problems.append(where + problem)
            elif language in ("c", "cpp"):
                quoted += 1
                problem = code_problem(kind, what, "\n".join(block) + "\n")
                if problem:
                    problems.append(where + problem)
            elif language not in ("text", "json"):
                problems.append(where + "language %s: is none of sh, c, cpp, text, json" % (language or "(none)"))
        for number, line in enumerate(lines, 1):
            for target in LINK.findall(line):
                links += 1
                if "://" not in target and not os.path.exists(os.path.join(os.path.dirname(page), target)):
                    problems.append("%s:%d: link %s: leads nowhere" % (page, number, target))
    if not pages:
        problems.append("no page, 0 seen, at least 1 expected")
    for problem in problems:
        print(problem)
    print("pages: %d pages, %d blocks run, %d marked as not run, %d quotes, %d links, %d problems" %
          (len(pages), ran, not_run, quoted, links, len(problems)))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
