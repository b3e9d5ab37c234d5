"""Stands in for the archives that Bazel 4.2.3 would download; a newer Bazel brings its own."""

_RULES_CC = "/usr/share/bazel/rules/cc"

# Debian's rules_cc 0.0.4 loads a symbol that Bazel 4.2.3 does not have.
_USE_CPP_TOOLCHAIN = [
    "cc/private/rules_impl/cc_flags_supplier.bzl",
    "cc/private/rules_impl/compiler_flag.bzl",
]

def _rules_cc_impl(rctx):
    if not rctx.path(_RULES_CC).exists:
        fail("\n%s: not there\nInstall it with: apt-get install bazel-rules-cc" % _RULES_CC)
    copied = rctx.execute(["cp", "-rL", _RULES_CC + "/.", "."])
    if copied.return_code:
        fail("copying %s: %s" % (_RULES_CC, copied.stderr))
    for path in _USE_CPP_TOOLCHAIN:
        text = rctx.read(path)
        text = text.replace(", \"use_cpp_toolchain\"", "").replace("\"use_cpp_toolchain\", ", "")
        text = text.replace("use_cpp_toolchain()", "[\"@bazel_tools//tools/cpp:toolchain_type\"]")
        rctx.file(path, text)

_rules_cc = repository_rule(_rules_cc_impl, local = True)

def _text_repository_impl(rctx):
    for path, text in rctx.attr.files.items():
        rctx.file(path, text)

_text_repository = repository_rule(_text_repository_impl, attrs = {"files": attr.string_dict()})

def _native(rules):
    return "".join(["%s = native.%s\n" % (rule, rule) for rule in rules])

def offline_rules():
    """Declares what Bazel's own WORKSPACE suffix and our BUILD files load."""
    if native.bazel_version:
        return
    _rules_cc(name = "rules_cc")
    _text_repository(name = "rules_java", files = {
        "java/BUILD.bazel": "",
        "java/defs.bzl": _native(["java_binary", "java_import", "java_library", "java_runtime", "java_toolchain"]),
    })
    _text_repository(name = "rules_shell", files = {
        "shell/BUILD.bazel": "",
        "shell/sh_binary.bzl": _native(["sh_binary"]),
        "shell/sh_test.bzl": _native(["sh_test"]),
    })
    _text_repository(name = "remote_coverage_tools", files = {
        "BUILD.bazel": "\n".join([
            "sh_binary(name = %r, srcs = [\"none.sh\"], visibility = [\"//visibility:public\"])" % name
            for name in ["coverage_report_generator", "lcov_merger"]
        ]),
        "none.sh": "",
    })
