"""The registry is killed at any moment, drawn from a seed, while several uploaders go on as twine would: what it acknowledged is
there, and nothing is half there. (At every single call that changes the disk: disk_faults_test.py.)
"""

import hashlib
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload
from support.wheels import Wheel, incompressible, sha256_of

SEED = 20261120
KILLS = 12
UPLOADERS = 3


class RegistryKillsTest(FarmCase):
    def wheel(self, project: str, version: str = "1.0", size: int = 100_000, seed: int = 1) -> Path:
        return Wheel(project, version, extra_members={f"{project}/data": incompressible(size, seed)}).write(self.folder)

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
