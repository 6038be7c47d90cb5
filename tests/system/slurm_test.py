"""The agent on a real Slurm: jobs are killed, cut, preempted, their node and slurmctld go down; all converges, nothing is built twice."""

import shutil
import tempfile
import unittest
from pathlib import Path

from support import batch_suite
from support.case import main
from support.slurm_cluster import SlurmCluster, missing_programs


@unittest.skipIf(missing_programs(), f"no Slurm here: {' '.join(missing_programs())} missing")
class SlurmTest(batch_suite.BatchSuite):
    scheduler = 'kind = "slurm"\npartition = "main"\nmemory_mib = 256\nmax_memory_mib = 1024\ncores = 1\n'
    refused_scheduler = scheduler + 'options = ["--mem=99999999M"]\n'

    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="wheelyard-slurm-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.batch = SlurmCluster(folder)
        cls.batch.__enter__()
        cls.addClassCleanup(cls.batch.__exit__)

    def test_a_job_that_ran_out_of_memory_goes_on_with_more(self):
        if not self.batch.limits_memory:
            self.skipTest("no memory cgroup can be made here")
        self.make_site("yard-quick")
        (self.control / "hog").write_text("400")
        self.tick_until("the first attempt's end", lambda: self.attempts() and self.attempts()[0]["state"] == "failed")
        self.assert_failure(self.attempts()[0], "job.out_of_memory")
        self.settle("yard-quick")
        first, second = self.attempts()
        self.assertGreater(second["job"]["memory_mib"], first["job"]["memory_mib"])
        self.assert_resumed()
        self.assert_jobs(2)

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

    def test_a_job_whose_node_goes_down_is_tried_again_in_its_own_tree(self):
        self.make_site("yard-quick", more="max_attempts = 1\n")  # of which a node's failure is none
        name = self.start_and_hold()
        self.batch.fail_node(name)
        self.tick_until("the second attempt", lambda: len(self.attempts()) == 2)
        self.assert_failure(self.attempts()[0], "job.node_failure")
        self.open_gate()
        self.settle("yard-quick")
        self.assert_resumed()
        self.assert_jobs(2)


if __name__ == "__main__":
    main()
