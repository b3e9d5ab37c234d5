#!/usr/bin/python3 -I
"""The check of the contracts finds each thing that can be wrong with them."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

CHECK = sys.argv.pop(1)

REPORT = """<testsuites><testsuite>
<testcase classname="PageTest" name="IsBounded" status="run"/>
<testcase classname="PageTest" name="Fails" status="run"><failure/></testcase>
<testcase classname="PageTest" name="IsSkipped" status="run"><skipped/></testcase>
<testcase classname="Sizes/PageTest" name="FitsAll/One" status="run"/>
<testcase classname="Sizes/PageTest" name="FitsAll/Two" status="run"/>
<testcase classname="Sizes/PageTest" name="FitsSome/One" status="run"/>
<testcase classname="Sizes/PageTest" name="FitsSome/Two" status="run"><failure/></testcase>
</testsuite></testsuites>"""

GOOD = """# A contract

### A page is bounded
- Given: a registry of five tables
  and a limit of two
- When: it is walked
- Then: no page has more
- Test: `//a:page_test PageTest.IsBounded`
- Test: `//a:page_test PageTest.FitsAll`

### A host runs
- Given: a host
- When: it is started
- Then: it runs
- Test: `//a:host_test`
"""


class ContractsTest(unittest.TestCase):
    def check(self, contract, files=("contract.md",)):
        with tempfile.TemporaryDirectory() as work:
            events = os.path.join(work, "events.json")
            with open(events, "w") as out:
                for label, status in (("//a:page_test", "FAILED"), ("//a:host_test", "PASSED"), ("//a:bad_test", "FAILED")):
                    report = os.path.join(work, label.replace("/", "_") + ".xml")
                    with open(report, "w") as xml:
                        xml.write(REPORT if label == "//a:page_test" else "<testsuite><testcase name='shell'/></testsuite>")
                    output = [{"name": "test.xml", "uri": "file://" + report}]
                    result = {"status": status, "testActionOutput": output}
                    print(json.dumps({"id": {"testResult": {"label": label}}, "testResult": result}), file=out)
            folder = os.path.join(work, "contracts")
            os.mkdir(folder)
            for name in files:
                with open(os.path.join(folder, name), "w") as out:
                    out.write(contract)
            done = subprocess.run([CHECK, events, folder], stdout=subprocess.PIPE, universal_newlines=True)
            return done.returncode, done.stdout

    def assert_found(self, contract, problem, **options):
        status, output = self.check(contract, **options)
        self.assertEqual(status, 1, output)
        self.assertIn(problem, output)

    def test_a_good_contract_passes(self):
        self.assertEqual(self.check(GOOD), (0, "contracts: 2 scenarios, 3 tests, 0 problems\n"))

    def test_each_broken_one_is_found(self):
        for old, new, problem in (
            ("- Given: a host\n", "", "A host runs: has no line '- Given: '"),
            ("- When: it is started\n", "", "A host runs: has no line '- When: '"),
            ("- Then: it runs\n", "- Then: it runs\n- Then: and runs\n", "has 2 lines '- Then: ', 1 allowed"),
            ("- Then: it runs\n", "- And: it runs\n", "- And: it runs: is none of Given, When, Then, Test"),
            ("- Test: `//a:host_test`\n", "", "A host runs: has no line '- Test: '"),
            ("`//a:host_test`", "//a:host_test", "is not written"),
            ("`//a:host_test`", "`//a:other_test`", "`//a:other_test`: did not run, or does not exist"),
            ("`//a:host_test`", "`//a:bad_test`", "`//a:bad_test`: failed"),
            ("IsBounded", "IsBound", "PageTest.IsBound`: did not run, or does not exist"),
            ("IsBounded", "Fails", "PageTest.Fails`: failed"),
            ("IsBounded", "IsSkipped", "PageTest.IsSkipped`: skipped"),
            ("FitsAll", "FitsSome", "PageTest.FitsSome`: failed"),
            ("### A host runs", "### A page is bounded", "A page is bounded: this title is there already"),
        ):
            self.assertIn(old, GOOD)
            with self.subTest(problem):
                self.assert_found(GOOD.replace(old, new), problem)

    def test_nothing_to_see_is_a_problem(self):
        self.assert_found("# A contract\n", "contract.md: has no scenario, 0 seen")
        self.assert_found(GOOD, "holds no contract, 0 files seen", files=("contract.txt",))


if __name__ == "__main__":
    unittest.main()
