"""A large root page follows the answers: a new project's own page is published with the 200, and the root names it a moment
later; if a process is killed in between, after the next start.
"""

import os
import random
import shutil
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.case import main
from support.clients import RawUpload
from support.farm import INDEX, Farm
from support.wheels import Wheel

SEED = 20261120
LARGE = 256 * 1024  # indexer/publish/publish_run.hpp
LONG_NAME = 220     # characters: the root page names each twice
NAMES = LARGE // (2 * LONG_NAME) + 1
KILLS = 8
PATIENCE_S = 240
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # the fsyncs of a real disk are not the question here


class LateRootTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="wheelyard-late-root-", dir=IN_MEMORY))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.farm = cls.enterClassContext(Farm(folder=cls.folder))
        cls.token = cls.farm.create_token()
        cls.farm.start()
        with ThreadPoolExecutor(4) as uploaders:
            list(uploaders.map(lambda number: cls.upload(f"p{number:03}".ljust(LONG_NAME, "x")), range(NAMES)))
        cls.farm.stop()  # with the root page of all of them
        assert cls.root().stat().st_size >= LARGE

    def setUp(self):
        self.farm.start()
        self.addCleanup(self.farm.stop)

    @classmethod
    def upload(cls, project: str, version: str = "1.0") -> Path:
        wheel = Wheel(project, version).write(cls.folder / "wheels")
        status, problem = RawUpload(cls.farm, cls.token, wheel).send()
        assert status == 200, problem
        return wheel

    @classmethod
    def root(cls) -> Path:
        return cls.farm.tree / INDEX / "simple" / "index.html"

    def is_named(self, project: str) -> bool:
        return f">{project}</a>" in self.root().read_text()

    def wait_until_named(self, project: str):
        deadline = time.monotonic() + PATIENCE_S
        while not self.is_named(project):
            self.assertLess(time.monotonic(), deadline, f"the root page never named {project}")
            time.sleep(0.02)  # until another process has done something: nothing announces it

    def numbers(self) -> dict[str, float]:
        lines = self.farm.get("/metrics")[2].decode().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}

    def test_a_new_project_is_out_with_its_answer_and_in_the_root_page_a_moment_later(self):
        began = time.monotonic()
        wheel = self.upload("fresh")
        self.assertEqual(set(self.farm.files("fresh")), {wheel.name})
        if not self.is_named("fresh"):  # less than its second has passed
            numbers = self.numbers()
            if not self.is_named("fresh"):
                self.assertIn(numbers["wheelyard_publish_late_root_pages"], (1, 2))  # 2: the web UI, too
                self.assertEqual(numbers["wheelyard_publish_lag_seconds"], 0)
                self.assertEqual(numbers["wheelyard_ready"], 1)
        self.wait_until_named("fresh")
        self.assertGreater(time.monotonic() - began, 1, "no upload waited for others to share it")
        self.assertIn(" late_roots=1", self.farm.log.read_text())
        deadline = time.monotonic() + PATIENCE_S
        while self.numbers()["wheelyard_publish_late_root_pages"] > 0:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.assertEqual(self.numbers()["wheelyard_publish_root_lag_seconds"], 0)

    def leave_half_written(self) -> None:
        """As a kill in the middle of a replacement does: of a site's report, a table of torch, the register of use and the scrub."""
        for name in (f"sites/{INDEX}/.bede.json", f"torch/.{'0' * 64}", "upstream/.last-used.json", ".scrub.json", ".lost-files.tsv"):
            file = self.farm.data / f"{name}.tmp.0123456789abcdef"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()

    def test_killed_behind_the_answer_the_root_page_comes_with_the_next_start(self):
        moments = random.Random(SEED)
        lacking = 0
        for kill in range(KILLS):
            names = [f"killed{kill}-{number}" for number in range(2)]
            for name in names:
                self.upload(name)
            time.sleep((0, moments.uniform(0.95, 1.3))[kill % 2])  # at once, and about when the root page is written
            self.farm.kill()
            self.leave_half_written()
            lacking += not self.is_named(names[-1])
            self.farm.start()
            for name in names:
                self.assertEqual(len(self.farm.files(name)), 1)
                self.wait_until_named(name)
        self.farm.stop()
        self.farm.check_tree()
        self.assertEqual(self.farm.staging_leftovers(), [])
        print(f"({KILLS} kills, {lacking} before the root page)", end=" ", flush=True)
        self.assertGreater(lacking, 0, "every root page was out before its kill")

    def test_a_stop_and_a_command_leave_no_root_page_late(self):
        self.upload("stopped")
        self.farm.stop()
        self.assertTrue(self.is_named("stopped"))
        for number in range(KILLS):  # until a kill comes before the root page: the first, on most machines
            self.farm.start()
            wheel = self.upload(f"commanded{number}")
            self.farm.kill()
            if not self.is_named(f"commanded{number}"):
                break
        self.assertFalse(self.is_named(f"commanded{number}"))
        done = self.farm.run("wheelyard-registry", "yank", INDEX, wheel.name, "--reason", "slow", "--config", self.farm.config)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.is_named(f"commanded{number}"))
        self.farm.check_tree()


if __name__ == "__main__":
    main()
