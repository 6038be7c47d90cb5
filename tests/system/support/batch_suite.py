"""How an agent must work with any batch system: the test cases of slurm_test.py and pbs_test.py.

The builds are quick (quick_python.sh); agent, scripts, governor, registry and batch system are real, or as real as the case says.
"""

import json
import time
from pathlib import Path

from support.asker import Asker
from support.case import FarmCase
from support.farm import INDEX, Farm
from support.package_index import PackageIndex, write_sdist
from support.site import PYTHON, VENV_PYTHON, Site
from support.wheels import Wheel

STABLE = "stable"
STOPPED = 137


class BatchSite(Site):
    batch = None

    @property
    def environment(self) -> dict[str, str]:
        own, words = super().environment, self.batch.environment
        return own | words | ({"PATH": f"{words['PATH']}:{own['PATH']}"} if "PATH" in words else {})


class BatchCase(FarmCase):
    """A site whose jobs go to a batch system, and what may be asked of both. A class that derives from it sets `batch` (kill_job, warn_job, cancel_job, stop_server, start_server, state, jobs) and
    `scheduler`, the text of [scheduler]."""

    batch = None
    scheduler = ""
    tables_of_real_builds = ""  # more of site.toml, where a build is no quick one
    tick_limit_s = 300.0
    pause_s = 0.1  # between ticks
    sources: PackageIndex

    @classmethod
    def setUpClass(cls):
        pass  # a farm for each test: its journal and its jobs are counted

    def setUp(self):
        super().setUp()
        self.control = self.folder / "control"
        self.control.mkdir()
        self.sources = PackageIndex(self.folder / "sources")
        self.sources.__enter__()
        self.addCleanup(self.sources.__exit__)
        self.farm = Farm((INDEX, STABLE))
        self.addCleanup(self.farm.__exit__)
        self.token = self.farm.create_token()
        self.farm.start()
        self.addCleanup((self.control / "gate").unlink, missing_ok=True)

    def make_site(self, *packages: str, quick: bool = True, more: str = "", wanted: bool = True, registry: str = "") -> BatchSite:
        for package in packages:
            write_sdist(self.sources.folder, package, "1.0")
        site = BatchSite(self.farm, self.sources, self.token, dict.fromkeys(packages if wanted else (), "1.0"),
                         scheduler=f"{self.scheduler}max_jobs = 2\n{more}{'' if quick else self.tables_of_real_builds}",
                         registry=registry)
        site.batch = self.batch
        if quick:
            python = self.control / "python"
            python.write_text((Path(__file__).parent / "quick_python.sh").read_text()
                              .replace("@CONTROL@", str(self.control)).replace("@PYTHON@", PYTHON))
            python.chmod(0o755)
            (self.control / "prebuilt").mkdir()
            for package in packages:
                Wheel(package).write(self.control / "prebuilt")
            site.file.write_text(site.file.read_text().replace(f'executable = "{VENV_PYTHON}"', f'executable = "{python}"'))
        self.site = site
        self.addCleanup(self.cancel_what_is_left)
        return site

    def cancel_what_is_left(self) -> None:
        """Nothing, unless a test failed or was ended from outside."""
        for attempt in self.attempts():
            if attempt["state"] not in ("done", "failed"):
                self.batch.cancel_job(attempt["id"])

    # --- ticking like cron ---------------------------------------------------------------------------------------------

    def tick(self, failpoint: str = "") -> int:
        done = self.site.builder("tick", failpoint=failpoint)
        if done.returncode not in (0, STOPPED):
            raise AssertionError(f"tick: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.returncode

    def tick_until_stopped(self, point: str) -> None:
        deadline = time.monotonic() + self.tick_limit_s
        while self.tick(point) != STOPPED:
            self.assertLess(time.monotonic(), deadline, f"no tick came to {point}\n{self.logs()}")
            time.sleep(self.pause_s)  # as below

    def tick_until(self, what: str, condition) -> None:
        deadline = time.monotonic() + self.tick_limit_s
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"no tick came to: {what}\n{json.dumps(self.attempts(), indent=1)}\n{self.logs()}")
            self.tick()
            time.sleep(self.pause_s)  # until the batch system has done something: nothing announces it

    def logs(self) -> str:
        return "\n".join(f"{path}:\n{path.read_text()[-3000:]}" for pattern in ("log", "scheduler.log")
                         for path in self.site.folder.glob(f"work/attempts/*/{pattern}"))

    def attempts(self) -> list[dict]:
        """The journal, in the order of attempts; read as files, as status would."""
        found = [json.loads(path.read_text()) for path in (self.site.folder / "state" / "attempts").glob("w*.json")]
        return sorted(found, key=lambda attempt: (attempt["cell"], attempt["number"]))

    def age_jobs(self) -> None:
        """As if cron came by a few minutes later: what was submitted, and what is missing since then, is old."""
        for path in (self.site.folder / "state" / "attempts").glob("w*.json"):
            attempt = json.loads(path.read_text())
            attempt["job"]["submitted"] = attempt["job"]["ended"] = "2020-01-01T00:00:00Z"
            path.write_text(json.dumps(attempt))

    def build_is_at_the_gate(self) -> bool:
        return self.lines("steps")[-1:] != [] and self.lines("steps")[-1].endswith("step 2")

    def start_and_hold(self) -> str:
        """Ticks until the build of the only attempt waits at its gate; the attempt's id, which is the job's name."""
        (self.control / "gate").touch()
        self.tick_until("a build at the gate that is seen to run",
                        lambda: self.build_is_at_the_gate() and self.attempts()[-1]["state"] == "running")
        return self.attempts()[-1]["id"]

    def open_gate(self) -> None:
        (self.control / "gate").unlink()

    def settle(self, *packages: str) -> None:
        self.tick_until("everything published",
                        lambda: all(self.farm.files(package) for package in packages) and
                        all(attempt["state"] in ("done", "failed") for attempt in self.attempts()))

    # --- what must hold afterwards -------------------------------------------------------------------------------------

    def lines(self, name: str) -> list[str]:
        path = self.control / name
        return path.read_text().splitlines() if path.exists() else []

    def assert_failure(self, attempt: dict, code: str):
        self.assertEqual(attempt["state"], "failed", attempt)
        self.assertEqual(attempt["failure"]["code"], code, f"{attempt}\n{self.logs()}")

    def assert_jobs(self, count: int):
        """By the batch system's own records: so many jobs in all, exactly one for each attempt."""
        ours = {attempt["id"] for attempt in self.attempts()}
        names = [name for name in self.batch.jobs() if name in ours]
        self.assertEqual(len(names), len(set(names)), names)
        self.assertEqual(len(names), count, names)
        self.assertEqual(len(ours), count, ours)

    def assert_resumed(self):
        """Two builds in one tree, and no step of it taken twice."""
        self.assertEqual(len(self.lines("builds")), 2, self.logs())
        self.assertEqual(len(set(self.lines("builds"))), 1, "the second attempt built in another tree")
        self.assertEqual(len(self.lines("steps")), 3, self.lines("steps"))


class BatchSuite(BatchCase):
    """The test cases."""

    refused_scheduler = ""  # a [scheduler] that the batch system takes no job from
    warned_minutes = (30, 45)  # what a job asks for that is warned before its time is up, and what it may ask for at most

    def test_a_real_package_goes_from_want_to_page_through_the_batch_system(self):
        self.make_site("yard-pure", quick=False)
        self.settle("yard-pure")
        attempt, = self.attempts()
        self.assertEqual(attempt["state"], "done")
        self.assertEqual(list(self.farm.files("yard-pure")), ["yard_pure-1.0-py3-none-any.whl"])
        self.assert_jobs(1)

    def test_a_published_wheel_is_tested_in_a_job_of_its_own_and_promoted_once_it_passes(self):
        site = self.make_site("yard-pure", quick=False)
        (site.folder / "promote-token").write_text(self.farm.create_token(name="promoter", actions=("promote",)))
        command = (f"test -e {self.control}/works\n"
                   f"python -c 'import yard_pure; print(yard_pure.__file__)' >> {self.control}/tested")
        (site.folder / "recipes" / "yard-pure.toml").write_text(
            'config_version = 1\npackage = "yard-pure"\n[test]\nimport = ["yard_pure"]\n'
            f'[test.gpu]\nminutes = 5\ncommand = """\n{command}"""\n')
        text = site.file.read_text().replace('token_file = "token"\n', f'token_file = "token"\npromote_to = "{STABLE}"\n'
                                             'promote_token_file = "promote-token"\n')
        site.file.write_text(text.replace("[[python]]", "[hardware_tests.gpu]\n\n[[python]]"))

        def ended(purpose: str) -> list[dict]:
            return [one for one in self.attempts() if one["purpose"] == purpose and one["state"] in ("done", "failed")]
        self.tick_until("a test that fails", lambda: ended("gpu-test"))
        failed = ended("gpu-test")[0]
        self.assert_failure(failed, "job.failed")
        self.assertEqual(failed["failure"]["phase"], "test")
        self.assertEqual(self.farm.files("yard-pure", STABLE), {})
        (self.control / "works").touch()
        self.tick_until("the promotion", lambda: ended("promotion"))
        self.assertEqual([one["failure"] for one in ended("promotion")], [None])
        self.assertEqual(self.farm.files("yard-pure", STABLE).keys(), self.farm.files("yard-pure").keys())
        self.assertEqual([one["state"] for one in ended("gpu-test")], ["failed", "done"])
        tested, = self.lines("tested")
        self.assertIn(f"attempts/{ended('gpu-test')[1]['id']}/venv/", tested)  # the wheel, installed for this test

        self.assert_ran(site.builder("retest", "yard-pure"))
        self.tick_until("the test again", lambda: len(self.lines("tested")) == 2 and len(ended("gpu-test")) == 3)
        self.assertEqual(len(ended("promotion")), 1)
        with_jobs = {one["id"] for one in self.attempts() if one["purpose"] != "promotion"}
        self.assertEqual(sorted(name for name in self.batch.jobs() if name in with_jobs), sorted(with_jobs))
        self.assertEqual(len(with_jobs), 4)

    def test_a_task_of_the_registry_is_built_in_jobs_under_one_claim(self):
        self.token = self.farm.create_token(INDEX, name="agent", actions=("build",))
        site = self.make_site("yard-quick", wanted=False, registry='claim_tasks = "any"')
        asker = Asker(self.farm)
        task = asker.ask_for("yard-quick")
        name = self.start_and_hold()
        self.assertEqual(asker.show(task)["state"], "claimed")
        self.batch.kill_job(name)
        self.tick_until("the second attempt", lambda: len(self.attempts()) == 2)
        self.assert_failure(self.attempts()[0], "job.killed")
        self.open_gate()
        self.tick_until("the task's end", lambda: asker.show(task)["state"] in ("done", "failed"))
        report = asker.show(task)
        self.assertEqual((report["state"], report["attempts"]), ("done", 1), report)
        self.assertEqual([report["outcome"]["wheel"]["filename"]], list(self.farm.files("yard-quick")))
        self.assertIn("yard_quick", asker.say("log", task))
        self.assertEqual(list((site.folder / "state/claims").iterdir()), [])
        self.assert_resumed()
        self.assert_jobs(2)

    def test_a_job_that_is_killed_is_tried_again_in_its_own_tree(self):
        self.make_site("yard-quick")
        name = self.start_and_hold()
        self.batch.kill_job(name)
        self.tick_until("the second attempt", lambda: len(self.attempts()) == 2)
        self.assert_failure(self.attempts()[0], "job.killed")
        self.open_gate()
        self.settle("yard-quick")
        self.assert_resumed()
        self.assert_jobs(2)

    def test_a_job_whose_time_is_up_says_so_and_goes_on_with_more_time(self):
        minutes, max_walltime_minutes = self.warned_minutes
        self.make_site("yard-quick", more=f"minutes = {minutes}\nmax_walltime_minutes = {max_walltime_minutes}\n")
        name = self.start_and_hold()
        self.batch.warn_job(name)
        self.tick_until("the second attempt", lambda: len(self.attempts()) == 2)
        first, second = self.attempts()
        self.assert_failure(first, "job.time_limit")
        self.assertEqual(first["job"]["exit_code"], 143)  # its own record, written after the warning
        self.assertEqual((first["job"]["max_walltime_minutes"], second["job"]["max_walltime_minutes"]), self.warned_minutes)
        self.open_gate()
        self.settle("yard-quick")
        self.assert_resumed()
        self.assert_jobs(2)

    def test_a_job_that_somebody_cancels_is_not_started_again_until_retry(self):
        self.make_site("yard-quick", more="minutes = 30\nmax_walltime_minutes = 90\n")  # an alarm of its own runs in the job
        name = self.start_and_hold()
        self.batch.cancel_job(name)
        self.tick_until("the attempt's end", lambda: self.attempts()[0]["state"] == "failed")
        self.assert_failure(self.attempts()[0], "job.cancelled")
        self.tick()
        self.assertEqual(self.site.plan()["yard-quick"]["state"], "given up")
        self.open_gate()
        self.assert_ran(self.site.builder("retry", name))
        self.settle("yard-quick")
        self.assert_jobs(2)

    def test_a_server_that_is_down_is_no_failed_job(self):
        self.make_site("yard-quick", "yard-late")
        self.site.file.write_text(self.site.file.read_text().replace("max_jobs = 2", "max_jobs = 1"))
        self.start_and_hold()
        self.batch.stop_server()
        try:
            self.tick()
            running, late = (next(attempt for attempt in self.attempts() if attempt["package"] == package)
                             for package in ("yard-quick", "yard-late"))
            self.assertEqual(running["state"], "running")
            self.assertIn("the state of its job is unknown since", running["waiting"]["reason"])
            self.assertEqual((late["state"], late["waiting"]["for"]), ("prepared", "job_slot"), late)
            # With a free slot it is submitted, and waits because the server does not answer.
            self.site.file.write_text(self.site.file.read_text().replace("max_jobs = 1", "max_jobs = 2"))
            self.tick()
            late = next(attempt for attempt in self.attempts() if attempt["package"] == "yard-late")
            self.assertEqual((late["state"], late["job"]["submits"]), ("prepared", 0), late)
            self.open_gate()  # the job goes on without the server
        finally:
            self.batch.start_server()
        self.settle("yard-quick", "yard-late")
        self.assertEqual([attempt["number"] for attempt in self.attempts()], [1, 1])
        self.assert_jobs(2)

    def test_an_agent_killed_around_the_submission_starts_one_job(self):
        self.make_site("yard-quick")
        for point in ("journal.submitting", "submit.started", "journal.running", "exit.seen"):
            self.tick_until_stopped(point)
            if point == "journal.submitting":
                self.age_jobs()
        self.settle("yard-quick")
        self.assertEqual(len(self.attempts()), 1)
        self.assertEqual(len(self.lines("builds")), 1)
        self.assert_jobs(1)

    def test_several_packages_survive_a_row_of_misfortunes(self):
        """Four packages, two slots: an agent dies around each of its steps, a job is killed, the server is away, two agents
        tick at once. Afterwards each package is there once, and the batch system's records say that no build was one too many."""
        packages = ("yard-amber", "yard-birch", "yard-cedar", "yard-dune")
        self.make_site(*packages)
        (self.control / "gate").touch()
        for point in ("journal.planned", "journal.fetched", "journal.submitting"):
            self.tick_until_stopped(point)
        self.age_jobs()
        self.tick_until("two builds at the gate, seen to run",
                        lambda: self.builds_at_the_gate() == 2 and
                        sum(attempt["state"] == "running" for attempt in self.attempts()) == 2)
        killed = self.attempts()[0]
        self.batch.kill_job(killed["id"])
        # Its slot goes to a package that is prepared already.
        self.tick_until("a third build at the gate", lambda: self.builds_at_the_gate() == 3)
        self.batch.stop_server()
        try:
            for _ in range(2):
                self.tick()
        finally:
            self.batch.start_server()
        self.open_gate()
        for point in ("exit.seen", "journal.built", "journal.uploading"):
            self.tick_until_stopped(point)
        deadline = time.monotonic() + self.tick_limit_s
        while not all(self.farm.files(package) for package in packages):
            self.assertLess(time.monotonic(), deadline, self.logs())
            for agent in [self.site.start("tick") for _ in range(2)]:
                output, _ = agent.communicate()
                self.assertEqual(agent.returncode, 0, output)
        self.settle(*packages)
        attempts = self.attempts()
        self.assertEqual([attempt["state"] for attempt in attempts if attempt["id"] != killed["id"]], ["done"] * 4, self.logs())
        self.assert_failure(next(attempt for attempt in attempts if attempt["id"] == killed["id"]), "job.killed")
        self.assert_jobs(5)
        steps = self.lines("steps")
        self.assertEqual((len(steps), len(set(steps))), (12, 12), "a step of a build was taken twice")
        for package in packages:
            self.assertEqual(len(self.farm.files(package)), 1)
        print(f"{len(packages)} packages, {len(attempts)} attempts, {len(self.lines('builds'))} builds begun, {len(steps)} steps: none twice")

    def builds_at_the_gate(self) -> int:
        return sum(line.endswith("step 2") for line in self.lines("steps"))

    def test_two_agents_at_once_build_once(self):
        self.make_site("yard-quick")
        deadline = time.monotonic() + self.tick_limit_s
        while not self.farm.files("yard-quick"):
            self.assertLess(time.monotonic(), deadline, self.logs())
            for agent in [self.site.start("tick") for _ in range(2)]:
                output, _ = agent.communicate()
                self.assertEqual(agent.returncode, 0, output)
        self.settle("yard-quick")
        self.assertEqual(len(self.lines("builds")), 1)
        self.assert_jobs(1)

    def test_a_request_that_is_refused_is_reported_and_not_repeated(self):
        self.scheduler = self.refused_scheduler
        self.make_site("yard-quick")
        self.tick_until("the refusal", lambda: self.attempts() and self.attempts()[0]["state"] == "failed")
        self.assert_failure(self.attempts()[0], "scheduler.refused")
        self.tick()
        self.assertEqual(len(self.attempts()), 1)
        self.assertIn("site.toml", self.attempts()[0]["failure"]["advice"])
