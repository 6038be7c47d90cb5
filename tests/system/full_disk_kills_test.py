"""The registry is killed again and again on a small disk that fills, by its uploads or by another program: what it acknowledged is
served, administrators can delete on the full disk, and uploads are accepted again once there is room.

Half a minute; ten minutes, each half on a new disk, with WHEELYARD_FULL=1. The data lies on a tmpfs in a mount namespace, which a process of its own keeps over the kills.
"""

import contextlib
import hashlib
import http.client
import json
import os
import random
import shutil
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import urljoin

from full_disk_test import left_in, namespace_with_mounts
from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import BIN, COMMAND_TIMEOUT_S, INDEX, Farm
from support.full import IS_FULL
from support.wheels import Wheel, incompressible, sha256_of

SEED = 20261122
DISKS = 20 if IS_FULL else 1
DURATION_S = 30  # of each disk
DISK_MIB = 64
MIN_FREE_MIB = 4
ROOM_MIB = 16
DELETED_PER_ROUND = 4
WHEEL_BYTES = (200_000, 3_000_000)
UPLOADERS = 3
CHECKED_PER_ROUND = 25  # of the acknowledged files; all of them at the end
MOUNT = f'mount -t tmpfs -o size={DISK_MIB}m wheelyard "$0" && echo mounted && exec sleep {DURATION_S + 10 * COMMAND_TIMEOUT_S}'


class FullDiskKillsTest(FarmCase):
    def mount_disk(self, seed: int):
        self.farm = Farm()
        self.farm.data.mkdir(exist_ok=True)
        self.holder = subprocess.Popen([*namespace_with_mounts(), "sh", "-c", MOUNT, str(self.farm.data)], stdout=subprocess.PIPE)
        self.assertEqual(self.holder.stdout.readline(), b"mounted\n")
        user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
        self.inside = ("nsenter", "--target", str(self.holder.pid), *user, "--mount", "--root", "--wd")
        self.data = Path(f"/proc/{self.holder.pid}/root{self.farm.data}")
        self.farm.config.write_text(self.farm.config.read_text().replace("min_free_mib = 1", f"min_free_mib = {MIN_FREE_MIB}"))
        self.token = json.loads(
            self.command("token", "create", "--json", "--name", "tests", "--action", "upload", "--index", INDEX).stdout)["token"]
        self.random = random.Random(seed)
        self.acknowledged: dict[str, str] = {}  # file name → sha256
        self.deleted: set[str] = set()
        self.strange: list[tuple] = []  # refusals that are not the disk's
        self.disk_mib = DISK_MIB
        self.refused = self.kills = self.fills = self.versions = 0

    def unmount_disk(self):
        self.farm.stop()
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()
        if os.path.ismount(self.farm.data):
            subprocess.run(["umount", self.farm.data], check=True)
        self.farm.__exit__()

    def command(self, *arguments: str) -> subprocess.CompletedProcess:
        done = subprocess.run([*self.inside, str(BIN / "wheelyard-registry"), *arguments, "-c", str(self.farm.config)],
                              env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stdout}{done.stderr}")
        return done

    def start(self):
        self.farm.start(wrapper=self.inside)
        if "min_free_mib = 1\n" in (text := self.farm.config.read_text()):  # the first start writes it again, with its port
            self.farm.config.write_text(text.replace("min_free_mib = 1\n", f"min_free_mib = {MIN_FREE_MIB}\n"))

    def wheel(self) -> Path:
        self.versions += 1
        size = self.random.randint(*WHEEL_BYTES)
        return Wheel("brim", f"1.{self.versions}", extra_members={"brim/data": incompressible(size, self.versions)}).write(self.folder)

    def upload(self, wheels: list[Path]):
        """Sends them in turn until the server is gone or the disk is full."""
        for wheel in wheels:
            try:
                status, problem = RawUpload(self.farm, self.token, wheel).send()
            except (ConnectionError, http.client.HTTPException, TimeoutError):
                return
            if status == 200:
                self.acknowledged[wheel.name] = sha256_of(wheel)
            else:
                self.refused += 1
                if problem.get("code") not in ("upload.disk_full", "upload.page_lags", "upload.busy"):
                    self.strange.append((status, problem))

    def fill(self):
        """As another program fills the disk: to the last block."""
        self.fills += 1
        with contextlib.suppress(OSError), (self.data / "filler").open("wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12):
                while file.write(bytes(size)) == size:
                    pass

    def assert_served(self, names: list[str]):
        shown = self.farm.files("brim")
        for name in names:
            self.assertIn(name, shown, f"{name} was acknowledged and is gone")
            status, _, body = self.farm.get(urljoin(f"/{INDEX}/simple/brim/", shown[name]["url"]))
            self.assertEqual((status, hashlib.sha256(body).hexdigest()), (200, self.acknowledged[name]), name)

    def assert_whole(self, all_files: bool = False):
        names = [name for name in self.acknowledged if name not in self.deleted]
        self.assert_served(names if all_files else self.random.sample(names, min(len(names), CHECKED_PER_ROUND)))
        self.assertEqual(self.deleted & set(self.farm.files("brim")), set())
        self.assertEqual(left_in(self.data), [])

    def delete_some(self):
        """On the full disk: an administrator deletes some of the files, and then makes room: the other program's file goes, and the
        disk grows if that is not enough (gc keeps for an hour what uploads may still need)."""
        names = sorted(name for name in self.acknowledged if name not in self.deleted)
        for name in names[: len(names) // 2][:DELETED_PER_ROUND]:
            self.command("delete", INDEX, name, "--reason", "bad")
            self.deleted.add(name)
        (self.data / "filler").unlink(missing_ok=True)
        while shutil.disk_usage(self.data).free < ROOM_MIB << 20:
            self.disk_mib += ROOM_MIB
            subprocess.run([*self.inside, "mount", "--options-mode", "ignore", "-o", f"remount,size={self.disk_mib}m", str(self.farm.data)], check=True)
        self.farm.wait_until_ready()
        wheel = self.wheel()
        self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
        self.acknowledged[wheel.name] = sha256_of(wheel)

    def test_killed_again_and_again_on_a_disk_that_fills(self):
        for disk in range(DISKS):
            with self.subTest(disk=disk):
                try:
                    self.mount_disk(SEED + disk)
                    self.kill_and_fill()
                finally:
                    self.unmount_disk()

    def kill_and_fill(self):
        self.start()
        deadline = time.monotonic() + DURATION_S
        while time.monotonic() < deadline:
            refused = self.refused
            batches = [[self.wheel() for _ in range(3)] for _ in range(UPLOADERS)]
            uploaders = [threading.Thread(target=self.upload, args=(wheels,)) for wheels in batches]
            for uploader in uploaders:
                uploader.start()
            time.sleep(self.random.uniform(0.02, 0.8))  # the moment of the kill
            fills = self.kills == 0 or self.random.random() < 0.2
            if fills:
                self.fill()
            self.farm.kill()
            self.kills += 1
            for uploader in uploaders:
                uploader.join()
            self.assertEqual(self.strange, [])
            for path in self.folder.glob("brim-*.whl"):
                path.unlink()
            self.start()
            if fills or self.refused > refused:
                self.delete_some()
            else:
                self.farm.wait_until_ready()
            self.assert_whole()
        self.farm.kill()
        self.start()
        self.farm.wait_until_ready()
        self.assert_whole(all_files=True)
        self.command("verify")
        print(f"({self.kills} kills, {len(self.acknowledged)} uploads, {self.refused} refused, {self.fills} times filled by another, "
              f"{len(self.deleted)} deleted)", end=" ", flush=True)


if __name__ == "__main__":
    main()
