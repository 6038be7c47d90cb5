"""A site's own rules of the doctor: `doctor`, `doctor --check-rules` and `site check`, with good and bad files."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.case import main
from support.farm import BIN, COMMAND_TIMEOUT_S

RULE = """[[rule]]
code = "licence.none_free"
patterns = ["licence pool * is empty"]
automatic = "wait"
cause = "No licence of the vendor's compiler is free."
remedy = "Ask the service desk."
source = "provoked"
excerpt = '''
nvc-Error: licence pool "hpc" is empty
make: *** [a.o] Error 2
'''
"""
LOG = 'cc -c a.c\nnvc-Error: licence pool "grace" is empty\nmake: *** [a.o] Error 2\n'


class DoctorRulesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "site.toml").write_text('config_version = 1\nname = "here"\n[state]\ndirectory = "state"\n'
                                               '[work]\ndirectory = "work"\n[scheduler]\nkind = "local"\n'
                                               '[[python]]\nversion = "3.11"\nexecutable = "none"\n')
        self.rules = self.folder / "doctor.d"
        self.rules.mkdir()
        self.log = self.folder / "build.log"
        self.log.write_text(LOG)

    def builder(self, *words, cwd=None):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder)}
        return subprocess.run([BIN / "wheelyard-builder", *map(str, words)], cwd=cwd or self.folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=COMMAND_TIMEOUT_S)

    def causes(self, *words, cwd=None):
        done = self.builder("doctor", "--json", *words, self.log, cwd=cwd)
        return [one["code"] for one in json.loads(done.stdout)["findings"]], done.stderr

    def test_the_rules_beside_the_site_file_are_asked_first(self):
        self.assertEqual(self.causes(), ([], ""))
        (self.rules / "licences.toml").write_text(RULE)
        self.assertEqual(self.causes(), (["licence.none_free"], ""))
        self.assertEqual(self.causes(cwd="/"), ([], ""))
        self.assertEqual(self.causes("--site", self.folder / "site.toml", cwd="/")[0][0], "licence.none_free")
        self.assertEqual(self.builder("doctor", "--site", "none.toml", self.log).returncode, 2)
        shown = self.builder("doctor", "--explain", "licence.none_free")
        self.assertEqual(shown.returncode, 0)
        self.assertIn("doctor.d/licences.toml:1:1", shown.stdout)

    def test_rules_are_checked_and_tried_on_their_excerpts(self):
        self.assertEqual(self.builder("doctor", "--check-rules", "none").returncode, 2)
        (self.rules / "licences.toml").write_text(RULE)
        for words in ([], [self.rules]):
            done = self.builder("doctor", "--check-rules", *words)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("1 rule in ", done.stdout)
        (self.rules / "licences.toml").write_text(RULE.replace('"hpc" is empty', '"hpc" is full').replace('"wait"', '"later"')
                                                  + RULE.replace("none_free", "other").replace('"hpc" is empty', '"hpc" is full'))
        done = self.builder("doctor", "--check-rules")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"licences\.toml:4:13: .*automatic")
        self.assertRegex(done.stdout, r"licences\.toml:12:1: licence\.other: no rule matches its excerpt")

    def test_a_bad_file_is_named_and_the_others_hold(self):
        (self.rules / "licences.toml").write_text(RULE)
        (self.rules / "broken.toml").write_text("[[rule]\n")
        causes, said = self.causes()
        self.assertEqual(causes[0], "licence.none_free")
        self.assertIn("a rule is left out: ", said)
        self.assertIn("doctor.d/broken.toml:1:", said)
        lines = json.loads(self.builder("site", "check", "--json").stdout)["lines"]
        line, = [line for line in lines if line["what"] == "doctor's rules"]
        self.assertEqual((line["good"], line["required"]), (False, False))
        self.assertIn("doctor.d/broken.toml:1:", line["found"])
        (self.rules / "broken.toml").unlink()
        lines = json.loads(self.builder("site", "check", "--json").stdout)["lines"]
        self.assertIn({"what": "doctor's rules", "good": True, "required": False, "found": f"1 in {self.rules}", "advice": None}, lines)


if __name__ == "__main__":
    main()
