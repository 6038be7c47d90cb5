"""A tree that follows a registry over HTTP: pip installs from it and avail_wheels answers as before the original, facts included,
through every change; and whatever becomes of a round (killed, a failing or full disk, at any call that changes the tree), the next
one ends it.
"""

import functools
import http.server
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload, installed_value, pip_install
from support.disk import ALL, Disk
from support.farm import BIN, INDEX
from support.faults import EIO, FULL_DISK, KILL, SHORT, arm, breaks_of, say
from support.wheels import Wheel

PATIENCE_S = 60
PROGRAM = (BIN / "wheelyard-indexer").read_bytes()
SANITIZED = b"__asan_init" in PROGRAM or b"__tsan_init" in PROGRAM
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # the fsyncs of a real disk are not the question here
QUESTIONS = (("*", "--all", "--json"), ("*", "--all", "--why", "--json"), ("yard*",), ("native", "--all", "--raw"),
             ("absent", "--not-available"))


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class PlainFarm:
    """What pip_install needs to know of a farm."""

    def __init__(self, farm, simple_url: str):
        self.environment = farm.environment
        self._simple_url = simple_url

    def simple_url(self, _index: str) -> str:
        return self._simple_url


class FollowedTreeTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.here = Path(tempfile.mkdtemp(prefix="wheelyard-follow-", dir=IN_MEMORY))
        self.addCleanup(shutil.rmtree, self.here, ignore_errors=True)
        self.tree = self.here / "tree"
        self.tree.mkdir()
        self.notes = 0

    def elf(self) -> bytes:
        """So that a wheel has facts."""
        source, library = self.folder / "yard.c", self.folder / "yard.so"
        source.write_text("int yard(void) { return 1; }\n")
        subprocess.run(["cc", "-shared", "-nostdlib", "-fPIC", "-o", library, source], check=True)
        return library.read_bytes()

    def upload(self, *wheels: Wheel) -> None:
        for wheel in wheels:
            status, problem = RawUpload(self.farm, self.token, wheel.write(self.folder / "wheels")).send()
            self.assertEqual(status, 200, problem)

    def change(self, verb: str, *words: str) -> None:
        self.assert_ran(self.farm.run("wheelyard-registry", verb, INDEX, *words, "-c", self.farm.config))

    def wait_for_wheel_list(self) -> None:
        """Of the original: it comes behind its pages, and says at which event it is."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            tail = self.farm.get(f"/{INDEX}/events/tail.tsv")[2].decode()
            status, _, head = self.farm.get(f"/{INDEX}/simple/catalogue.txt")
            if status == 200 and int(head.split(b"\t")[1]) >= json.loads(tail.split("\n")[0])["serial"]:
                return
            self.assertLess(time.monotonic(), deadline, self.farm.log.read_text()[-2000:])
            time.sleep(0.02)  # until an outside process has done something: nothing announces it

    def follow(self, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess:
        return self.farm.run("wheelyard-indexer", "follow", "--from", f"{self.farm.url}/{INDEX}/", "--to", self.tree, "--json",
                             environment=self.farm.environment | (environment or {}))

    def follow_all(self) -> None:
        self.wait_for_wheel_list()
        done = self.follow()
        self.assert_ran(done)
        self.assertEqual(json.loads(done.stdout)["uncatalogued"], 0)
        self.assert_ran(self.farm.run("wheelyard-indexer", "check", "--to", self.tree), "every link is valid")

    def serve(self) -> str:
        """The tree behind a web server that knows nothing of packages; its address."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(self.here)))
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}/tree"

    def answers(self, url: str) -> list[str]:
        found = []
        for question in QUESTIONS:
            done = self.farm.run("avail_wheels", "--refresh", "--index-url", f"{url}/{INDEX}/simple/", *question)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            found.append(done.stdout.replace(url, "URL"))
        return found

    def assert_answers_as_the_original(self, url: str) -> list[str]:
        theirs, ours = self.answers(self.farm.url), self.answers(url)
        self.assertEqual(theirs, ours)
        return ours

    def test_avail_wheels_answers_as_before_the_original_through_every_change(self):
        url = self.serve()
        native = {"native/yard.so": self.elf()}
        first = Wheel("native", "1.0", tags=("cp312-cp312-linux_x86_64",), extra_members=native)
        self.upload(first, Wheel("yard-pure", "1.9"), Wheel("yard-pure", "1.10", requires_python=">=3.8"))
        self.follow_all()
        self.assert_answers_as_the_original(url)
        self.assertIn('"machines":["x86_64"]', (self.tree / INDEX / "simple/catalogue.txt").read_text())

        self.upload(Wheel("native", "1.1", tags=("cp312-cp312-linux_x86_64",), extra_members=native), Wheel("yard-new", "2.0+site.1"))
        self.change("yank", first.filename, "--reason", "slow, and <bad>")
        self.change("delete", "yard_pure-1.10-py3-none-any.whl", "--reason", "wrong")
        self.follow_all()
        answers = self.assert_answers_as_the_original(url)
        self.assertNotIn("1.10", "".join(answers))
        self.assertIn("native-1.1", answers[0])
        target = self.folder / "installed"
        self.assert_ran(pip_install(PlainFarm(self.farm, f"{url}/{INDEX}/simple/"), "pip-new", target, "yard-new"))
        self.assertEqual(installed_value("pip-new", target, "yard_new"), "1")

    def test_whatever_becomes_of_a_round_the_next_one_ends_it(self):
        if SANITIZED:
            self.skipTest("a sanitizer does not run under another preloaded library; the release build's tests run this")
        url = self.serve()
        self.upload(Wheel("yard-kept"), Wheel("yard-gone"))
        self.follow_all()
        before = self.answers(url)
        self.upload(Wheel("faulty", extra_members={"faulty/yard.so": self.elf()}, tags=("cp312-cp312-linux_x86_64",)))
        self.change("yank", "yard_kept-1.0-py3-none-any.whl", "--reason", "slow")
        self.change("delete", "yard_gone-1.0-py3-none-any.whl", "--reason", "wrong")
        self.wait_for_wheel_list()
        after = self.answers(self.farm.url)
        saved = self.here / "saved"
        shutil.copytree(self.tree, saved, symlinks=True)

        disk = Disk(self.here / "notes", self.tree, part=ALL)
        self.assert_ran(self.follow(disk.environment))
        self.assertEqual(self.answers(url), after)
        calls = disk.calls()
        self.assertTrue(any(call.is_of_catalogue for call in calls))
        ways = (KILL, EIO, FULL_DISK, SHORT)  # a sample of each part
        broken = [one for is_one in (False, True) for one in breaks_of([call for call in calls if call.is_of_catalogue == is_one], ways)]
        outcomes: Counter = Counter()
        for way, at in broken:
            with self.subTest(way=way, call=calls[at - 1].name, path=calls[at - 1].path):
                shutil.rmtree(self.tree)
                shutil.copytree(saved, self.tree, symlinks=True)
                arm(disk, way, at)
                done = self.follow(disk.environment)
                self.assertTrue(disk.has_broken, "this run did not come to the call that the watched one made")
                self.assertIn(done.returncode, {KILL: (-9,), SHORT: (0,)}.get(way, (0, 1)), done.stderr)
                if done.returncode == 1:
                    self.assertIn("wheelyard-indexer: ", done.stderr)
                found = self.answers(url)
                self.assertIn(found, (before, after))
                if done.returncode == 0:
                    self.assertEqual(found, after, "it said that it was done")
                outcomes["left the new catalogue" if found == after else "left the old one"] += 1
                self.follow_all()
                self.assertEqual(self.answers(url), after)
                leftovers = [path for path in self.tree.rglob("*") if ".tmp." in path.name]
                leftovers += [path for path in (self.tree / ".wheelyard/catalogues").iterdir() if not path.name.startswith("from-")]
                self.assertEqual(leftovers, [])
        say("follow", calls, broken, outcomes)


if __name__ == "__main__":
    main()
