"""The registry is killed at every step of a fetch from an upstream: in the page's cache file, while the file arrives and a client reads
it, in its blob, its row and its published page. After the restart nothing wrong is served, nothing is half there, and the first hash
counts. In every run a sample of the steps, chosen by a seed; with WHEELYARD_FULL=1 every call that changes the disk.
"""

import contextlib
import hashlib
import http.client
import itertools
import json
import random
import shutil
import subprocess
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

from support.case import main
from support.disk import ALL, Call, Disk
from support.farm import BIN, COMMAND_TIMEOUT_S, Farm
from support.faults import SAMPLE, SEED
from support.full import IS_FULL
from support.upstream import Upstream
from support.wheels import Wheel, incompressible

INDEX = "base"
PROGRAM = (BIN / "wheelyard-registry").read_bytes()
SANITIZED = b"__asan_init" in PROGRAM or b"__tsan_init" in PROGRAM
DEATH_TIMEOUT_S = 60
SIMPLE_JSON = "application/vnd.pypi.simple.v1+json"


class FetchKillsTest(unittest.TestCase):
    def setUp(self):
        if SANITIZED:
            self.skipTest("a sanitizer does not run under another preloaded library; the release build's tests run this")
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-fetch-kills-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.upstream = self.enterContext(Upstream())
        self.wheel = Wheel("yard-large", extra_members={"yard_large/data": incompressible(2 << 20)})
        self.offered = self.upstream.offer(self.wheel.write(self.folder / "upstream"))
        self.right = self.offered.sha256
        rules = f'[[index.upstream]]\nname = "public"\nurl = "{self.upstream.url}"\nprivate_hosts = ["127.0.0.1"]\n'
        self.farm = self.enterContext(Farm((INDEX,), folder=self.folder, settings="io_threads = 1\nupload_threads = 1", index_settings={INDEX: rules}))
        self.farm.start()
        self.farm.stop()
        self.saved_serial = self.published()["serial"]
        self.disk = Disk(self.folder / "notes", self.farm.data, part=ALL)
        self.saved = self.folder / "saved"
        shutil.copytree(self.farm.data, self.saved, symlinks=True)

    def start_empty(self) -> None:
        self.farm.kill()
        shutil.rmtree(self.farm.data)
        shutil.copytree(self.saved, self.farm.data, symlinks=True)
        self.disk.repair()
        self.farm.start(environment=self.disk.environment)
        self.disk.repair()  # the count begins with the fetch

    def get(self, path: str, accept: str = "") -> tuple[int, bytes] | None:
        """None: the server went away, or the body was cut."""
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=COMMAND_TIMEOUT_S)
        try:
            connection.request("GET", path, headers={"Accept": accept} if accept else {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def fetch(self) -> tuple[tuple[int, bytes] | None, tuple[int, bytes] | None]:
        """The page and the file, as an installer asks for them."""
        page = self.get(f"/{INDEX}/simple/{self.wheel.name}/", SIMPLE_JSON)
        if page is None:
            return None, None
        self.assertEqual(page[0], 200, page[1])
        [entry] = json.loads(page[1])["files"]
        self.assertEqual(entry["hashes"]["sha256"], self.right)
        return page, self.get(f"/{INDEX}/" + entry["url"].removeprefix("../../"))

    def assert_right(self, answer: tuple[int, bytes] | None) -> None:
        self.assertIsNotNone(answer)
        self.assertEqual((answer[0], hashlib.sha256(answer[1]).hexdigest()), (200, self.right))

    def published(self) -> dict:
        """How far the tree is (indexer/tree/published_state.hpp)."""
        return json.loads((self.farm.tree / ".wheelyard/published.json").read_text())

    def wait_until_published(self) -> None:
        """The file is answered before its page, the list of projects and the page of links are written; what stays away, check_tree()
        names. A tree that is being written would be named, too."""
        pages = [self.farm.tree / INDEX / "simple/index.html", self.farm.tree / INDEX / "find-links/index.html"]

        def is_published() -> bool:
            if not all(page.exists() and self.wheel.name in page.read_text() for page in pages):
                return False
            published = self.published()
            return published["serial"] == published["find_links"] > self.saved_serial

        deadline = time.monotonic() + COMMAND_TIMEOUT_S
        while not is_published() and time.monotonic() < deadline:
            time.sleep(0.05)

    def steps(self) -> list[Call]:
        """The calls of a fetch that nothing breaks. Without IS_FULL the first one of each row of the same calls in the same folder: a
        large file is one row of writes."""
        self.start_empty()
        self.assert_right(self.fetch()[1])
        calls = self.disk.calls()
        if IS_FULL:
            return calls
        rows = itertools.groupby(calls, key=lambda call: (call.name, call.path.split("/")[0]))
        firsts = [next(row) for _, row in rows]
        return random.Random(SEED).sample(firsts, min(SAMPLE, len(firsts)))

    def test_killed_at_each_step(self):
        outcomes: Counter = Counter()
        body = self.offered.body
        for step in self.steps():
            with self.subTest(number=step.number, call=step.name, path=step.path):
                self.start_empty()
                self.disk.kill_at(step.number)
                page, answer = self.fetch()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.farm.process.wait(DEATH_TIMEOUT_S)  # by the call, which may be one that follows the answer
                outcomes["killed" if self.disk.has_broken else "not met"] += 1
                if answer is not None:
                    self.assert_right(answer)
                    outcomes["answered"] += 1
                self.disk.repair()
                self.farm.kill()
                self.farm.start(environment=self.disk.environment)
                self.assertEqual(self.farm.staging_leftovers(), [])
                # What was answered is kept, whatever the upstream says from now on.
                if page is not None:
                    self.offered.sha256 = hashlib.sha256(b"other").hexdigest()
                if answer is not None:
                    self.offered.body = b"other"
                self.assert_right(self.fetch()[1])
                self.offered.body, self.offered.sha256 = body, self.right
                self.wait_until_published()
                self.farm.check_tree()
        print(f"({', '.join(f'{count} {what}' for what, count in outcomes.items())})", end=" ", flush=True)
        self.assertGreater(outcomes["killed"], outcomes["not met"])


if __name__ == "__main__":
    main()
