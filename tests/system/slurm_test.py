"""The agent on a real Slurm: jobs are killed, cut, preempted, their node and slurmctld go down; all converges, nothing is built twice."""

import os
import shutil
import signal
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from support import batch_suite
from support.case import main
from support.daemons import which
from support.farm import INDEX
from support.slurm_cluster import SlurmCluster, missing_programs


class OutOfMemory:
    """A test of a class of Slurm tests, whoever measures the memory: the kernel, or Slurm itself."""

    def test_a_job_that_ran_out_of_memory_goes_on_with_more(self):
        self.make_site("yard-quick")
        (self.control / "hog").write_text("400")
        self.tick_until("the first attempt's end", lambda: self.attempts() and self.attempts()[0]["state"] == "failed")
        self.assert_failure(self.attempts()[0], "job.out_of_memory")
        self.settle("yard-quick")
        first, second = self.attempts()
        self.assertGreater(second["job"]["memory_mib"], first["job"]["memory_mib"])
        self.assert_resumed()
        self.assert_jobs(2)


@unittest.skipIf(missing_programs(), f"no Slurm here: {' '.join(missing_programs())} missing")
class SlurmTest(OutOfMemory, batch_suite.BatchSuite):
    scheduler = 'kind = "slurm"\npartition = "main"\nmemory_mib = 256\nmax_memory_mib = 1024\ncores = 1\n'
    refused_scheduler = scheduler + 'options = ["--mem=99999999M"]\n'

    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="wheelyard-slurm-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.batch = cls.enterClassContext(SlurmCluster(folder))

    def test_a_process_that_somebody_kills_in_a_job_did_not_run_out_of_memory(self):
        """Neither Slurm nor the kernel says so; the log has a process that was killed, as after the kernel's kill."""
        self.make_site("yard-quick")
        self.start_and_hold()
        pips = [path for path in Path("/proc").glob("[0-9]*") if b"pip\0wheel\0" in self.read_of(path / "cmdline")]
        [build] = [path for path in pips if self.read_of(path / "cmdline").startswith(b"/bin/bash\0")
                   and str(self.site.folder).encode() in self.read_of(path / "environ")]
        os.kill(int(build.name), signal.SIGKILL)
        self.tick_until("the first attempt's end", lambda: self.attempts()[0]["state"] == "failed")
        self.assert_failure(self.attempts()[0], "job.killed")
        self.assertIn("@@wheelyard exit=137", self.logs())
        self.assertNotIn("memory.", self.site.builder("explain", "yard-quick").stdout)
        self.open_gate()
        self.settle("yard-quick")
        first, second = self.attempts()
        self.assertEqual(second["job"]["memory_mib"], first["job"]["memory_mib"])
        self.assert_jobs(2)

    @staticmethod
    def read_of(path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError:  # the process has ended
            return b""

    def test_a_job_that_is_preempted_is_tried_again_in_its_own_tree(self):
        self.make_site("yard-quick", more="max_attempts = 1\n")  # of which a preemption is none
        name = self.start_and_hold()
        self.batch.preempt_job(name)
        self.tick_until("the second attempt", lambda: len(self.attempts()) == 2)
        self.assert_failure(self.attempts()[0], "job.preempted")
        self.open_gate()
        self.settle("yard-quick")
        self.assert_resumed()
        self.assert_jobs(2)

    def test_a_job_that_is_queued_again_is_tried_again_in_its_own_tree(self):
        self.make_site("yard-quick", more="max_attempts = 1\n")  # of which a requeue is none
        self.batch.requeue_job(self.start_and_hold())
        self.tick_until("the second attempt", lambda: len(self.attempts()) == 2)
        self.assert_failure(self.attempts()[0], "job.requeued")
        self.open_gate()
        self.settle("yard-quick")
        self.assert_resumed()

    def test_a_squeue_that_lists_nothing_for_a_while_ends_no_job(self):
        """As from an empty cache, and without accounting: nothing else knows the job."""
        self.make_site("yard-quick")
        self.start_and_hold()
        empty = self.control / "empty"
        programs = self.control / "programs"
        programs.mkdir()
        (programs / "squeue").write_text(f'#!/bin/sh\ntest -e {empty} || exec {which("squeue")} "$@"\n')
        (programs / "squeue").chmod(0o755)
        with mock.patch.object(SlurmCluster, "environment", self.batch.environment | {"PATH": str(programs)}):
            for ticks in (1, 3):
                empty.touch()
                for _ in range(ticks):
                    self.tick()
                self.assertIn("squeue lists no job of this name", self.attempts()[0]["waiting"]["reason"])
                empty.unlink()
                self.tick()
                self.assertEqual((self.attempts()[0]["state"], self.attempts()[0]["waiting"]["reason"]), ("running", ""))
            self.open_gate()
            self.settle("yard-quick")
        self.assert_jobs(1)

    def test_a_job_whose_node_goes_down_is_tried_again_in_its_own_tree(self):
        self.make_site("yard-quick", more="max_attempts = 1\n")  # of which a node's failure is none
        name = self.start_and_hold()
        self.batch.fail_node(name)
        self.tick_until("the second attempt", lambda: len(self.attempts()) == 2)
        self.assert_failure(self.attempts()[0], "job.node_failure")
        self.assertNotIn("preempt", self.site.builder("explain", "yard-quick").stdout)
        self.open_gate()
        self.settle("yard-quick")
        self.assert_resumed()
        self.assert_jobs(2)


@unittest.skipIf(missing_programs(), f"no Slurm here: {' '.join(missing_programs())} missing")
class PolledMemoryTest(OutOfMemory, batch_suite.BatchCase):
    """A Slurm without memory cgroups that measures its jobs and kills those with more memory than they asked for."""

    scheduler = SlurmTest.scheduler

    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="wheelyard-slurm-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.batch = cls.enterClassContext(SlurmCluster(folder, polls_memory=True))


PLUGIN = """function slurm_job_submit(job, partition, user)
    if job.partition == nil then slurm.log_user("no partition") return slurm.ERROR end
    local closed = io.open("{folder}/closed")
    if closed ~= nil then
        io.close(closed)
        slurm.log_user("in maintenance until 18:00")
        return slurm.ERROR
    end
    job.time_limit = 20
    return slurm.SUCCESS
end
function slurm_job_modify(job, record, partition, user) return slurm.SUCCESS end
return slurm.SUCCESS
"""


@unittest.skipIf(missing_programs(), f"no Slurm here: {' '.join(missing_programs())} missing")
class SlurmPluginTest(batch_suite.BatchCase):
    """A site's job_submit/lua: it closes the cluster for a while, and gives jobs less time than they ask for."""

    scheduler = SlurmTest.scheduler

    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="wheelyard-slurm-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        (folder / "job_submit.lua").write_text(PLUGIN.replace("{folder}", str(folder)))
        cls.batch = cls.enterClassContext(SlurmCluster(folder, plugin="lua"))

    def test_a_plugin_that_refuses_ends_no_cell_and_what_it_grants_is_explained(self):
        packages = ("yard-amber", "yard-birch", "yard-cedar")
        self.make_site(*packages, more="minutes = 30\nmax_walltime_minutes = 45\n")
        (self.batch.folder / "closed").touch()
        self.tick_until("a refusal", lambda: any(attempt["waiting"]["for"] == "submission" for attempt in self.attempts()))
        self.tick()
        for shown in ("status", "plan"):
            words = self.site.builder(shown).stdout
            self.assertEqual(words.count("in maintenance until 18:00"), 1, words)
        self.assertEqual({attempt["state"] for attempt in self.attempts()}, {"prepared"})
        (self.control / "gate").touch()
        (self.batch.folder / "closed").unlink()
        self.tick_until("a job that runs", lambda: any(attempt["state"] == "running" for attempt in self.attempts()))
        running = next(attempt for attempt in self.attempts() if attempt["state"] == "running")
        self.assertIn(f"{INDEX}/{running['cell']}", self.batch.run("squeue", "-h", "-o", "%k").stdout.split())
        self.tick_until("the grant", lambda: any(attempt["job"]["granted_minutes"] for attempt in self.attempts()))
        granted = next(attempt for attempt in self.attempts() if attempt["job"]["granted_minutes"])
        self.assertRegex(self.site.builder("explain", granted["id"]).stdout, r"requested +256 MiB, 30 minutes\n +granted +20 minutes\n")
        self.open_gate()
        self.settle(*packages)
        self.assertEqual([attempt["number"] for attempt in self.attempts()], [1, 1, 1])
        self.assert_jobs(3)


if __name__ == "__main__":
    main()
