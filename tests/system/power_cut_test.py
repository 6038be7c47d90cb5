"""The machine loses its power: what was acknowledged is there, and nothing is half there.

A power cut cannot be had in a test, but what it leaves at worst can be computed: names and bytes that were synced, and no others
(support/disk.py). One upload of a new project is recorded; then, for every call that it made on the disk, a registry is started on
what a cut after exactly that call would have left. And for every fsync: had it not been made, one of these checks would fail. Of the
catalogue, which is written behind the answer, nothing is promised but that it comes right, whichever call of its own was the last
and whichever fsync was not made.

In every run a sample of the calls, chosen by SEED; with WHEELYARD_FULL=1 (scripts/test --full) each of them.
"""

import hashlib
import os
import random
import shutil
import tempfile
import time
import unittest
from pathlib import Path

from support.case import main
from support.clients import RawUpload
from support.disk import ALL, SYNCS, Call, Disk
from support.farm import BIN, INDEX, Farm
from support.full import IS_FULL
from support.wheels import Wheel, sha256_of

SEED = 20261120
SAMPLE = 8  # of the calls
PATIENCE_S = 240
SANITIZED = b"__asan_init" in (BIN / "wheelyard-registry").read_bytes() or b"__tsan_init" in (BIN / "wheelyard-registry").read_bytes()
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # the fsyncs of a real disk are not the question here


@unittest.skipIf(SANITIZED, "a sanitizer does not run under another preloaded library; the release build's tests run this")
class PowerCutTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="wheelyard-power-", dir=IN_MEMORY))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.farm = cls.enterClassContext(Farm(folder=cls.folder, settings="io_threads = 1\nupload_threads = 1"))
        cls.token = cls.farm.create_token()
        cls.before = Wheel("before").write(cls.folder / "wheels")
        cls.wheel = Wheel("new").write(cls.folder / "wheels")
        cls.farm.start()
        assert RawUpload(cls.farm, cls.token, cls.before).send()[0] == 200
        cls.farm.stop()

        cls.disk = Disk(cls.folder / "notes", cls.farm.data, keep_durable=True, part=ALL)
        cls.farm.start(environment=cls.disk.environment)
        # So that SQLite has begun its log.
        more = Wheel("before", "1.1").write(cls.folder / "wheels")
        assert RawUpload(cls.farm, cls.token, more).send()[0] == 200
        cls.wait_for_wheel_list(cls.farm, {cls.before.name, more.name})
        cls.farm.wait_for_late_pages()  # or their calls would be among those of the upload
        cls.began = cls.disk.count
        assert RawUpload(cls.farm, cls.token, cls.wheel).send()[0] == 200
        cls.acknowledged = cls.disk.count
        cls.wait_for_wheel_list(cls.farm, {cls.before.name, more.name, cls.wheel.name})
        cls.farm.kill()
        all_calls = [call for call in cls.disk.calls() if call.number > cls.began]
        cls.calls = [call for call in all_calls if call.number <= cls.acknowledged and not call.is_of_catalogue]
        cls.calls_of_catalogue = [call for call in all_calls if call.is_of_catalogue]
        # Of `simple`'s two the first, for the project's new folder, is not needed: the second follows in any case. It is there
        # because each function that makes a folder also makes it durable.
        cls.syncs = [call for call in cls.calls if call.name in SYNCS]
        cls.syncs.remove(next(call for call in cls.syncs if call.path == f"public/{INDEX}/simple"))
        cls.written = cls.farm.data.rename(cls.folder / "written")
        cls.disk.root = cls.written

    @staticmethod
    def wait_for_wheel_list(farm: Farm, names: set[str]) -> None:
        """Until it shows these at least, and its writer has come to its end."""
        farm.wait_for_wheel_list(*names)
        deadline = time.monotonic() + PATIENCE_S
        while (farm.tree / ".wheelyard/catalogues/lock").exists():
            assert time.monotonic() < deadline, farm.log.read_text()[-2000:]
            time.sleep(0.02)  # until another process has done something: nothing announces it

    def fault_of_cut(self, upto: int, lost: frozenset[int] = frozenset()) -> str:
        shutil.rmtree(self.farm.data, ignore_errors=True)
        self.disk.build_image(self.farm.data, upto, lost)
        return self.fault(upto)

    def fault_without(self, lost: Call) -> str:
        """Of the worst of what a cut after the upload leaves, had this fsync not been made."""
        shutil.rmtree(self.farm.data, ignore_errors=True)
        self.disk.build_image_without(self.farm.data, lost)
        if fault := self.fault(self.acknowledged):
            return fault
        # Or of one in between: the later ones are the worse.
        for upto in reversed([call.number for call in self.calls if call.number > lost.number]):
            if fault := self.fault_of_cut(upto, frozenset({lost.number})):
                return f"cut after {upto - self.began}: {fault}"
        return ""

    def fault(self, upto: int) -> str:
        """What is wrong with a registry that starts on what the cut leaves; empty: nothing."""
        promised = [self.before, *([self.wheel] if upto >= self.acknowledged else [])]
        try:
            self.farm.start()
            for wheel in promised:
                self.assert_served(wheel)
            self.farm.check_tree()
            if self.farm.staging_leftovers():
                return f"left: {self.farm.staging_leftovers()}"
            if fault := self.fault_of_store():  # before the retry, whose bytes would repair it
                return fault
            status, problem = RawUpload(self.farm, self.token, self.wheel).send()
            if status != 200:
                return f"the retry: {status} {problem}"
            self.assert_served(self.wheel)
            self.wait_for_wheel_list(self.farm, {self.before.name, self.wheel.name})
            return self.fault_of_store()
        except (AssertionError, ValueError) as fault:  # a page that is no JSON
            return str(fault) or "?"
        finally:
            self.farm.kill()

    def fault_of_store(self) -> str:
        done = self.farm.run("wheelyard-registry", "verify", "--quiet", "--restart", "--config", self.farm.config)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    def assert_served(self, wheel: Path):
        sha256 = sha256_of(wheel)
        entry = self.farm.files(wheel.name.partition("-")[0]).get(wheel.name)
        self.assertIsNotNone(entry, f"{wheel.name} was acknowledged and is gone")
        self.assertEqual(entry["hashes"]["sha256"], sha256)
        status, _, body = self.farm.get(f"/{INDEX}/files/{sha256[:2]}/{sha256}/{wheel.name}")
        self.assertEqual((status, hashlib.sha256(body).hexdigest()), (200, sha256))

    def test_cut_after_any_call(self):
        points = [call.number for call in self.calls]
        if not IS_FULL:
            points = sorted({*random.Random(SEED).sample(points, min(SAMPLE, len(points))), points[-1]})
        for number in points:
            with self.subTest(call=number):
                self.assertEqual(self.fault_of_cut(number), "")
        print(f"(cut after {len(points)} of {len(self.calls)} calls)", end=" ", flush=True)

    def test_the_catalogue_comes_right_whatever_was_lost_of_it(self):
        calls = self.calls_of_catalogue
        syncs = [call for call in calls if call.name in SYNCS]
        self.assertGreaterEqual(len(syncs), 2)  # the wheel list and the note of how far it is
        for call in calls if IS_FULL else random.Random(SEED).sample(calls, min(SAMPLE // 2, len(calls))):
            with self.subTest(cut_after=f"{call.name} {call.path}"):
                self.assertEqual(self.fault_of_cut(call.number), "")
        for call in syncs:
            with self.subTest(lost=f"{call.name} {call.path}"):
                shutil.rmtree(self.farm.data, ignore_errors=True)
                self.disk.build_image_without(self.farm.data, call)
                self.assertEqual(self.fault(self.acknowledged), "")

    def test_no_fsync_could_be_left_out(self):
        lost = self.syncs if IS_FULL else random.Random(SEED).sample(self.syncs, min(SAMPLE, len(self.syncs)))
        for call in lost:
            with self.subTest(call=f"{call.name} {call.path}"):
                fault = self.fault_without(call)
                if IS_FULL:
                    print(f"\n    {call.number - self.began:3} {call.name:9} {call.path}: {fault.splitlines()[0][:150] if fault else 'nothing'}",
                          end="", flush=True)
                self.assertTrue(fault, "an upload that does without it is as durable")
        print(f"({len(lost)} of {len(self.syncs)} fsyncs left out, each was missed)", end=" ", flush=True)


if __name__ == "__main__":
    main()
