#!/usr/bin/env python3
"""`ctest -R docs-links`: proves that check_links.py detects each violation that it names, and accepts what is right."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import check_links

ACCEPTED = [
    "[a](other.md)",
    "[a](other.md#the-second-part)",
    "[a](#own-heading)",
    "[a](code.cpp)",
    '[a](code.cpp "a claim")',
    "[a](sub/)",
    "[a](https://example.invalid/page)",
    "```\n[a](absent.md)\n```",
]
REJECTED = [
    ("[a](absent.md)", "page.md:3: 'absent.md' leads nowhere"),
    ("[a](other.md#the-third-part)", "page.md:3: 'other.md' has no heading '#the-third-part'"),
    ("[a](#absent)", "page.md:3: 'page.md' has no heading '#absent'"),
    ("[a](code.cpp#L10)", "page.md:3: 'code.cpp' has no heading '#L10'"),
    ('[a](code.cpp "another claim")', "page.md:3: 'code.cpp' does not say \"another claim\""),
    ("[a](../../outside.md)", "page.md:3: '../../outside.md' leads nowhere"),
]

LONG = "x" * 121
SIX = "\n".join(["line"] * 6)
KIND = "*Reference for operators: the keys.*"
WELL_FORMED = [
    f"# T\n\n{KIND}\n\n{'x' * 120}\n",
    f"# T\n\n{KIND}\n\n```\n{LONG}\n{SIX}\n{SIX}\n```\n",
    f"# T\n\n{KIND}\n\n    {LONG}\n    {LONG}\n",
    f"# T\n\n{KIND}\n\n| {LONG} |\n|---|\n" + "| x |\n" * 9,
    f"# T\n\n{KIND}\n\n{SIX}\n\n{SIX}\n",
    f"# T\n\n{KIND}\n\n" + "- item\n" * 9,
    f"# T\n\n{KIND}\n\n- {SIX}\n- {SIX}\n",
    f'# T\n\n{KIND}\n\nproven:\n[a claim](../code.cpp "a claim{" " * 90}").\n',
]
MALFORMED = [
    (f"# T\n\n{KIND}\n\n{LONG}\n", ["docs/reference/page.md:5: 121 columns, more than 120"]),
    (f"# T\n\n{KIND}\n\n- {LONG}\n", ["docs/reference/page.md:5: 123 columns, more than 120"]),
    (f"# T\n\n{KIND}\n\nproven by {'x' * 99} [code](../code.cpp)\n", ["docs/reference/page.md:5: 129 columns, more than 120"]),
    (f"# T\n\n{KIND}\n\ntext\n    {LONG}\n", ["docs/reference/page.md:6: 125 columns, more than 120"]),
    (f"# T\n\n{KIND}\n\n{SIX}\nline\nline\n", ["docs/reference/page.md:11: a paragraph of more than 6 lines"]),
    (f"# T\n\n{KIND}\n\n- {SIX}\n  line\n", ["docs/reference/page.md:11: a paragraph of more than 6 lines"]),
    (f"# T\n\n```\n{SIX}\n```\n\n{KIND}\n",
     ["docs/reference/page.md:1: the line after the title does not begin with '*Reference for '"]),
    ("# T\n\n*Tutorial for newcomers.*\n",
     ["docs/reference/page.md:1: the line after the title does not begin with '*Reference for '"]),
    (f"{KIND}\n", ["docs/reference/page.md:1: the line after the title does not begin with '*Reference for '"]),
]


class FormTest(unittest.TestCase):
    def complaints(self, name: str, text: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            (root / name).parent.mkdir(parents=True)
            (root / "docs").mkdir(exist_ok=True)
            (root / name).write_text(text)
            (root / "docs" / "code.cpp").write_text(f'TEST_CASE("a claim{" " * 90}") {{}}\n')
            return check_links.check(root)

    def test_a_page_of_the_right_form_is_accepted(self):
        for text in WELL_FORMED:
            with self.subTest(text):
                self.assertEqual(self.complaints("docs/reference/page.md", text), [])

    def test_a_long_line_a_long_paragraph_and_a_missing_kind_are_named_with_their_line(self):
        for text, complaints in MALFORMED:
            with self.subTest(text):
                self.assertEqual(self.complaints("docs/reference/page.md", text), complaints)

    def test_each_folder_has_its_own_kind(self):
        for folder, kind in check_links.KINDS.items():
            with self.subTest(folder):
                self.assertEqual(self.complaints(f"docs/{folder}/page.md", f"# T\n\n*{kind} for x.*\n"), [])
                self.assertEqual(len(self.complaints(f"docs/{folder}/page.md", "# T\n\n*Other for x.*\n")), 1)

    def test_an_index_has_no_kind_but_the_same_form_and_other_folders_are_free(self):
        self.assertEqual(self.complaints("docs/reference/README.md", "Owns: keys.\n"), [])
        self.assertEqual(len(self.complaints("docs/reference/README.md", LONG)), 1)
        self.assertEqual(self.complaints("bench/README.md", LONG), [])


class LinksTest(unittest.TestCase):
    def complaints(self, body: str, source: bytes = b"") -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            (root / "sub").mkdir()
            (root / "sub" / "inner.hpp").touch()
            (root / "sub" / "source.cpp").write_bytes(source)
            (root / "other.md").write_text("# Other\n\n## The second part\n")
            (root / "code.cpp").write_text('TEST_CASE("a claim") {}\n')
            (root / "page.md").write_text(f"# Own heading\n\n{body}\n")
            return check_links.check(root)

    def test_links_that_lead_somewhere_are_accepted(self):
        for body in ACCEPTED:
            with self.subTest(body):
                self.assertEqual(self.complaints(body), [])

    def test_links_that_lead_nowhere_are_named_with_their_line(self):
        for body, complaint in REJECTED:
            with self.subTest(body):
                self.assertEqual(self.complaints(body), [complaint])

    def test_a_code_span_that_is_a_path_of_the_tree_exists(self):
        for body in ("`code.cpp`", "`sub/`", "`sub/inner.hpp`", "`data/absent.sqlite`", "`sub/NAME/x.cpp`", "`sub/*.cpp`",
                     "```\n`sub/absent.hpp`\n```"):
            with self.subTest(body):
                self.assertEqual(self.complaints(body), [])
        for path in ("sub/absent.hpp", "sub/absent/", "sub/inner.cpp"):
            with self.subTest(path):
                self.assertEqual(self.complaints(f"Code: `{path}`."), [f"page.md:3: there is no '{path}'"])

    def test_a_path_in_a_comment_of_a_source_exists(self):
        for text, complaints in ((b"// See sub/inner.hpp, sub/NAME_x.hpp, sub/*_test.cpp and a/b.hpp.\n", []),
                                 (b"int a;  // sub/absent.hpp\n", ["sub/source.cpp:1: there is no 'sub/absent.hpp'"]),
                                 (b'auto a = "sub/absent.hpp";\n', [])):
            with self.subTest(text):
                self.assertEqual(self.complaints("", source=text), complaints)


if __name__ == "__main__":
    unittest.main()
