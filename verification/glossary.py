#!/usr/bin/python3 -I
"""Holds headers to the glossary: one word for one thing.

  glossary.py GLOSSARY HEADER...

The last column of the glossary's table names words that are not used for its first. A header whose code (comments and
strings left out) has one of them as a word of an identifier is a problem, unless the identifier is allowed here.
"""

import re
import sys

# Where the word means another thing than in the glossary's row.
ALLOWED = {
    "fence_token": "of the fence, not the continuation",
    "has_fence_token": "as above",
    "plugin_fence_token": "as above",
}
# Words of two, which mean neither of them.
PHRASES = (("dry", "run"), ("pass", "over"))


def read_glossary(path):
    """{word: [banned]}"""
    words = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) == 3 and cells[0] not in ("word", "---"):
                banned = re.sub(r"\(.*?\)", "", cells[2])
                words[cells[0]] = [word.strip() for word in banned.split(",") if word.strip() not in ("", "-")]
    return words


def code_of(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r'//[^\n]*|"(?:\\.|[^"\\])*"|^#include[^\n]*', " ", text, flags=re.M)


def parts_of(identifier):
    """fence_token -> fence, token; BackedOffTable -> backed, off, table; kPageSizeMax -> k, page, size, max"""
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", identifier)]


def single_words(parts):
    return [part for i, part in enumerate(parts)
            if tuple(parts[i:i + 2]) not in PHRASES and tuple(parts[max(i - 1, 0):i + 1]) not in PHRASES]


def main():
    glossary, headers = sys.argv[1], sys.argv[2:]
    words = read_glossary(glossary)
    problems = []
    if not words:
        problems.append("%s: has no word, 0 seen, at least 1 expected" % glossary)
    if not headers:
        problems.append("no header, 0 seen, at least 1 expected")
    instead = {banned: word for word, bans in words.items() for banned in bans}
    for header in headers:
        with open(header, encoding="utf-8") as source:
            text = source.read()
        for identifier in sorted(set(re.findall(r"[A-Za-z_]\w*", code_of(text))) - set(ALLOWED)):
            for part in single_words(parts_of(identifier)):
                if part in instead:
                    problems.append("%s: %s: says %s, the glossary's word is %s" %
                                    (header, identifier, part, instead[part]))
    for problem in problems:
        print(problem)
    print("glossary: %d words, %d headers, %d problems" % (len(words), len(headers), len(problems)))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
