"""The registry is killed, at every step and at any moment: what it acknowledged is there, and nothing is half there.

Two ways. `strace` (beside it, -D) kills it at the N-th call that changes the disk, for every N until an upload gets through: each step of an
upload is met once. And a loop kills it at moments drawn from a seed while several uploaders go on as twine would.
"""

import hashlib
import http.client
import random
import shutil
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import Farm
from support.wheels import Wheel, incompressible, sha256_of

# Calls that change what is on the disk. SQLite's and ours; which of them a libc uses does not matter: all are named.
DISK_CALLS = ("fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,"
              "fchmod,fchmodat,chmod,ftruncate,pwrite64")
MOST_STEPS = 400  # of one start and one upload; far more than there are

SEED = 20261120
KILLS = 12
UPLOADERS = 3
WHEELS_EACH = 8


class RegistryKillsTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("strace") is None:
            raise AssertionError("strace is not installed: scripts/install-deps --test")

    def fresh_farm(self) -> Farm:
        farm = Farm()
        self.addCleanup(farm.__exit__)
        self.token = farm.create_token()
        return farm

    def assert_whole(self, farm: Farm, acknowledged: dict[str, str], project_of: dict[str, str]):
        """After a restart: every acknowledged file is shown and served with its bytes, and nothing half done lies around."""
        farm.start()
        for filename, sha256 in acknowledged.items():
            entry = farm.files(project_of[filename]).get(filename)
            self.assertIsNotNone(entry, f"{filename} was acknowledged and is gone")
            self.assertEqual(entry["hashes"]["sha256"], sha256)
            status, _, body = farm.get(f"/debian12/files/{sha256[:2]}/{sha256}/{filename}")
            self.assertEqual((status, hashlib.sha256(body).hexdigest()), (200, sha256))
        farm.check_tree()
        self.assertEqual(farm.staging_leftovers(), [])

    def test_killed_at_every_call_that_changes_the_disk(self):
        farm = self.fresh_farm()
        farm.start().stop()  # first-time set-up is not the subject; a start over what a kill left is
        wheel = Wheel("step", "1.0", extra_members={"step/data": incompressible(300_000)}).write(self.folder)
        other = Wheel("before", "1.0").write(self.folder)
        kills = 0
        for step in range(1, MOST_STEPS):
            before = farm.staging_leftovers()
            log = self.folder / "strace.log"
            wrapper = ("strace", "-D", "-f", "-qq", "-o", str(log), "-e", f"trace={DISK_CALLS}",
                       "-e", f"inject={DISK_CALLS}:signal=KILL:when={step}")
            acknowledged = self.start_and_upload(farm, wrapper, wheel)
            killed = farm.process.poll() is not None
            farm.kill()
            kills += killed
            with self.subTest(step=step, leftovers=before):
                files = {wheel.name: sha256_of(wheel)} if acknowledged else {}
                self.assert_whole(farm, files, {wheel.name: "step"})
                # Whatever state it was killed in: the identical retry converges.
                self.assertEqual(RawUpload(farm, self.token, wheel).send()[0], 200)
                self.assertIn(wheel.name, farm.files("step"))
                self.assertEqual(RawUpload(farm, self.token, other).send()[0], 200)
                farm.stop()
            if not killed:
                break
            # Every step meets a fresh upload: another wheel, since the retry has put this one there.
            wheel = Wheel("step", f"1.{step}", extra_members={"step/data": incompressible(300_000, step)}).write(self.folder)
        self.assertFalse(killed, "no upload got through: MOST_STEPS is too small")
        self.assertGreater(kills, 20, "an upload with fewer durable steps than that syncs too little")

    def start_and_upload(self, farm: Farm, wrapper: tuple[str, ...], wheel) -> bool:
        """Whether the upload was acknowledged before the registry was killed, at its start or during the upload."""
        farm.ready_file.unlink(missing_ok=True)
        farm.launch(wrapper)
        while not farm.ready_file.exists() and farm.process.poll() is None:
            time.sleep(0.005)
        if farm.process.poll() is not None:
            return False
        try:
            return RawUpload(farm, self.token, wheel).send()[0] == 200
        except (ConnectionError, http.client.HTTPException):
            farm.process.wait()
            return False

    def test_killed_at_any_moment_while_uploaders_go_on(self):
        farm = self.fresh_farm().start()
        moments = random.Random(SEED)
        acknowledged: dict[str, str] = {}
        project_of: dict[str, str] = {}
        done = threading.Event()

        def upload(uploader: int) -> int:
            tries = 0
            for number in range(WHEELS_EACH):
                name = f"storm-{uploader}"
                wheel = Wheel(name, f"1.{number}", extra_members={f"storm_{uploader}/data": incompressible(
                    1 << 20, 100 * uploader + number)}).write(self.folder)
                tries += RawUpload(farm, self.token, wheel).send_until_acknowledged()
                project_of[wheel.name] = name
                acknowledged[wheel.name] = sha256_of(wheel)
            return tries

        with ThreadPoolExecutor(UPLOADERS) as uploaders:
            running = [uploaders.submit(upload, number) for number in range(UPLOADERS)]
            for _ in range(KILLS):
                done.wait(moments.uniform(0.02, 0.4))
                farm.kill()
                farm.start()
            tries = sum(one.result() for one in running)
        self.assertEqual(len(acknowledged), UPLOADERS * WHEELS_EACH)
        self.assertGreater(tries, len(acknowledged), "no kill met an upload")
        farm.kill()
        self.assert_whole(farm, acknowledged, project_of)


if __name__ == "__main__":
    main()
