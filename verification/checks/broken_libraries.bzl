"""Libraries that are broken in one way each, and the tests that the ELF check finds it."""

load("@rules_cc//cc:defs.bzl", "cc_binary")
load("@rules_shell//shell:sh_test.bzl", "sh_test")

_LINK_OPTIONS = {
    "as_needed": "-Wl,--as-needed",
    "nodelete": "-Wl,-z,nodelete",
    "noexecstack": "-Wl,-z,noexecstack",
    "now": "-Wl,-z,now",
    "relro": "-Wl,-z,relro",
}

_LISTS = {
    "constructor_calls": "constructor_calls.txt",
    "exports": "testdata/toy_exports.txt",
    "forbidden_imports": "forbidden_imports.txt",
    "needed": "testdata/toy_needed.txt",
}

def elf_arguments(library, lists = _LISTS):
    return ["--%s=$(rootpath %s)" % item for item in lists.items()] + ["$(rootpath %s)" % library]

def toy_library(name, fault = None, without = [], linkopts = []):
    """A shared object of testdata/toy.cc, in a folder of its own so that its name can be its SONAME.

    Args:
      name: of the target; the file is name/libtoy.so
      fault: the macro of toy.cc that plants a fault, if any
      without: keys of _LINK_OPTIONS to leave out
      linkopts: options that plant a fault
    """
    options = [option for key, option in _LINK_OPTIONS.items() if key not in without]
    if "soname" not in without:
        options.append("-Wl,-soname,libtoy.so")
    cc_binary(
        name = name + "/libtoy.so",
        testonly = True,
        srcs = ["testdata/toy.cc"],
        linkopts = options + linkopts,
        linkshared = True,
        local_defines = [fault] if fault else [],
        tags = ["manual"],
    )

def broken_library_test(name, expected, **kwargs):
    """Tests that elf_check.py fails on the library that toy_library(**kwargs) describes.

    Args:
      name: of the library; the test is name + "_is_found_test"
      expected: regular expression that a finding must match
      **kwargs: the arguments of toy_library
    """
    toy_library(name = name, **kwargs)
    sh_test(
        name = name + "_is_found_test",
        size = "small",
        srcs = ["expect_finding.sh"],
        args = ["'%s'" % expected, "$(rootpath elf_check.py)"] + elf_arguments(name + "/libtoy.so"),
        data = ["elf_check.py", name + "/libtoy.so"] + _LISTS.values(),
        tags = ["shipped"],
    )
