#!/usr/bin/python3 -I
"""The check of the pages finds each thing that can be wrong with them."""

import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.abspath(sys.argv.pop(1))

GOOD = """# A page
See [the other](other.md#part) and [outside](https://example.com/x).

```sh
echo one > made
test -e made
verification/gate.sh
```
<!-- not run: it would take a day -->
```sh
false
```
<!-- from code/host.c -->
```c
int a;
int b;
```
<!-- compiled by //code:host_test -->
```c
int c;
```
```text
+--+
```
"""


class PagesTest(unittest.TestCase):
    def check(self, page):
        with tempfile.TemporaryDirectory() as work:
            os.mkdir(os.path.join(work, "code"))
            for name, text in (("page.md", page), ("other.md", "# Other\n"), ("code/host.c", "int z;\nint a;\nint b;\n"),
                               ("code/BUILD.bazel", 'name = "host_test"\n')):
                with open(os.path.join(work, name), "w") as out:
                    out.write(text)
            pages = ["page.md"] if page else []
            done = subprocess.run([CHECK] + pages, cwd=work, stdout=subprocess.PIPE, universal_newlines=True)
            return done.returncode, done.stdout

    def test_a_good_page_passes(self):
        status, output = self.check(GOOD)
        self.assertEqual(status, 0, output)
        self.assertIn("pages: 1 pages, 1 blocks run, 1 marked as not run, 2 quotes, 2 links, 0 problems\n", output)

    def test_each_broken_one_is_found(self):
        for old, new, problem in (
            ("test -e made", "test -e not_made", "page.md:4: exit status 1 seen, 0 expected"),
            ("echo one", "false | echo one", "page.md:4: exit status 1 seen"),
            ("<!-- not run: it would take a day -->", "", "exit status 1 seen"),
            ("<!-- from code/host.c -->", "", "has no line '<!-- from FILE -->' before it"),
            ("<!-- from code/host.c -->", "<!-- from code/none.c -->", "code/none.c: is not there"),
            ("int a;\nint b;", "int a;\nint  b;", "does not stand in code/host.c like that"),
            ("//code:host_test", "//code:none_test", "//code:none_test: is no target"),
            ("```text", "```", "language (none): is none of"),
            ("other.md#part", "none.md#part", "link none.md: leads nowhere"),
        ):
            self.assertIn(old, GOOD)
            with self.subTest(problem):
                status, output = self.check(GOOD.replace(old, new))
                self.assertEqual(status, 1, output)
                self.assertIn(problem, output)

    def test_nothing_to_see_is_a_problem(self):
        status, output = self.check("")
        self.assertEqual(status, 1)
        self.assertIn("no page, 0 seen", output)


if __name__ == "__main__":
    unittest.main()
