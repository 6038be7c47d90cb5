"""What takes a real slurmdbd on a real MariaDB: jobs that slurmctld has forgotten, whose ends sacct alone tells, and jobs of another cluster."""

import shutil
import tempfile
import time
import unittest
from pathlib import Path

from support import batch_suite
from support.case import main
from support.slurm_accounting import missing_accounting
from support.slurm_cluster import SlurmCluster, missing_programs

MISSING = missing_programs() + missing_accounting()
COLUMNS = ("JobIDRaw", "JobName", "State", "Reason", "ExitCode", "ElapsedRaw", "TotalCPU", "MaxRSS", "NodeList")
FORGET_LIMIT_S = 300  # a minute and a half until the time is up, and slurmctld purges once a minute
WELL, WRONG, CANCELLED, KILLED, LATE, HOG = "yard-well", "yard-wrong", "yard-cancelled", "yard-killed", "yard-late", "yard-hog"


def kib(size: str) -> int:
    """What sacct calls "1244K", "14.50M" or nothing."""
    return int(float(size[:-1]) * 1024 ** "KMG".index(size[-1])) if size else 0


@unittest.skipIf(MISSING, f"no Slurm with accounting here: {' '.join(MISSING)} missing")
class SlurmAccountingTest(batch_suite.BatchCase):
    # With a signal that the job does not know for a warning: what its job knows of its time, the agent would take from the job.
    scheduler = ('kind = "slurm"\npartition = "main"\nmemory_mib = 256\nmax_memory_mib = 1024\ncores = 1\n'
                 'options = ["--signal=B:URG@60"]\n')

    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="wheelyard-slurm-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.batch = cls.enterClassContext(SlurmCluster(folder, accounting=True))

    def first(self, package: str) -> dict:
        return next(attempt for attempt in self.attempts() if attempt["package"] == package and attempt["number"] == 1)

    def accounted(self, name: str) -> dict:
        """What sacct itself says of the job of this name."""
        said = self.batch.run("sacct", "-n", "-P", f"--name={name}", "--starttime=now-1days", f"--format={','.join(COLUMNS)}").stdout
        print(said, end="")
        rows = [dict(zip(COLUMNS, line.split("|"))) for line in said.splitlines()]
        job, = (row for row in rows if "." not in row["JobIDRaw"])
        steps = [row for row in rows if row["JobIDRaw"].startswith(job["JobIDRaw"] + ".")]
        rss = max((kib(row["MaxRSS"]) for row in steps), default=0)
        return job | {"memory_kib": rss}

    def wait_until_forgotten(self, names: list[str]) -> float:
        began = time.monotonic()
        while set(names) & set(self.batch.run("squeue", "-h", "-a", "--states=all", "-O", "Name:|").stdout.replace("|", " ").split()):
            self.assertLess(time.monotonic() - began, FORGET_LIMIT_S)
            time.sleep(1)  # until slurmctld has purged: nothing announces it
        return time.monotonic() - began

    def test_the_ends_of_jobs_that_slurm_has_forgotten_are_those_that_its_accounting_tells(self):
        packages = [WELL, WRONG, CANCELLED, KILLED, LATE] + ([HOG] if self.batch.limits_memory else [])
        self.make_site(*packages)
        self.site.file.write_text(self.site.file.read_text().replace("max_jobs = 2", f"max_jobs = {len(packages)}"))
        for wheel in (self.control / "prebuilt").glob("yard_wrong-*"):
            wheel.unlink()  # the copy fails, and the build with it
        (self.control / "gate").touch()
        (self.control / "deaf-yard_late-1.0").touch()  # until it is killed, so that it leaves no record of its own
        self.tick_until("all builds at the gate", lambda: sum(line.endswith("step 2") for line in self.lines("steps")) == len(packages))
        names = {package: self.first(package)["id"] for package in packages}

        # From here on no tick, so no squeue of the agent's, sees how they end.
        self.batch.cancel_job(names[CANCELLED])
        self.batch.kill_job(names[KILLED])
        self.batch.shorten_job(names[LATE])
        if self.batch.limits_memory:
            (self.control / f"hog-{HOG.replace('-', '_')}-1.0").write_text("400")
        self.open_gate()
        seconds = self.wait_until_forgotten(list(names.values()))
        late = self.site.folder / "work/attempts" / names[LATE]
        self.assertFalse((late / "exit.json").exists(), self.logs())
        self.assertNotIn("time_limit", (late / "cut").read_text() if (late / "cut").exists() else "")
        (self.control / "deaf-yard_late-1.0").unlink()
        report = {package: self.accounted(name) for package, name in names.items()}
        print(f"forgotten after {seconds:.0f} s")
        self.tick_until("every end", lambda: all(self.first(package)["state"] in ("done", "failed") for package in packages))

        self.assertEqual(self.first(WELL)["state"], "done", self.first(WELL))
        for package, code in ((WRONG, "job.failed"), (CANCELLED, "job.cancelled"), (KILLED, "job.killed"), (LATE, "job.time_limit"),
                              (HOG, "job.out_of_memory")):
            if package in packages:
                self.assert_failure(self.first(package), code)
        for package in packages:
            used, row = self.first(package)["job"]["end"], report[package]
            self.assertEqual((used["seconds"], used["memory_kib"]), (int(row["ElapsedRaw"]), row["memory_kib"]), (package, used, row))
            self.assertTrue(used["scheduler_status"].startswith(row["State"].split()[0]), (package, used, row))


@unittest.skipIf(MISSING, f"no Slurm with accounting here: {' '.join(MISSING)} missing")
class OtherClusterTest(batch_suite.BatchCase):
    scheduler = 'kind = "slurm"\ncluster = "other"\npartition = "main"\nmemory_mib = 256\ncores = 1\n'

    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="wheelyard-slurm-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.here = cls.enterClassContext(SlurmCluster(folder / "here", accounting=True))
        cls.batch = cls.enterClassContext(SlurmCluster(folder / "there", name="other", beside=cls.here))

    def make_site(self, *packages: str, **more) -> batch_suite.BatchSite:
        site = super().make_site(*packages, **more)
        site.batch = self.here  # the agent's machine is one of this cluster
        return site

    def test_jobs_go_to_the_other_cluster_and_it_is_asked_how_they_end(self):
        self.make_site(WELL)
        checked = self.site.builder("site", "check")
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        name = self.start_and_hold()
        self.assertEqual(self.batch.state(name), "RUNNING")
        self.assertEqual(self.here.jobs(), [])
        self.batch.kill_job(name)
        self.tick_until("the end of the first job", lambda: self.attempts()[0]["state"] == "failed")
        self.assert_failure(self.attempts()[0], "job.killed")
        self.open_gate()
        self.settle(WELL)
        self.assertEqual(self.attempts()[-1]["number"], 2)
        self.assertLessEqual({attempt["id"] for attempt in self.attempts()}, set(self.batch.jobs()))
        self.assertEqual(self.here.jobs(), [])

    def test_a_build_that_is_cancelled_is_cancelled_there(self):
        self.make_site(WELL)
        name = self.start_and_hold()
        done = self.site.builder("cancel", name)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.tick_until("the end of the job", lambda: self.attempts()[0]["state"] == "failed")
        self.batch.wait("the end of the job there", lambda: self.batch.state(name) in ("CANCELLED", ""))


if __name__ == "__main__":
    main()
