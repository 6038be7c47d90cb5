"""The agent is killed, ticks beside another, and meets a registry that is down: afterwards everything converges."""

import random
import re
import subprocess
import time

from support.case import OwnFarmsCase, main
from support.farm import ROOT, Farm
from support.package_index import FAST_C, PackageIndex, write_sdist
from support.site import Site

FAILPOINTS = re.findall(r'"([a-z]+\.[a-z]+)"', re.search(
    r"agent_failpoints = \{(.*?)\};", (ROOT / "builder/attempt/failpoints.hpp").read_text(), re.DOTALL)[1])
STOPPED = 137  # the exit status of a failpoint, as of kill -9
WAIT_S = 300

SEED = 20261121
KILLS = 10


class AgentKillsTest(OwnFarmsCase):
    def setUp(self):
        super().setUp()
        self.sources = self.enterContext(PackageIndex(self.folder / "sources"))
        write_sdist(self.sources.folder, "yard-pure", "1.0")
        write_sdist(self.sources.folder, "yard-fast", "1.0", c_source=FAST_C)
        self.farm = self.enterContext(Farm())
        token = self.farm.create_token()
        self.farm.start()
        self.site = Site(self.farm, self.sources, token, {"yard-pure": "1.0"})
        self.token = token

    def want_both(self):
        self.site.file.write_text(self.site.file.read_text() + '\n[[want]]\npackage = "yard-fast"\nversions = ["1.0"]\n')

    def run_until_done(self) -> subprocess.CompletedProcess:
        done = self.site.builder("run")
        self.assert_ran(done)
        return done

    def assert_converged(self, attempts: int = 1, packages: tuple[str, ...] = ("yard-pure",)):
        """Each package is there once, was built in `attempts` attempts in all, and nothing half done lies around."""
        self.assertEqual({name: cell["state"] for name, cell in self.site.plan().items()}, dict.fromkeys(packages, "have"))
        for package in packages:
            self.assertEqual(len(self.farm.files(package)), 1)
        made = list((self.site.folder / "state" / "attempts").iterdir())
        self.assertEqual(len(made), attempts, made)
        self.assertEqual([path for path in self.site.folder.rglob("*") if ".tmp" in path.name], [])
        leftover_venvs = [path for path in (self.site.folder / "work").rglob("pyvenv.cfg")]
        self.assertEqual(leftover_venvs, [])
        self.farm.check_tree()
        self.assertEqual(self.farm.staging_leftovers(), [])

    def tick_until(self, failpoint: str) -> None:
        """Ticks, as cron would, until one is stopped at the point."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:  # not a number of rounds: a round may be much quicker than a job
            done = self.site.builder("tick", failpoint=failpoint)
            if done.returncode == STOPPED:
                return
            self.assert_ran(done)
            time.sleep(0.1)  # until the detached job has ended: nothing announces it
        self.fail(f"no tick came to {failpoint}: {done.stdout}{done.stderr}")

    def test_killed_at_every_step_one_after_the_other_one_attempt_converges(self):
        self.assertGreater(len(FAILPOINTS), 10)
        for point in FAILPOINTS:
            self.tick_until(point)
        self.run_until_done()
        self.assert_converged()

    def test_killed_with_nine_at_any_moment(self):
        self.want_both()
        moments = random.Random(SEED)
        killed = 0
        for _ in range(KILLS):
            process = self.site.start("run")
            try:
                process.wait(moments.uniform(0.02, 1.5))
            except subprocess.TimeoutExpired:
                process.kill()
                killed += 1
            process.communicate()
        self.assertGreater(killed, 0, "the agent was done before the first kill")
        self.run_until_done()
        self.assert_converged(attempts=2, packages=("yard-pure", "yard-fast"))

    def test_two_ticks_at_once_do_the_work_once(self):
        self.want_both()
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            ticks = [self.site.start("tick") for _ in range(4)]
            for tick in ticks:
                output, _ = tick.communicate()
                self.assertEqual(tick.returncode, 0, output)
            if all(cell["state"] == "have" for cell in self.site.plan().values()):
                break
        self.assert_converged(attempts=2, packages=("yard-pure", "yard-fast"))

    def test_a_registry_that_is_down_while_the_agent_uploads_loses_nothing(self):
        self.tick_until("journal.uploading")
        self.farm.stop()
        downloads = len(self.sources.downloads)
        done = self.site.builder("tick")  # the registry answers nothing
        self.assertIn(done.returncode, (0, 1), done.stderr)
        attempt, = self.site.attempts()
        self.assertNotIn(attempt["state"], ("done", "failed"), attempt)
        self.farm.start()
        self.run_until_done()
        self.assertEqual(len(self.sources.downloads), downloads, "the wheel was built a second time")
        self.assert_converged()

    def test_a_registry_that_is_killed_while_the_agent_uploads_loses_nothing(self):
        self.tick_until("journal.uploading")
        process = self.site.start("run")
        for _ in range(3):
            self.farm.kill()
            self.farm.start()
        output, _ = process.communicate()
        self.assertEqual(process.returncode, 0, output)
        self.assert_converged()


if __name__ == "__main__":
    main()
