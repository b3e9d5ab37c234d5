"""Debian's libraries, under the labels of their own Bazel repositories."""

def _pkg_config(rctx, module, flag):
    # What a user added to pkg-config's search path is not what the checks were written for.
    result = rctx.execute(["/usr/bin/pkg-config", flag, module], environment = {"PKG_CONFIG_PATH": ""})
    if result.return_code:
        fail("\npkg-config %s: %s\nInstall it with: apt-get install %s" % (module, result.stderr, rctx.attr.debian))
    return [word for word in result.stdout.strip().split(" ") if word]

def _pkg_config_repository_impl(rctx):
    packages = {"": ["cc_library(name = \"headers\", hdrs = glob([\"include/**\"]), includes = [\"include\"])"]}
    for label, module in rctx.attr.targets.items():
        package, _, name = label[2:].partition(":")
        packages.setdefault(package, []).append(
            "cc_library(name = %r, defines = %r, linkopts = %r, deps = [\"//:headers\"])" % (
                name or package.rpartition("/")[2],
                [word[2:] for word in _pkg_config(rctx, module, "--cflags-only-other") if word.startswith("-D")],
                _pkg_config(rctx, module, "--libs"),
            ),
        )
    for package, rules in packages.items():
        rctx.file(rctx.path(package or ".").get_child("BUILD.bazel"), "\n".join([
            "load(\"@rules_cc//cc:defs.bzl\", \"cc_library\")",
            "package(default_visibility = [\"//visibility:public\"])",
        ] + rules) + "\n")

    # The compiler would find the headers anyway; through these links Bazel sees when a package is upgraded.
    for header in rctx.attr.headers:
        rctx.symlink("/usr/include/" + header, "include/" + header)

_pkg_config_repository = repository_rule(
    _pkg_config_repository_impl,
    attrs = {
        "debian": attr.string(mandatory = True, doc = "The Debian package to name when a module is missing."),
        "headers": attr.string_list(mandatory = True, doc = "The library's folders or files in /usr/include."),
        "targets": attr.string_dict(mandatory = True, doc = "Label in this repository -> pkg-config module."),
    },
    configure = True,
    local = True,
)

_ABSEIL = [
    "//absl/base:core_headers",
    "//absl/cleanup",
    "//absl/container:flat_hash_map",
    "//absl/container:flat_hash_set",
    "//absl/functional:any_invocable",
    "//absl/functional:function_ref",
    "//absl/hash",
    "//absl/status",
    "//absl/status:statusor",
    "//absl/strings",
    "//absl/strings:str_format",
    "//absl/synchronization",
    "//absl/time",
    "//absl/types:optional",
    "//absl/types:span",
]

def system_libraries():
    """Declares one repository per library."""
    _pkg_config_repository(
        name = "com_google_absl",
        debian = "libabsl-dev",
        headers = ["absl"],
        targets = {label: "absl_" + label.replace(":", "/").rpartition("/")[2] for label in _ABSEIL},
    )
    _pkg_config_repository(
        name = "com_github_gflags_gflags",
        debian = "libgflags-dev",
        headers = ["gflags"],
        targets = {"//:gflags": "gflags"},
    )
    _pkg_config_repository(
        name = "com_github_google_glog",
        debian = "libgoogle-glog-dev",
        headers = ["glog"],
        targets = {"//:glog": "libglog"},
    )
    _pkg_config_repository(
        name = "com_google_googletest",
        debian = "libgmock-dev libgtest-dev",
        headers = ["gmock", "gtest"],
        targets = {"//:gtest": "gmock", "//:gtest_main": "gmock_main"},
    )
    _pkg_config_repository(
        name = "com_github_google_benchmark",
        debian = "libbenchmark-dev",
        headers = ["benchmark"],
        targets = {"//:benchmark": "benchmark"},
    )
    _pkg_config_repository(
        name = "rocksdb",
        debian = "librocksdb-dev",
        headers = ["rocksdb"],
        targets = {"//:rocksdb": "rocksdb"},
    )
    _pkg_config_repository(
        name = "simdjson",
        debian = "libsimdjson-dev",
        headers = ["simdjson.h"],
        targets = {"//:simdjson": "simdjson"},
    )
    _pkg_config_repository(
        name = "rapidjson",
        debian = "rapidjson-dev",
        headers = ["rapidjson"],
        targets = {"//:rapidjson": "RapidJSON"},
    )
    _pkg_config_repository(
        name = "xxhash",
        debian = "libxxhash-dev",
        headers = ["xxhash.h", "xxh3.h"],
        targets = {"//:xxhash": "libxxhash"},
    )
