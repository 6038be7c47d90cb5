#!/usr/bin/env python3
"""`ctest -R docs-documents`: every name of a document in the code stands in docs/reference/documents.md, once, and the other way round."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = re.compile(r"wheelyard\.[A-Za-z_.-]+/[0-9]+")
TABLE = ROOT / "tests/registry/http/document_rows.hpp"


class DocumentsTest(unittest.TestCase):
    def test_every_name_has_its_row(self):
        code = {name for folder in ("lib", "registry", "builder", "indexer") for path in (ROOT / folder).rglob("*")
                if path.suffix in (".cpp", ".hpp", ".js", ".py", ".sh") and path != TABLE for name in NAME.findall(path.read_text())}
        page = (ROOT / "docs/reference/documents.md").read_text()
        rows = re.findall(rf"^\| `({NAME.pattern})` \|", page, re.MULTILINE)
        self.assertGreater(len(code), 100)
        self.assertEqual(sorted(rows), sorted(set(rows)))
        self.assertEqual(sorted(rows), sorted(code))


if __name__ == "__main__":
    unittest.main()
