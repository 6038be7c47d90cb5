#!/usr/bin/env python3
"""`ctest -R docs-standards-detects`: scripts/generate-standards writes what its data say, detects a page that differs, and refuses a row
whose test does not exist."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "generate-standards"
HEAD = 'seen = 2026-11-27\ndefault_source = "the list"\n[[section]]\ntitle = "Files"\n'
ROW = {"id": '"PEP 1"', "about": '"a | b"', "state": '"in force"', "does": '"supported"', "what": '"All of it."', "code": '"lib/a.cpp"',
       "tests": '["tests/a_test.cpp: a long name is found", "tests/b_test.py: test_of_a_method"]'}
# A name over two lines, as clang-format breaks it, and one that is only a comment.
SOURCE = '// TEST_CASE("a comment")\nTEST_CASE(\n    "a long name "\n    "is found") {}\nTEST_CASE_FIXTURE(Fixture,\n                  "with a fixture") {}\n'
REJECTED = [  # key, value, the complaint
    ("state", '"old"', "PEP 1.state: must be one of in force, provisional, draft, deferred, rejected"),
    ("does", '"done"', "PEP 1.does: must be one of supported, in part, passes through, refused, not yet, not ours"),
    ("about", "3", "PEP 1.about: must be a str"),
    ("tests", "[]", "PEP 1.tests: what is supported needs a test that shows it"),
    ("tests", '["tests/a_test.cpp: a long name"]', "PEP 1.tests: tests/a_test.cpp has no test 'a long name'"),
    ("tests", '["tests/b_test.py: test_of_a"]', "PEP 1.tests: tests/b_test.py has no test 'test_of_a'"),
    ("tests", '["tests/c_test.py: test_of_a_method"]', "PEP 1.tests: there is no tests/c_test.py"),
    ("tests", '["lib/a.cpp: a long name is found"]', "PEP 1.tests: must be 'tests/FILE: claim', not 'lib/a.cpp: a long name is found'"),
    ("code", '"lib/b.cpp"', "PEP 1.code: there is no lib/b.cpp"),
    ("date", '"today"', "PEP 1.date: unknown key, or no date"),
    ("sorce", '"x"', "PEP 1.sorce: unknown key"),
]


def rows(*changes: dict) -> str:
    return HEAD + "".join("[[section.row]]\n" + "".join(f"{key} = {value}\n" for key, value in (ROW | change).items()) for change in changes)


class StandardsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name, text in {"lib/a.cpp": "", "tests/a_test.cpp": SOURCE, "tests/b_test.py": "class T:\n    def test_of_a_method(self):\n"}.items():
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text(text)
        (self.root / "docs" / "reference").mkdir(parents=True)
        self.page = self.root / "docs" / "reference" / "standards.md"

    def generate(self, data: str, *arguments: str):
        self.page.with_suffix(".toml").write_text(data)
        return subprocess.run([sys.executable, "-B", SCRIPT, "--root", self.root, *arguments], capture_output=True, text=True)

    def test_a_row_has_its_links_and_its_source(self):
        done = self.generate(rows({}, {"id": '"PEP 2"', "does": '"not yet"', "tests": "[]", "source": '"a thread"', "date": "2025-01-02"}), "--write")
        self.assertEqual(done.returncode, 0, done.stdout)
        page = self.page.read_text()
        self.assertIn("| PEP 1: a \\| b | in force | **supported.** All of it. `lib/a.cpp` | [a long name is found](../../tests/a_test.cpp); "
                      "[of a method](../../tests/b_test.py) | the list, 2026-11-27 |\n", page)
        self.assertIn("| PEP 2: a \\| b | in force | **not yet.** All of it. `lib/a.cpp` |  | a thread, 2025-01-02 |\n", page)

    def test_check_detects_a_page_that_differs_and_a_test_that_is_renamed(self):
        self.generate(rows({}), "--write")
        self.assertEqual(self.generate(rows({}), "--check").returncode, 0)
        stale = self.generate(rows({"what": '"Half of it."'}), "--check")
        self.assertEqual((stale.returncode, stale.stdout), (1, "standards.md is not what standards.toml says: run scripts/generate-standards --write\n"))
        (self.root / "tests" / "a_test.cpp").write_text(SOURCE.replace("is found", "is there"))
        renamed = self.generate(rows({}), "--check")
        self.assertEqual((renamed.returncode, renamed.stdout),
                         (1, "generate-standards: PEP 1.tests: tests/a_test.cpp has no test 'a long name is found'\n"))

    def test_a_wrong_row_is_named(self):
        for key, value, complaint in REJECTED:
            with self.subTest(key=key, value=value):
                done = self.generate(rows({key: value}), "--write")
                self.assertEqual((done.returncode, done.stdout), (1, f"generate-standards: {complaint}\n"))
        done = self.generate(rows({}, {}), "--write")
        self.assertEqual((done.returncode, done.stdout), (1, "generate-standards: PEP 1: has two rows\n"))
        self.assertFalse(self.page.exists())

    def test_a_test_with_a_fixture_is_one_and_a_comment_is_none(self):
        self.assertEqual(self.generate(rows({"tests": '["tests/a_test.cpp: with a fixture"]'})).returncode, 0)
        self.assertEqual(self.generate(rows({"tests": '["tests/a_test.cpp: a comment"]'})).returncode, 1)


if __name__ == "__main__":
    unittest.main()
