"""Scripts, jobs and files for users against the facts of the sites' documents and guides; each fact and each line is changed once, and the
check must notice (tests/sites/facts.py)."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support.case import main
from support.farm import ROOT
from support.full import full

sys.path.insert(0, str(ROOT / "tests" / "sites"))
import facts  # noqa: E402
import moved  # noqa: E402
import proof  # noqa: E402


class SiteFactsTest(unittest.TestCase):
    def test_every_site_follows_the_facts_and_has_nothing_without_a_fact(self):
        for site in facts.SITES:
            with self.subTest(site):
                self.assertEqual(facts.check(site), [])

    def test_a_fact_without_document_place_or_verification_is_refused(self):
        for site in facts.SITES:
            for what, mutated in facts.source_mutations(facts.read_facts(site)):
                with self.subTest(site=site, mutation=what):
                    self.assertNotEqual(facts.check(site, mutated), [])

    def test_the_table_of_proof_is_current_and_counts_every_fact(self):
        text = proof.PAGE.read_text()
        self.assertEqual(proof.page(text), text)
        self.assertEqual(proof.uncounted(), [])

    def test_what_moved_in_a_source_of_today_s_stack_is_listed_with_what_is_there_now(self):
        found = list(moved.sources())
        self.assertEqual({site for site, _, _ in found}, {file.name.partition(".")[0] for file in moved.FACTS.glob("*.today.toml")})
        with tempfile.TemporaryDirectory() as name:
            for site, source_name, source in found:
                with self.subTest(site, source=source_name):
                    file = Path(name) / source_name / source["path"]
                    self.assertEqual(moved.moved(source, Path(name) / source_name), [f"{source['path']} is gone"])
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text("\n".join(source["says"]))
                    self.assertEqual(moved.moved(source, Path(name) / source_name), [])
        torch_sh = next(source for site, _, source in found if site == "alliance")
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "config").mkdir()
            newer = "MODULE_BUILD_DEPS=\"gcc cuda/14.0\"\nexport TORCH_CUDA_ARCH_LIST=\"9.0;10.0;12.0+PTX\";\nUSE_SYSTEM_SLEEF=ON\nUSE_SYSTEM_XNNPACK=ON\n"
            (Path(name) / "config/torch.sh").write_text(newer)
            [line] = [line for line in moved.moved(torch_sh, Path(name)) if "ARCH_LIST" in line]
            self.assertTrue(line.endswith('said `TORCH_CUDA_ARCH_LIST="8.0;9.0;10.0+PTX"`; now `export TORCH_CUDA_ARCH_LIST="9.0;10.0;12.0+PTX";`'), line)
            self.assertEqual(len(moved.moved(torch_sh, Path(name))), 4)
            done = subprocess.run([sys.executable, "-B", moved.__file__, f"ComputeCanada/wheels_builder={name}"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("4 of 6 texts moved", done.stdout)
            self.assertIn("config/torchaudio.sh is gone", done.stdout)

    @full
    def test_the_check_notices_every_changed_fact_line_and_place_and_the_page_counts_them(self):
        noticed, counts = {}, {}
        for site in facts.SITES:
            with self.subTest(site):
                total, missed = counts[site] = facts.unnoticed(site)
                noticed[site] = f"{total - len(missed)} of {total}"
                self.assertEqual(missed, [])
                self.assertGreater(total, 100)
        text = proof.PAGE.read_text()
        self.assertEqual(proof.page_with_counts(text, counts), text, "run tests/sites/proof.py --write")
        print("mutations noticed:", noticed, file=sys.stderr)


if __name__ == "__main__":
    main()
