"""docs/reference/cli/ is what the programs' own --help prints, and scripts/generate-cli-docs --check detects a page that is not."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.farm import BIN, ROOT

GENERATE = ROOT / "scripts" / "generate-cli-docs"
PAGES = ROOT / "docs" / "reference" / "cli"


def check(pages: Path) -> subprocess.CompletedProcess:
    return subprocess.run([GENERATE, "--check", "--bin", BIN, "--pages", pages], capture_output=True, text=True, timeout=300)


class CliDocsTest(unittest.TestCase):
    def test_the_committed_pages_are_what_help_prints(self):
        run = check(PAGES)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_a_changed_and_a_missing_page_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            pages = Path(shutil.copytree(PAGES, Path(folder) / "cli"))
            builder = pages / "wheelyard-builder.md"
            builder.write_text(builder.read_text(encoding="utf-8").replace("--site", "--cite", 1), encoding="utf-8")
            (pages / "avail_wheels.md").unlink()
            run = check(pages)
            self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
            for name, stale in [("wheelyard-builder.md", True), ("avail_wheels.md", True), ("wheelyard-indexer.md", False)]:
                self.assertEqual(f"{name} differs" in run.stdout, stale, run.stdout)

    def test_the_script_of_no_cell_or_as_json_is_a_usage_error(self):
        for options in [["--script", ""], ["--script", "demo", "--json"]]:
            run = subprocess.run([BIN / "wheelyard-builder", "plan", "--site", "none.toml", *options], capture_output=True, text=True, timeout=60)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn("--script", run.stderr)

    def test_every_subcommand_has_its_own_section(self):
        registry = (PAGES / "wheelyard-registry.md").read_text(encoding="utf-8")
        for words in ["serve", "token create", "task add", "yank", "verify"]:
            self.assertIn(f"\n## wheelyard-registry {words}\n", registry)
        self.assertIn("\n## wheelyard-governor history\n", (PAGES / "wheelyard-governor.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
