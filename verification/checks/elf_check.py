#!/usr/bin/python3 -I
"""Checks what a shared object exports, needs, imports, does while it is loaded, and how it was hardened.

  elf_check.py --exports=LIST --needed=LIST --forbidden_imports=LIST --constructor_calls=LIST LIBRARY

A LIST holds one entry per line, with comments after '#'. Prints every finding and exits 1 if there is one.
"""

import argparse
import os
import re
import subprocess
import sys


def read_list(path):
    with open(path) as lines:
        entries = [line.partition("#")[0].strip() for line in lines]
    entries = [entry for entry in entries if entry]
    if not entries:
        sys.exit("%s: lists nothing, 0 entries seen, at least 1 expected; restore the list" % path)
    return entries


def any_of(expressions):
    return re.compile("|".join("(?:%s)" % expression for expression in expressions))


def run(*command, **options):
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, universal_newlines=True, env=environment, **options
    ).stdout


def readable(name):
    """The demangled name, without parameters: what the lists hold."""
    return run("c++filt", name).strip().partition("(")[0]


GFLAGS_VARIABLE = re.compile(r"(^|:)FLAGS_(no)?\w+$")


class Symbol:
    """A line of `readelf -sW`."""

    def __init__(self, fields):
        self.value = int(fields[1], 16)
        self.type, self.binding = fields[3], fields[4]
        self.section = fields[6]
        self.name = fields[7].partition("@")[0] if len(fields) > 7 else ""
        self.defined = self.section != "UND"


def read_symbols(text):
    # What readelf calls GNU's unique binding in a file whose OS/ABI says "System V".
    rows = [line.replace("<OS specific>: 10", "UNIQUE").split() for line in text.splitlines()]
    return [Symbol(row) for row in rows if len(row) >= 7 and row[0].rstrip(":").isdigit() and row[0] != "0:"]


class Library:
    def __init__(self, path):
        self.path = path
        self.dynamic = run("readelf", "-dW", path)
        self.segments = run("readelf", "-lW", path)
        self.sections = run("readelf", "-SW", path)
        self.relocations = run("readelf", "-rW", path)
        self.dynamic_symbols = read_symbols(run("readelf", "-sW", "--dyn-syms", path).partition(".symtab")[0])
        self.findings = []

    def find(self, subject, wrong, seen, allowed, action):
        self.findings.append("%s: %s, %s seen, %s allowed; %s" % (subject, wrong, seen or "none", allowed, action))

    def tag_values(self, tag):
        return re.findall(r"\(%s\)\s+.*?\[([^]]*)\]" % tag, self.dynamic)

    def has_flag(self, flag):
        return any(flag in line.split() for line in self.dynamic.splitlines() if "(FLAGS" in line)


def check_exports(library, allowed):
    exported = {symbol.name: symbol for symbol in library.dynamic_symbols if symbol.defined}
    for name in sorted(set(allowed) - set(exported)):
        library.find("export " + name, "missing", "", "a function", "mark it visible and list it in exports.lds")
    for name, symbol in sorted(exported.items()):
        if GFLAGS_VARIABLE.search(readable(name)):
            library.find("export " + name, "a gflags variable", name, "none", "define flags without DEFINE_*")
        if name not in allowed:
            library.find("export " + name, "not in the list", name, "the listed names", "hide it")
        elif symbol.type != "FUNC" or symbol.binding != "GLOBAL":
            kind = "%s %s" % (symbol.binding, symbol.type)
            library.find("export " + name, "of the wrong kind", kind, "GLOBAL FUNC", "export a plain function")
        if symbol.binding == "UNIQUE":
            library.find("export " + name, "GNU unique", "UNIQUE", "GLOBAL", "hide it: all copies would share it")


def check_needed(library, allowed):
    needed = library.tag_values("NEEDED")
    if not needed:
        library.find("NEEDED", "empty", "", "libc.so.6 at least", "link a real library")
    for name in needed:
        if name not in allowed:
            library.find("NEEDED " + name, "not in the list", name, "the listed names", "drop it, or list it with a reason")


def check_imports(library, forbidden):
    forbidden = any_of(forbidden)
    imports = [symbol for symbol in library.dynamic_symbols if not symbol.defined and symbol.name]
    if not imports:
        library.find("imports", "empty", "", "at least one", "check that the file is the library")
    for symbol in imports:
        name = readable(symbol.name)
        if forbidden.fullmatch(name):
            library.find("import " + name, "forbidden", name, "see the list", "do without it")
        if GFLAGS_VARIABLE.search(name):
            library.find("import " + name, "a gflags variable", name, "none", "read flags through gflags' functions")
    # A relocation that nothing satisfies is printed, and does not change the exit status.
    path = os.path.abspath(library.path)
    resolved = subprocess.run(
        ["ldd", "-r", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True
    ).stdout
    if "libc.so.6 =>" not in resolved:
        library.find("ldd -r", "did not load the library", resolved.strip(), "a list with libc.so.6", "install what is missing")
    for line in resolved.splitlines():
        if "undefined symbol" in line or "not found" in line:
            library.find("ldd -r", "unresolved", line.strip(), "none", "link what defines it")


def check_hardening(library):
    soname = library.tag_values("SONAME")
    if soname != [os.path.basename(library.path)]:
        library.find("SONAME", "wrong", ", ".join(soname), os.path.basename(library.path), "link with -soname")
    for flag, option in (("BIND_NOW", "-z now"), ("NOW", "-z now"), ("NODELETE", "-z nodelete")):
        if not library.has_flag(flag):
            library.find("dynamic flags", flag + " missing", "", flag, "link with " + option)
    for tag in ("RPATH", "RUNPATH"):
        if "(%s)" % tag in library.dynamic:
            library.find(tag, "present", ", ".join(library.tag_values(tag)), "none", "link without -rpath")
    if "(TEXTREL)" in library.dynamic or library.has_flag("TEXTREL"):
        library.find("TEXTREL", "present", "TEXTREL", "none", "compile with -fPIC")
    if not re.search(r"^\s+GNU_RELRO\s", library.segments, re.MULTILINE):
        library.find("GNU_RELRO", "missing", "", "a RELRO segment", "link with -z relro")
    stack = re.search(r"^\s+GNU_STACK(?:\s+0x[0-9a-f]+){5}\s+([RWE ]+?)\s+0", library.segments, re.MULTILINE)
    if not stack or "E" in stack.group(1):
        library.find("GNU_STACK", "executable or missing", stack and stack.group(1), "RW", "link with -z noexecstack")


def check_thread_local(library):
    # x86-64 and AArch64 spell the relocation of the initial-exec model so.
    initial_exec = re.findall(r"R_\w+_(?:TPOFF64|TPOFF32|TLS_TPREL)\b", library.relocations)
    if library.has_flag("STATIC_TLS") or initial_exec:
        seen = "STATIC_TLS or %d relocations" % len(initial_exec)
        library.find("thread-local storage", "static", seen, "none", "use the dynamic model: dlopen may have no room")


def check_constructors(library, allowed):
    array = re.search(r"\s\.init_array\s+INIT_ARRAY\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)", library.sections)
    if not array:
        return
    first, size = int(array.group(1), 16), int(array.group(2), 16)
    relative = re.compile(r"^([0-9a-f]+)\s+[0-9a-f]+\s+R_\w+_RELATIVE\s+([0-9a-f]+)$", re.MULTILINE)
    relocations = relative.findall(library.relocations)
    constructors = {int(target, 16) for place, target in relocations if first <= int(place, 16) < first + size}
    if len(constructors) != size // 8:
        seen = "%d of %d entries" % (len(constructors), size // 8)
        library.find(".init_array", "not understood", seen, "all", "extend this check")
    allowed = any_of(allowed)
    code = run("objdump", "-d", "--no-show-raw-insn", library.path)
    functions = re.findall(r"^([0-9a-f]+) <([^>]*)>:\n((?:.+\n)*)", code, re.MULTILINE)
    bodies = {int(address, 16): (name, body) for address, name, body in functions}
    for address in sorted(constructors):
        if address not in bodies:
            library.find("constructor", "has no symbol", hex(address), "a function", "build without --strip=always")
            continue
        name, body = bodies[address]
        # Jumps within the function are <name+0x..>. A call through a register can not be judged, so it is refused.
        for target in re.findall(r"\s(?:call|jmp|bl|b)\s+(.*)", body):
            called = re.search(r"<([^>@+]*)[^>]*>", target)
            called = called.group(1) if called else target
            if called != name and not allowed.fullmatch(readable(called)):
                seen = readable(called)
                library.find("constructor " + name, "calls too much", seen, "the listed names", "do it at create")


def main():
    parser = argparse.ArgumentParser()
    for option in ("exports", "needed", "forbidden_imports", "constructor_calls"):
        parser.add_argument("--" + option, type=read_list, required=True)
    parser.add_argument("library")
    arguments = parser.parse_args()
    library = Library(arguments.library)
    check_exports(library, arguments.exports)
    check_needed(library, arguments.needed)
    check_imports(library, arguments.forbidden_imports)
    check_hardening(library)
    check_thread_local(library)
    check_constructors(library, arguments.constructor_calls)
    for finding in library.findings:
        print(finding)
    print("%s: %d findings" % (arguments.library, len(library.findings)))
    return 1 if library.findings else 0


if __name__ == "__main__":
    sys.exit(main())
