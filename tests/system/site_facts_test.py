"""Scripts, jobs and files for users against the facts of the sites' documents and guides; each fact and each line is changed once, and the
check must notice (tests/sites/facts.py)."""

import sys
import unittest

from support.case import main
from support.farm import ROOT
from support.full import full

sys.path.insert(0, str(ROOT / "tests" / "sites"))
import facts  # noqa: E402
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
