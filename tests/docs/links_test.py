#!/usr/bin/env python3
"""`ctest -R docs-links`: proves that check_links.py tells a link that leads somewhere from one that does not."""

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


class LinksTest(unittest.TestCase):
    def complaints(self, body: str) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            (root / "sub").mkdir()
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


if __name__ == "__main__":
    unittest.main()
