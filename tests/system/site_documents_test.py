"""The rendered scripts against the commands of the sites' documents: every difference is on a list with its reason."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support.case import main
from support.farm import ROOT

sys.path.insert(0, str(ROOT / "tests" / "sites"))
import compare  # noqa: E402
import facts  # noqa: E402
import items  # noqa: E402


class SiteDocumentsTest(unittest.TestCase):
    def test_every_difference_from_the_documents_has_its_reason(self):
        for site in compare.DOCUMENTS:
            with self.subTest(site):
                self.assertEqual(compare.compare(site), [])

    def test_every_item_of_the_documents_has_its_place_or_a_reason(self):
        for site in compare.DOCUMENTS:
            with self.subTest(site):
                self.assertEqual(items.check(site), [])
                self.assertEqual(items.uncovered_commands(site), [])
        table = items.table()
        self.assertIn(table, (ROOT / "docs/how-to/sites/README.md").read_text(), "tests/sites/items.py prints the table")

    def test_an_item_without_its_text_its_file_or_a_reason_is_found(self):
        rows = {"no such words": ("page", "no such words"), "in no file": ("nowhere", ""), "no reason": ("", "")}
        for says, (where, text) in rows.items():
            with self.subTest(says):
                self.assertEqual(len(items.check("bede-gh200", [(says, where, text, "")])), 1)
        self.assertIn("bede-gh200: no item has the document's command: module gcc/12.2", items.uncovered_commands("bede-gh200", []))

    def test_a_command_without_a_reason_and_an_entry_without_use_are_found(self):
        difference = compare.Difference({"document": ["make"], "script": ["cmake .*"], "why": "x"})
        self.assertFalse(difference.covers("document", "make install"))
        self.assertTrue(difference.covers("script", "cmake -B build"))
        self.assertEqual(difference.unused(), [("document", "make")])

    def test_the_pages_sed_leaves_no_project_user_or_registry_of_the_example(self):
        for site in facts.SITES:
            with self.subTest(site), tempfile.TemporaryDirectory() as folder:
                page = (ROOT / "docs" / "how-to" / "sites" / f"{site}.md").read_text().replace("\\\n", " ")
                [command] = re.findall(r"^    (sed -i .*REGISTRY.*)", page, re.MULTILINE)
                copy = Path(folder, "site-configs", site)
                shutil.copytree(ROOT / "site-configs" / site, copy)
                subprocess.run(["bash", "-c", command], cwd=folder, check=True)
                known = facts.read_facts(site)
                for file in copy.glob("*.toml"):
                    for example in (known["project"], known["user"], "wheels.example.org"):
                        self.assertNotIn(example, file.read_text(), file.name)

    def test_commands_are_normalised(self):
        for line, commands in {
            "$ module -q load gcc/12.2 cuda": ["module gcc/12.2", "module cuda"],
            'export A="x y"': ["env A=x y"],
            "CC=cc CXX=CC python setup.py install": ["env CC=cc", "env CXX=CC", "python setup.py install"],
            "#SBATCH --nodes=1   # one": ["#SBATCH --nodes=1"],
            "# a comment": [],
            "export B=${A}  # why": ["env B=$A"],
        }.items():
            self.assertEqual(compare.normalise(line), commands, line)

    @unittest.skipUnless(os.environ.get("WHEELYARD_SITE_DOCUMENTS"),
                         "the sites' documents are not here: WHEELYARD_SITE_DOCUMENTS=DIR names their folder")
    def test_the_facts_are_those_of_the_documents(self):
        for site in compare.DOCUMENTS:
            with self.subTest(site):
                documents = Path(os.environ["WHEELYARD_SITE_DOCUMENTS"])
                self.assertEqual(compare.check_facts(site, documents, False), [])
                self.assertEqual(items.not_in_document(site, documents), [])


if __name__ == "__main__":
    main()
