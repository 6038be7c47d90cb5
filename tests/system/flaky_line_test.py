"""A line that is cut, slow, or says things twice: what is acknowledged is there, what is fetched is right, and a large wheel goes on
where the cut was: the agent's upload (over a restart of the registry and of the agent) and pip's download.

With WHEELYARD_FULL=1 (scripts/test --full) pip's wheel has a gigabyte.
"""

import base64
import hashlib
import random
import re
import socket
import struct
import subprocess
import threading
import time
import zipfile
from datetime import datetime, timedelta, timezone
from http.client import HTTPException
from pathlib import Path

from support.bad_line import BadLine, Fault
from support.case import FarmCase, main
from support.clients import RawUpload, installed_value, pip_install, twine_upload, uv_publish
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, INDEX, Farm
from support.full import IS_FULL
from support.package_index import PackageIndex, write_sdist
from support.site import Site
from support.wheels import Wheel, sha256_of

MIB = 1 << 20
LARGE = 1024 * MIB if IS_FULL else 24 * MIB
TRIES = 20


def write_large(folder: Path, name: str, size: int) -> Path:
    """A wheel with one stored member of `size` bytes that no compression shrinks; in little memory."""
    wheel = Wheel(name, "1.0")
    members = wheel.members()
    record = next(member for member in members if member.endswith("/RECORD"))
    path = folder / wheel.filename
    noise = random.Random(size).randbytes(MIB)
    digest = hashlib.sha256()
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        entry = zipfile.ZipInfo(f"{wheel.module}/noise.bin", (2026, 1, 1, 0, 0, 0))
        with archive.open(entry, "w", force_zip64=True) as member:
            for number in range(size // MIB):
                piece = number.to_bytes(8, "little") + noise[8:]
                digest.update(piece)
                member.write(piece)
        coded = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
        members[record] = f"{entry.filename},sha256={coded},{size}\n".encode() + members[record]
        for member, data in members.items():
            archive.writestr(zipfile.ZipInfo(member, (2026, 1, 1, 0, 0, 0)), data)
    return path


class ResettingIndex(PackageIndex):
    """Resets each connection on which somebody asks for a project or file of `resets`."""

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.resets = "setuptools"
        self.asked = threading.local()  # a connection has a thread
        close = self.server.shutdown_request

        def close_or_reset(connection: socket.socket) -> None:
            if getattr(self.asked, "is_reset", False):
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return connection.close()
            close(connection)

        self.server.shutdown_request = close_or_reset

    def answer(self, path: str) -> tuple[int, str, bytes]:
        self.asked.is_reset = bool(self.resets) and self.resets in path
        if self.asked.is_reset:
            raise ConnectionResetError
        return super().answer(path)


class AgentTest(FarmCase):
    """The whole agent: it takes a large wheel from an upstream and brings it to its registry."""

    def test_a_large_wheel_survives_cuts_and_a_kill_of_either_side(self):
        farm = self.enterContext(Farm())
        token = farm.create_token()
        farm.start()
        with PackageIndex(self.folder / "sources") as upstream, BadLine(farm) as line:
            wheel = write_large(upstream.folder, "yard-heavy", 24 * MIB)
            site = Site(line.farm, upstream, token, {"yard-heavy": "1.0"},
                        recipes={"yard-heavy": f'[source]\nkind = "upstream"\nindex = "{upstream.url}"\n'},
                        registry='report = "no"\n')  # the faults are for the connections of the upload
            agent: list[subprocess.Popen] = []

            def restart_registry():
                farm.kill()
                farm.start()

            def kill_agent():
                agent[0].kill()

            line.plan([Fault(cut_up=5 * MIB), Fault(cut_up=5 * MIB, then=restart_registry), Fault(cut_up=6 * MIB, then=kill_agent)])
            agent.append(site.start("run"))
            said, _ = agent[0].communicate(timeout=COMMAND_TIMEOUT_S)
            self.assertEqual((agent[0].returncode, line.left, line.struck), (-9, 0, 3), said)
            self.assertEqual(farm.files("yard-heavy"), {})
            body, = (farm.data / "resumable").glob("*.body")
            deadline = time.monotonic() + 240
            # Of the first and the third part, which arrives yet; some of the second died with its server.
            while (kept := body.stat().st_size) < 10 * MIB:
                self.assertLess(time.monotonic(), deadline, f"{kept} bytes were kept")
                time.sleep(0.02)

            sent_before = line.bytes_up
            line.plan([Fault(swallow_from=2 * MIB)])  # the last word is lost
            self.assert_ran(site.builder("run"))
            self.assertEqual(line.struck, 4)
            self.assertEqual(farm.files("yard-heavy")[wheel.name]["hashes"]["sha256"], sha256_of(wheel))
            self.assertLess(line.bytes_up - sent_before, wheel.stat().st_size - kept + 64 * 1024)  # the rest, with some heads
            self.assertEqual(list((farm.data / "resumable").iterdir()), [])
        farm.check_tree()

    def test_an_upload_that_is_refused_in_the_middle_of_its_body_is_sent_again(self):
        """In parts and whole: 500, 429 and a reset there, and a slow line, cost neither a build nor the wheel."""
        farm = self.enterContext(Farm())
        token = farm.create_token()
        farm.start()
        refusals = [f"HTTP/1.1 {status}\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
                    for status in ("500 Internal Server Error", "429 Too Many Requests")]
        for name, size in (("yard-heavy", 24 * MIB), ("yard-light", MIB)):
            with self.subTest(name), PackageIndex(self.folder / name) as upstream, BadLine(farm) as line:
                wheel = write_large(upstream.folder, name, size)
                site = Site(line.farm, upstream, token, {name: "1.0"}, name=f"of-{name}", registry='report = "no"\n',
                            recipes={name: f'[source]\nkind = "upstream"\nindex = "{upstream.url}"\n'})
                line.plan([*(Fault(cut_up=size // 4, answer=answer) for answer in refusals), Fault(cut_up=size // 4), Fault(delay_s=0.01)])
                self.assert_ran(site.builder("run"))
                self.assertEqual((line.left, line.struck), (0, 3))
                self.assertEqual(farm.files(name)[wheel.name]["hashes"]["sha256"], sha256_of(wheel))
                self.assertEqual([attempt["state"] for attempt in site.attempts()], ["done"])
        farm.check_tree()

    def test_an_index_that_resets_connections_uses_no_attempt_of_a_build(self):
        """pip ends with "Could not find a version": that is not what is wrong. With WHEELYARD_FULL=1 also a second failure,
        after which the wait is longer."""
        farm = self.enterContext(Farm())
        token = farm.create_token()
        farm.start()
        with ResettingIndex(self.folder / "resetting") as sources:
            write_sdist(sources.folder, "yard-pure", "1.0", back_end="setuptools>=70")
            site = Site(farm, sources, token, {"yard-pure": "1.0"},
                        scheduler='kind = "local"\nmax_attempts = 1\n[environment]\nPIP_RETRIES = "1"\n')
            for failures in (1, 2) if IS_FULL else (1,):
                self.tick_until_held(site, failures)
            waiting = site.start("run")  # says why nothing happens, and until when
            self.assertRegex(next((line for line in waiting.stdout if "waits" in line), ""), "yard-pure.* waits: tries again after 20")
            waiting.terminate()
            waiting.communicate()
            log = site.builder("logs", "yard-pure").stdout
            self.assertIn("Could not find a version that satisfies the requirement setuptools", log)  # what misleads is there
            self.assertIn("network.interrupted", site.builder("explain", "yard-pure").stdout)
            sources.resets = ""
            self.assert_ran(site.builder("retry", "yard-pure"))
            self.assert_ran(site.builder("run"))
            self.assertEqual(site.plan()["yard-pure"]["state"], "have")

    def tick_until_held(self, site: Site, failures: int) -> None:
        """Until so many attempts have failed, and the next is not due for a minute for each of them."""
        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while time.monotonic() < deadline:
            before = datetime.now(timezone.utc) - timedelta(seconds=1)  # `until` has whole seconds
            self.assert_ran(site.builder("tick"))
            cell = site.plan()["yard-pure"]
            self.assertIn(cell["state"], ("active", "wanted", "held"), cell)
            if f"{failures} of 40 network failures" in cell["reason"]:
                until = datetime.fromisoformat(re.search(r"^tries again after (.{19})", cell["reason"])[1] + "+00:00")
                self.assertTrue(before < until - timedelta(minutes=failures) <= datetime.now(timezone.utc), cell)
                return
            time.sleep(0.5)  # nothing announces the end of a detached job
        self.fail(f"not held: {cell}")


class UploadTest(FarmCase):
    faults = [Fault(cut_up=500), Fault(cut_up=200_000), Fault(swallow_from=MIB // 2), Fault(twice=True), Fault(delay_s=0.01),
              Fault(twice=True, swallow_from=MIB // 2)]

    def assert_served(self, wheel: Path):
        sha256 = sha256_of(wheel)
        self.assertEqual(self.farm.files(wheel.name.partition("-")[0].replace("_", "-"))[wheel.name]["hashes"]["sha256"], sha256)
        status, _, body = self.farm.get(f"/{INDEX}/files/{sha256[:2]}/{sha256}/{wheel.name}")
        self.assertEqual((status, hashlib.sha256(body).hexdigest()), (200, sha256))

    def converge(self, name: str, faults: list[Fault], upload) -> int:
        """Uploads again and again, as a person or a CI job does; the tries it took."""
        wheel = write_large(self.folder, name, MIB)
        with BadLine(self.farm) as line:
            line.plan(faults)
            for tries in range(1, TRIES):
                if upload(line.farm, wheel).returncode == 0:
                    break
            else:
                self.fail(f"no upload in {TRIES} tries")
            self.assertEqual(line.left, 0, "not all of the plan was met")
            self.assert_ran(upload(line.farm, wheel))  # the same bytes are a no-op
        self.assert_served(wheel)
        return tries

    def test_twine_converges_whatever_the_line_does(self):
        def upload(farm, wheel):
            return twine_upload(farm, self.token, wheel)
        struck = [fault for fault in self.faults if fault.cut_up < MIB or fault.swallow_from <= MIB]
        tries = self.converge("by-twine", struck + [Fault(twice=True, delay_s=0.01)], upload)
        self.assertLessEqual(tries, len(struck) + 1)

    def test_every_request_that_is_cut_late_or_doubled_leaves_the_old_state_or_the_new_one(self):
        def status(farm, wheel) -> int:
            try:
                return RawUpload(farm, self.token, wheel).send()[0]
            except (OSError, HTTPException):
                return 0
        for number, fault in enumerate(self.faults + [Fault(cut_down=at) for at in (1, 20, 200)]):
            with self.subTest(fault):
                wheel = write_large(self.folder, f"raw-{number}", MIB)
                with BadLine(self.farm) as line:
                    line.plan([fault])
                    first = status(line.farm, wheel)
                    if first == 200:
                        self.assert_served(wheel)
                    there = self.farm.files(f"raw-{number}")
                    self.assertIn(there.get(wheel.name, {}).get("hashes"), (None, {"sha256": sha256_of(wheel)}))
                    self.assertEqual(status(self.farm, wheel), 200)
                self.assert_served(wheel)
        self.farm.check_tree()

    def test_of_two_wheels_of_one_name_over_a_line_that_doubles_one_wins_and_stays(self):
        wheels = [Wheel("rivals", "1.0", value=value).write(self.folder / str(value)) for value in (1, 2)]
        statuses = []
        with BadLine(self.farm) as line:
            for wheel in wheels * 2:
                line.plan([Fault(twice=True)])
                statuses.append(RawUpload(line.farm, self.token, wheel).send()[0])
        self.assertEqual(statuses, [200, 409, 200, 409])
        self.assert_served(wheels[0])


class DownloadTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.line = self.enterContext(BadLine(self.farm))

    def upload(self, name: str, size: int) -> Path:
        wheel = write_large(self.folder, name, size)
        self.assert_ran(uv_publish(self.farm, self.token, wheel))
        return wheel

    def pip_download(self, wheel: Path, *options: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [CLIENTS / "pip-new/bin/python", "-m", "pip", "--isolated", "download", "--no-cache-dir", "--no-deps", "--index-url",
             self.line.farm.simple_url(), "--dest", self.folder / "got", *options, wheel.name.partition("-")[0].replace("_", "-")],
            env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)

    def test_pip_goes_on_with_a_large_download_that_is_cut(self):
        wheel = self.upload("large-wheel", LARGE)
        # One of the connections may have pages alone, and come to no cut.
        self.line.plan([Fault(cut_down=LARGE // 4)] * 4)
        began = time.monotonic()
        self.assert_ran(self.pip_download(wheel, "--resume-retries", "9"), "Attempting to resume incomplete download")
        took = time.monotonic() - began
        self.assertGreaterEqual(self.line.struck, 2)
        self.assertEqual(sha256_of(self.folder / "got" / wheel.name), sha256_of(wheel))
        # It went on: what was in the buffers of the line came twice, and no more.
        self.assertLess(self.line.bytes_down, LARGE * 3 // 2)
        print(f"({LARGE // MIB} MiB, {self.line.struck} cuts, {(self.line.bytes_down - LARGE) / MIB:.1f} MiB more over the line, pip "
              f"took {took:.0f} s)", end=" ", flush=True)

    def test_bytes_that_come_twice_are_never_installed(self):
        wheel = self.upload("repeated", 2 * MIB)
        self.line.plan([Fault(repeat_down=MIB)] * 6)
        done = pip_install(self.line.farm, "pip-new", self.folder / "target", "repeated")
        self.assertGreater(self.line.struck, 0)
        self.assert_failed(done)
        self.assertFalse((self.folder / "target" / "repeated").exists())
        self.line.plan([])
        self.assert_ran(pip_install(self.line.farm, "pip-new", self.folder / "target", "repeated"))
        self.assertEqual(installed_value("pip-new", self.folder / "target", "repeated"), "1")
        self.assertEqual(sha256_of(self.folder / "target/repeated/noise.bin"), self.member_sha256(wheel))

    @staticmethod
    def member_sha256(wheel: Path) -> str:
        with zipfile.ZipFile(wheel) as archive:
            return hashlib.sha256(archive.read("repeated/noise.bin")).hexdigest()


if __name__ == "__main__":
    main()
