"""scripts/prove-torch, without the hours: what it counts, the site that it writes, the jobs of an earlier run that it ends."""

import importlib.machinery
import importlib.util
import json
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from support.case import main
from support.farm import BIN, ROOT

LOADER = importlib.machinery.SourceFileLoader("prove_torch", str(ROOT / "scripts" / "prove-torch"))
prove_torch = importlib.util.module_from_spec(importlib.util.spec_from_loader("prove_torch", LOADER))
LOADER.exec_module(prove_torch)

STOP_TIMEOUT_S = 30


class ProveTorchTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-prove-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.proof = prove_torch.Proof("debian12", self.folder, BIN, 0)

    def write_owner(self, attempt: str, pid: int, start: int) -> Path:
        claim = self.folder / "work" / "attempts" / attempt / "claim"
        claim.mkdir(parents=True)
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        (claim / "owner").write_text(json.dumps({"host": "here", "boot": boot, "pid": pid, "start": start}))
        return claim.parent

    def sleeper(self) -> subprocess.Popen:
        process = subprocess.Popen(["sleep", "600"], start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_a_compile_that_ninja_logged_twice_counts_as_done_again(self):
        build = self.folder / "work" / "trees" / "torch-1" / "tree" / "pytorch-1.13.1" / "build"
        build.mkdir(parents=True)
        (self.folder / "work" / "trees" / "torch-1" / "used_by").write_text("w1\n")
        self.assertEqual(self.proof.compiles(), (0, 0, 0))
        (build / "build.ninja").write_text("build a.o: CXX a.cpp\nbuild sub/b.o: CXX b.cpp\nbuild c.o: CXX c.cpp\nbuild lib.so: LINK a.o\n")
        edges = [(0, "a.o"), (4, "lib.so"), (2, "sub/b.o"), (9, "a.o")]
        (build / ".ninja_log").write_text("# ninja log v7\n" + "".join(f"{at}\t{at + 3}\t17\t{name}\tf00\n" for at, name in edges))
        self.assertEqual(self.proof.compiles(), (2, 3, 1))
        with open(build / ".ninja_log", "a", encoding="utf-8") as log:
            log.write("0\t1\t17\tgenerated.h\tf00\n")
        self.proof.keep_ninja_logs()
        shutil.rmtree(build)  # as the agent does once the wheel is there
        self.proof.collect()
        self.assertEqual([line.split("\t")[3] for line in (self.folder / "evidence" / "ninja_logs" / "w1").read_text().splitlines()[1:]],
                         [name for _, name in edges])

    def test_the_second_python_is_measured_by_what_the_compilers_ran_in_builds(self):
        proof = prove_torch.Proof("debian13", self.folder, BIN, 0, True, True)
        (self.folder / "state" / "attempts").mkdir(parents=True)
        for attempt, python, purpose, compiles in (("w1", "3.13", "build", 50), ("w2", "3.13", "build", 52), ("w3", "3.11", "build", 22),
                                                   ("w4", "3.13", "reproduce", 102), ("w5", "3.13", "build", None)):
            (self.folder / "state" / "attempts" / f"{attempt}.json").write_text(
                json.dumps({"id": attempt, "package": "torch", "python": python, "purpose": purpose}))
            if compiles is not None:  # a killed attempt has no summary
                folder = self.folder / "work" / "attempts" / attempt
                folder.mkdir(parents=True)
                (folder / "governor.json").write_text(json.dumps({"compiles": compiles, "failed": 2, "compile_s": compiles * 10.0}))
        with unittest.mock.patch.object(prove_torch, "say") as said:
            proof.compare_pythons()
        self.assertEqual(said.call_args[0], ("torch for a second Python: 20 compiles and links in 220 s beside 98 in 1020 s for the first: "
                                             "1.22 of one build for two",))

    def test_two_do_not_work_in_one_folder(self):
        with prove_torch.lock_folder(self.folder):
            with self.assertRaisesRegex(SystemExit, "another prove-torch works in"):
                prove_torch.lock_folder(self.folder)
        prove_torch.lock_folder(self.folder).close()

    def test_the_written_site_is_valid_and_differs_only_in_its_places(self):
        for stack, site in (("debian12", "debian12-slurm"), ("debian13", "debian13")):
            with self.subTest(stack):
                proof = prove_torch.Proof(stack, self.folder / stack, BIN, 0)
                proof.prepare()
                original = (ROOT / "site-configs" / site / "site.toml").read_text().splitlines()
                written = proof.site.read_text().splitlines()
                changed = [line.partition(" = ")[0] for line in original if line not in written]
                self.assertEqual(changed, ["url", "token_file", "directory", "directory"])
                done = proof.run("wheelyard-builder", "plan", "--site", proof.site, "--json", check=False)
                self.assertNotEqual(done.returncode, 2, done.stderr)  # the file is accepted; the registry does not run
                if Path(prove_torch.STACKS[stack]["python"]).exists():
                    self.assertIn("torch-1.13.1+debian12-cp311", done.stdout)
                token = proof.token.read_text()
                proof.prepare()  # a later run
                self.assertEqual(proof.token.read_text(), token)

    def test_a_job_that_an_earlier_run_left_is_ended_and_no_other_process(self):
        left, ended, other = self.sleeper(), self.sleeper(), self.sleeper()
        self.write_owner("w1left", left.pid, prove_torch.start_of(left.pid))
        (self.write_owner("w2ended", ended.pid, prove_torch.start_of(ended.pid)) / "exit.json").write_text("{}")
        self.write_owner("w3reused", other.pid, prove_torch.start_of(other.pid) - 1)
        self.proof.end_leftovers()
        self.assertEqual(left.wait(STOP_TIMEOUT_S), -9)
        self.assertIsNone(ended.poll())
        self.assertIsNone(other.poll())


if __name__ == "__main__":
    main()
