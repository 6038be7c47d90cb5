"""The agent on PBS: the same suite as on Slurm, over programs that answer like a real OpenPBS did; with `scripts/test --pbs` over those of the PBS
that is on PATH."""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from support import batch_suite
from support.case import main
from support.farm import INDEX
from support.full import full
from support.pbs_client import PbsOnPath
from support.pbs_replay import PbsReplay

ON_PATH = os.environ.get("WHEELYARD_PBS") == "on-path"
REPLAYED = 'kind = "pbs"\naccount = "UABC0001"\nmemory_mib = 256\nmax_memory_mib = 1024\ncores = 1\n'


class PbsTest(batch_suite.BatchSuite):
    scheduler = PbsOnPath.scheduler() if ON_PATH else REPLAYED
    refused_scheduler = PbsOnPath.scheduler("nosuch") if ON_PATH else REPLAYED + 'queue = "nosuch"\n'
    if ON_PATH:
        tables_of_real_builds = "\n[network]\noffline_jobs = true\n"  # jobs elsewhere do not reach this machine's loopback
        tick_limit_s = float(os.environ.get("WHEELYARD_PBS_LIMIT_S", "900"))
        pause_s = 1.0
        warned_minutes = (2, 3)  # by the job's own alarm

    @classmethod
    def setUpClass(cls):
        folder = Path(tempfile.mkdtemp(prefix="wheelyard-pbs-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        if ON_PATH:
            cls.batch = PbsOnPath(folder)
        else:
            cls.batch = PbsReplay(folder)
            cls.addClassCleanup(cls.batch.__exit__)

    def test_a_job_that_passed_its_walltime_goes_on_with_more(self):
        self.make_site("yard-quick", more="minutes = 30\nmax_walltime_minutes = 90\n")
        name = self.start_and_hold()
        self.batch.pass_walltime(name)
        self.tick_until("the second attempt", lambda: len(self.attempts()) == 2)
        first, second = self.attempts()
        self.assert_failure(first, "job.time_limit")
        self.assertIn("-29", first["failure"]["value"])
        self.assertEqual((first["job"]["max_walltime_minutes"], second["job"]["max_walltime_minutes"]), (30, 60))
        self.open_gate()
        self.settle("yard-quick")
        self.assert_resumed()
        self.assert_jobs(2)

    def test_a_foreign_job_that_spoils_the_list_hides_none_of_ours(self):
        self.make_site("yard-quick", "yard-late")
        self.batch.spoil_answer()
        self.addCleanup(self.batch.restore_answer)
        self.settle("yard-quick", "yard-late")
        self.assertEqual([attempt["number"] for attempt in self.attempts()], [1, 1])
        self.assert_jobs(2)

    def test_a_suspended_job_is_shown_and_goes_on(self):
        self.make_site("yard-quick")
        name = self.start_and_hold()
        self.batch.suspend_job(name)
        self.tick_until("the suspension", lambda: "suspended" in (self.attempts()[0]["waiting"] or {}).get("reason", ""))
        self.assertIn("its scheduler has suspended it", self.site.builder("status").stdout)
        self.batch.resume_job(name)
        self.open_gate()
        self.settle("yard-quick")
        self.assertEqual([attempt["failure"] for attempt in self.attempts()], [None])
        self.assert_jobs(1)


# What an agent does by itself, whatever the batch system: slurm_test.py has it in every run.
for common in ("test_a_task_of_the_registry_is_built_in_jobs_under_one_claim", "test_an_agent_killed_around_the_submission_starts_one_job",
               "test_several_packages_survive_a_row_of_misfortunes", "test_two_agents_at_once_build_once"):
    if not ON_PATH:
        setattr(PbsTest, common, full(getattr(PbsTest, common)))


class PbsServerTest(batch_suite.BatchCase):
    """What only the server does to jobs, and so only the one that answers with recordings."""

    scheduler = REPLAYED

    def setUp(self):
        folder = Path(tempfile.mkdtemp(prefix="wheelyard-pbs-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.batch = PbsReplay(folder)
        self.addCleanup(self.batch.__exit__)
        super().setUp()

    def end_first(self, code: str) -> None:
        """The first attempt fails by this end, and costs none of the one that it may have; the second goes on in its tree."""
        self.tick_until("the second attempt", lambda: len(self.attempts()) == 2)
        self.assert_failure(self.attempts()[0], code)
        self.open_gate()
        self.settle("yard-quick")
        self.assert_resumed()

    def test_a_preempted_job_is_no_failure_of_the_build(self):
        self.make_site("yard-quick", more="max_attempts = 1\n")
        self.batch.preempt_job(self.start_and_hold())
        self.end_first("job.preempted")
        self.assert_jobs(2)

    def test_a_job_that_is_run_again_is_no_failure_of_the_build(self):
        self.make_site("yard-quick", more="max_attempts = 1\n")
        self.batch.rerun_job(self.start_and_hold())
        self.end_first("job.requeued")
        self.assert_jobs(2)

    def test_without_job_history_a_job_without_a_record_is_seen_to_end(self):
        self.batch.forget_ended_jobs()
        self.make_site("yard-quick")
        self.batch.kill_job(self.start_and_hold())
        self.tick_until("the wait for the record", lambda: self.attempts()[0]["job"]["ended"])
        self.age_jobs()
        self.end_first("job.vanished")
        self.batch.recall_ended_jobs()
        self.assert_jobs(2)

    def test_a_hook_that_refuses_ends_no_cell_and_all_go_on_by_themselves(self):
        packages = ("yard-amber", "yard-birch", "yard-cedar")
        self.make_site(*packages)
        self.batch.refuse_jobs("in maintenance until 18:00")
        self.tick_until("some refusals", lambda: len(self.batch.refused()) >= 3)
        ticks = len(self.batch.refused())
        self.assertEqual(self.tick(), 0)
        self.assertLessEqual(len(self.batch.refused()), ticks + 1, "more than one job was tried in one tick")
        for shown in ("status", "plan"):
            words = self.site.builder(shown).stdout
            self.assertEqual(words.count("in maintenance until 18:00"), 1, words)
        held, = json.loads(self.site.builder("plan", "--json").stdout)["held_queues"]
        self.assertEqual(held["reason"], "qsub: in maintenance until 18:00")
        self.tick_until("the site's report", lambda: b"qsub: in maintenance until 18:00" in self.farm.get(f"/{INDEX}/status.json")[2])
        self.assertEqual({attempt["state"] for attempt in self.attempts()}, {"prepared"})
        self.batch.take_jobs()
        self.settle(*packages)
        self.assertEqual([attempt["number"] for attempt in self.attempts()], [1, 1, 1])
        self.assertEqual(json.loads(self.site.builder("plan", "--json").stdout)["held_queues"], [])
        self.assert_jobs(3)
        self.assertFalse(self.batch.was_asked_for_all())

    def test_a_strangers_job_of_our_name_is_neither_ours_nor_in_the_way(self):
        self.make_site("yard-quick")
        name = self.start_and_hold()
        self.batch.add_strangers_job(name)
        shown = json.loads(self.batch.run("qstat", "-f", "-F", "json", "0"))["Jobs"]
        self.assertEqual(next(iter(shown.values()))["Variable_List"]["WHEELYARD_JOB"], f"{INDEX}/{self.attempts()[0]['cell']}")
        self.assert_ran(self.site.builder("cancel", name))
        self.assert_failure(self.attempts()[0], "job.cancelled")
        states = {job["user"]: job["state"] for job in self.batch.server.jobs()}
        self.assertEqual(states.pop("eve"), "H")
        self.assertEqual(set(states.values()), {"F"})
        remedy = self.attempts()[0]["failure"]["advice"]
        self.open_gate()
        self.assertTrue(remedy.startswith("to build it again, run wheelyard-builder retry yard-quick-1.0-"), remedy)
        command = remedy.removeprefix("to build it again, run wheelyard-builder ").split()
        self.assertEqual(command, ["retry", self.attempts()[0]["cell"], "--site", str(self.site.file)])
        self.assert_ran(self.site.builder("retry", "--code", "job.cancelled"))
        self.settle("yard-quick")
        self.assertEqual(len(self.lines("builds")), 2)


if __name__ == "__main__":
    if ON_PATH and (problem := PbsOnPath.problem()):
        sys.exit(f"pbs_test: {problem}")
    main()
