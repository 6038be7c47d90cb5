"""The registry is killed, at every step and at any moment: what it acknowledged is there, and nothing is half there.

Every step: one upload is watched with strace, which tells each call that changes the disk and the thread that made it. Then,
for each of these calls, a registry is killed as it enters exactly that call. Any moment: a loop kills it at moments drawn from
a seed while several uploaders go on as twine would.
"""

import hashlib
import http.client
import random
import re
import shutil
import subprocess
import threading
import time
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import Farm
from support.wheels import Wheel, incompressible, sha256_of

# Calls that change what is on the disk, ours and SQLite's; which of two twins a libc uses does not matter.
DISK_CALLS = ("fsync", "fdatasync", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir",
              "mkdirat", "chmod", "fchmod", "fchmodat", "ftruncate", "pwrite64")
ATTACH_TIMEOUT_S = 30
DEATH_TIMEOUT_S = 10  # after an answer; the page is out by then, what follows is SQLite's and the publisher's housekeeping

SEED = 20261120
KILLS = 12
UPLOADERS = 3


def threads_of(pid: int) -> list[int]:
    """In the order in which they were made, which is the same at every start."""
    return sorted(int(task.name) for task in Path(f"/proc/{pid}/task").iterdir())


def wait_until_traced(threads: list[int], tracer: subprocess.Popen) -> None:
    deadline = time.monotonic() + ATTACH_TIMEOUT_S
    for thread in threads:
        while re.search(r"TracerPid:\s*0$", Path(f"/proc/{thread}/status").read_text(), re.MULTILINE):
            if tracer.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"strace cannot attach (is ptrace allowed here?): {tracer.communicate()}")
            time.sleep(0.005)  # until another process has done something: nothing announces it


class RegistryKillsTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("strace") is None:
            raise AssertionError("strace is not installed: scripts/install-deps --test")

    def setUp(self):
        super().setUp()
        # One thread of a kind, so that every upload is made of the same steps in the same threads.
        self.farm = Farm(settings="io_threads = 1\nupload_threads = 1")
        self.addCleanup(self.farm.__exit__)
        self.token = self.farm.create_token()
        self.farm.start()

    def wheel(self, project: str, version: str = "1.0", size: int = 100_000, seed: int = 1) -> Path:
        return Wheel(project, version, extra_members={f"{project}/data": incompressible(size, seed)}).write(self.folder)

    def wheel_in_new_folders(self, project: str) -> Path:
        """A wheel whose bytes and whose METADATA hash into folders that no blob has made yet: every upload makes them."""
        there = {path.name for path in (self.farm.data / "blobs" / "sha256").iterdir()}
        for number in range(10_000):
            wheel = self.wheel(project, f"1.{number}")
            with zipfile.ZipFile(wheel) as archive:
                metadata = archive.read(f"{project}-1.{number}.dist-info/METADATA")
            prefixes = [sha256_of(wheel)[:2], hashlib.sha256(metadata).hexdigest()[:2]]
            if not there.intersection(prefixes) and prefixes[0] != prefixes[1]:
                return wheel
        raise AssertionError("every folder is there")

    def strace(self, threads: list[int], *arguments: str) -> subprocess.Popen:
        tracer = subprocess.Popen(["strace", "-qq", *arguments, *(f"--attach={thread}" for thread in threads)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(tracer.communicate)
        self.addCleanup(tracer.kill)
        wait_until_traced(threads, tracer)
        return tracer

    def assert_whole(self, acknowledged: dict[str, str]):
        """Every acknowledged file (name → sha256) is shown and served with its bytes, and nothing half done lies around."""
        for filename, sha256 in acknowledged.items():
            entry = self.farm.files(filename.partition("-")[0].replace("_", "-")).get(filename)
            self.assertIsNotNone(entry, f"{filename} was acknowledged and is gone")
            self.assertEqual(entry["hashes"]["sha256"], sha256)
            status, _, body = self.farm.get(f"/debian12/files/{sha256[:2]}/{sha256}/{filename}")
            self.assertEqual((status, hashlib.sha256(body).hexdigest()), (200, sha256))
        self.farm.check_tree()
        self.assertEqual(self.farm.staging_leftovers(), [])

    def died(self) -> bool:
        try:
            self.farm.process.wait(DEATH_TIMEOUT_S)
            return True
        except subprocess.TimeoutExpired:
            return False

    def steps_of_an_upload(self) -> list[tuple[int, str, int]]:
        """(which thread, call, its number among that thread's calls of this name), in the order in which they happen."""
        threads = threads_of(self.farm.process.pid)
        log = self.folder / "strace.log"
        tracer = self.strace(threads, "-f", "-o", str(log), "-e", "trace=" + ",".join(DISK_CALLS))
        self.assertEqual(RawUpload(self.farm, self.token, self.wheel_in_new_folders("watched")).send()[0], 200)
        tracer.terminate()
        tracer.wait()
        counted: Counter = Counter()
        steps = []
        for line in log.read_text().splitlines():
            match = re.match(r"(\d+)\s+(\w+)\(", line)
            if match and int(match[1]) in threads:
                key = (threads.index(int(match[1])), match[2])
                counted[key] += 1
                steps.append((*key, counted[key]))
        return steps

    def test_killed_at_every_call_that_changes_the_disk(self):
        self.assertEqual(RawUpload(self.farm, self.token, self.wheel("before")).send()[0], 200)
        steps = self.steps_of_an_upload()
        calls = {call for _, call, _ in steps}
        print(f"({len(steps)} steps: {dict(Counter(call for _, call, _ in steps))})", end=" ", flush=True)
        self.assertTrue(calls & {"fsync", "fdatasync"} and calls & {"rename", "renameat", "link", "linkat"}, calls)
        for number, (thread, call, nth) in enumerate(steps):
            with self.subTest(thread=thread, call=call, nth=nth):
                wheel = self.wheel_in_new_folders(f"step{number}")
                self.strace([threads_of(self.farm.process.pid)[thread]], "-e", f"trace={call}",
                            "-e", f"inject={call}:signal=KILL:when={nth}")
                acknowledged = {}
                try:
                    if RawUpload(self.farm, self.token, wheel).send()[0] == 200:
                        acknowledged = {wheel.name: sha256_of(wheel)}  # and killed in what follows an answer
                except (ConnectionError, http.client.HTTPException):
                    pass
                met = self.died()
                self.farm.kill()
                self.farm.start()
                self.assertTrue(met, "this upload did not come to the step that the watched one took")
                self.assert_whole(acknowledged)
                # Whatever state it was killed in: the identical retry converges.
                self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
                self.assert_whole({wheel.name: sha256_of(wheel)})

    def test_killed_at_any_moment_while_uploaders_go_on(self):
        acknowledged: dict[str, str] = {}
        all_killed = threading.Event()

        def upload(uploader: int) -> int:
            """Goes on until the last kill; how often it had to send again."""
            repeats = version = 0
            while not all_killed.is_set():
                wheel = self.wheel(f"storm{uploader}", f"1.{version}", 1 << 20, 1000 * uploader + version)
                repeats += RawUpload(self.farm, self.token, wheel).send_until_acknowledged() - 1
                acknowledged[wheel.name] = sha256_of(wheel)
                version += 1
            return repeats

        moments = random.Random(SEED)
        with ThreadPoolExecutor(UPLOADERS) as uploaders:
            running = [uploaders.submit(upload, number) for number in range(UPLOADERS)]
            try:
                for _ in range(KILLS):
                    all_killed.wait(moments.uniform(0.05, 0.5))
                    self.farm.kill()
                    self.farm.start()
            finally:
                all_killed.set()
            repeats = sum(one.result() for one in running)
        print(f"({len(acknowledged)} uploads, {repeats} sent again)", end=" ", flush=True)
        self.assertGreater(repeats, 0, "no kill met an upload")
        self.farm.kill()
        self.farm.start()
        self.assert_whole(acknowledged)


if __name__ == "__main__":
    main()
