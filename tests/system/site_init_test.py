"""`site init` on a real Slurm, on PBS by replay and on a machine without a batch system: `site check` and `plan` accept what it writes."""

import json
import os
import pty
import re
import shutil
import subprocess
import tempfile
import tomllib
import unittest
from pathlib import Path

from support.farm import BIN, ROOT
from support.few_programs import link_programs
from support.pbs_replay import PbsReplay
from support.slurm_cluster import SlurmCluster, missing_programs
from support.user_files import LMOD

BUILDER = BIN / "wheelyard-builder"
LIMIT_S = 240
MODULES = {"gcc": "12.2", "openmpi": "4.1.6", "cuda": "12.3.2"}


class InitCase(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-init-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.file = self.folder / "site.toml"
        (self.folder / "home").mkdir()
        (self.folder / "scratch").mkdir()
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder / "home"), "SCRATCH": str(self.folder / "scratch")}

    def builder(self, *arguments: str, stdin=subprocess.DEVNULL) -> subprocess.CompletedProcess:
        return subprocess.run([BUILDER, *arguments], env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=LIMIT_S,
                              stdin=stdin)

    def init(self, *arguments: str, status: int = 0, stdin=subprocess.DEVNULL) -> str:
        done = self.builder("site", "init", *arguments, stdin=stdin)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def assert_accepted(self) -> dict:
        """`site check` has no bad line, the plan wants the first package, and no line is left to fill in."""
        check = self.builder("site", "check", "--site", "site.toml")
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr + self.file.read_text())
        plan = self.builder("plan", "--site", "site.toml", "--json")
        self.assertIn("markupsafe", plan.stdout, plan.stderr)
        self.assertNotIn("FILL IN", self.file.read_text())
        return tomllib.loads(self.file.read_text())


class LocalTest(InitCase):
    def setUp(self):
        super().setUp()
        bare = self.folder / "bin"  # no batch system: what the machine of the test may have of one is hidden
        link_programs(bare, "sbatch*", "qsub*")
        self.environment["PATH"] = str(bare)

    def test_without_a_batch_system_jobs_are_processes_of_the_machine(self):
        self.init("--yes", "--name", "here")
        site = self.assert_accepted()
        self.assertEqual((site["name"], site["scheduler"]["kind"]), ("here", "local"))
        self.assertEqual(site["work"]["directory"], f"{self.folder}/scratch/wheelyard/here/work")
        self.assertEqual(site["state"]["directory"], f"{self.folder}/home/wheelyard/here/state")
        self.refuses_to_overwrite()
        self.refuses_a_wrong_wish()

    def test_wishes_of_a_batch_system_are_refused_where_there_is_none(self):
        for wish in (("--queue", "long"), ("--account", "UABC0001")):
            with self.subTest(wish):
                done = self.builder("site", "init", "--yes", *wish)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn("no batch system was found", done.stderr)
                self.assertIn(wish[1], done.stderr)
                self.assertFalse(self.file.exists())

    def test_a_known_site_is_copied_and_the_lines_of_that_site_alone_are_listed(self):
        for known in sorted((ROOT / "site-configs").glob("*/site.toml")):
            with self.subTest(known.parent.name):
                printed = self.init("--like", known.parent.name, "--force", status=1)
                text, site, theirs = self.file.read_text(), tomllib.loads(self.file.read_text()), tomllib.loads(known.read_text())
                self.assertEqual([line.partition("#")[2] for line in text.splitlines() if not line.startswith("# stack")],
                                 [line.partition("#")[2] for line in known.read_text().splitlines() if not line.startswith("# stack")])
                self.assertEqual([Path(one).resolve() for one in site["recipes"]], [(known.parent / one).resolve() for one in theirs["recipes"]])
                self.assertEqual(site | {"recipes": 0, "version_pairs": 0}, theirs | {"recipes": 0, "version_pairs": 0})
                lines = dict(re.findall(r"look at line (\d+): (.*)", printed))
                self.assertEqual({number: text.splitlines()[int(number) - 1] for number in lines}, lines)
                for value in (theirs["name"], theirs["registry"]["url"], theirs["state"]["directory"], theirs["work"]["directory"],
                              theirs["scheduler"].get("account", ""), theirs["scheduler"].get("partition", "")):
                    self.assertIn(f'"{value}"' if value else "", "\n".join(lines.values()))
        plan = self.builder("plan", "--site", "site.toml", "--json")  # the recipes of the last one are found
        self.assertIn('"package": "torch"', plan.stdout, plan.stderr)

    def test_an_unknown_site_and_wishes_beside_a_known_one_are_refused(self):
        known = ", ".join(sorted(file.parent.name for file in (ROOT / "site-configs").glob("*/site.toml")))
        for arguments, words in ((["--like"], f"--like takes the name of a known site (known: {known})"),
                                 (["--like", "perlmuter"], "did you mean `perlmutter`?"),
                                 (["--like", "perlmutter", "--account", "me"], "--like copies a file as it is")):
            with self.subTest(arguments):
                done = self.builder("site", "init", "--yes", *arguments)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(words, done.stderr)
                self.assertFalse(self.file.exists())

    def test_what_keeps_site_check_from_passing_is_marked_in_the_file_and_named(self):
        for program in ("c++", "g++"):
            (self.folder / "bin" / program).unlink()
        printed = self.init("--yes", status=1)
        self.assertIn("fill in: no C++ compiler was found", printed)
        self.assertIn("# FILL IN: no C++ compiler was found", self.file.read_text())
        check = self.builder("site", "check", "--site", "site.toml")
        self.assertEqual(check.returncode, 1, check.stdout + check.stderr)
        self.assertIn("FAIL  C++ compiler c++", check.stdout)

    def refuses_to_overwrite(self):
        self.file.write_text("mine")
        self.assertEqual(self.init("--yes", status=2), "")
        self.assertEqual(self.file.read_text(), "mine")
        self.init("--yes", "--force")
        self.assertIn("config_version = 1", self.file.read_text())

    def refuses_a_wrong_wish(self):
        self.init("--yes", "--to", "other.toml", "--registry", "wheels.example.org", status=2)
        self.assertFalse((self.folder / "other.toml").exists())

    def test_a_script_reads_what_was_found(self):
        found = json.loads(self.init("--to", "-", "--json"))
        self.assertEqual((found["format"], found["file"], found["fill_in"]), ("wheelyard.site-survey/1", None, []))
        self.assertEqual(found["found"]["scheduler"], "local")
        self.assertFalse(self.file.exists())

    def test_on_a_terminal_it_asks_and_an_empty_line_is_the_suggestion(self):
        keyboard, terminal = pty.openpty()
        self.addCleanup(os.close, keyboard)
        self.addCleanup(os.close, terminal)
        os.write(keyboard, b"My Site\nmy-site\nwheels.example.org\nhttps://wheels.example.org\n\n\n")  # two are wrong
        done = self.builder("site", "init", stdin=terminal)
        self.assertEqual((done.returncode, done.stderr.count("Name of the site"), done.stderr.count("URL of the registry")), (0, 2, 2), done.stderr)
        site = tomllib.loads(self.file.read_text())
        self.assertEqual((site["name"], site["registry"]["index"]), ("my-site", "my-site"))
        self.assertEqual(site["registry"]["url"], "https://wheels.example.org")


@unittest.skipIf(missing_programs(), f"no Slurm here: {' '.join(missing_programs())} missing")
class SlurmTest(InitCase):
    def test_a_real_slurm_with_modules(self):
        for name, version in MODULES.items():
            (self.folder / "modulefiles" / name).mkdir(parents=True)
            (self.folder / "modulefiles" / name / version).write_text(f"#%Module\nsetenv HAS_{name.upper()} 1\n")
        with SlurmCluster(self.folder / "slurm", partitions=("long",)) as cluster:
            self.environment |= cluster.environment | {"MODULEPATH": str(self.folder / "modulefiles")}
            self.init("--yes")
            site = self.assert_accepted()
            self.assertEqual(site["name"], "yard")
            scheduler = site["scheduler"]
            self.assertEqual((scheduler["kind"], scheduler["partition"], scheduler["cores"]), ("slurm", "main", 8))
            self.assertEqual((scheduler["max_memory_mib"], scheduler["max_walltime_minutes"]), (4096, 120))
            self.assertEqual([node["queue"] for node in site["node"]], ["main", "urgent", "long"])
            if LMOD.exists():
                self.assertEqual(site["modules"]["use"], [str(self.folder / "modulefiles")])
                self.assertEqual(site["modules"]["load"], ["gcc/12.2", "openmpi/4.1.6"])
            self.init("--yes", "--force", "--queue", "long")
            self.assertEqual(tomllib.loads(self.file.read_text())["scheduler"]["max_walltime_minutes"], 1440)


class PbsTest(InitCase):
    def test_pbs_by_replay(self):
        with PbsReplay(self.folder / "pbs") as batch:
            hidden = self.folder / "bin"  # Slurm's programs
            hidden.mkdir()
            (hidden / "sbatch").write_text("#!/bin/sh\nexit 1\n")
            (hidden / "sbatch").chmod(0o755)
            self.environment["PATH"] = f"{hidden}:{batch.programs}:{os.environ['PATH']}"
            self.init("--yes", "--account", "UABC0001")
            site = self.assert_accepted()
        scheduler = site["scheduler"]
        self.assertEqual((scheduler["kind"], scheduler["queue"], scheduler["account"]), ("pbs", "main", "UABC0001"))
        self.assertEqual(scheduler["max_walltime_minutes"], 720)
        self.assertEqual([(node["cores"], node.get("gpus", 0)) for node in site["node"]], [(64, 4), (128, 0), (48, 0)])
        self.assertEqual([(one["name"], one.get("kind", "cpu")) for one in site["accelerator"]], [("cpu", "cpu"), ("a100", "cuda")])


if __name__ == "__main__":
    unittest.main()
