"""The cache of an upstream has a maximum size: the least recently used copies are evicted, come again with the next request, and
what a person keeps stays. A kill at any step leaves nothing half done."""

import hashlib
import os
import shutil
import sqlite3
import time

from support.case import OwnFarmsCase, main
from support.disk import Disk
from support.farm import START_TIMEOUT_S, Farm
from support.faults import KILL, arm, breaks_of
from support.live_tree import paths_in
from support.upstream import Upstream
from support.wheels import Wheel, incompressible

INDEX = "base"
CACHE = f"{INDEX}.public"
KIB, DAY_S = 1024, 24 * 3600


class CacheLimitTest(OwnFarmsCase):
    def setUp(self):
        super().setUp()
        self.upstream = self.enterContext(Upstream())
        self.names = [self.offer(name, number) for number, name in enumerate(("yard-a", "yard-b", "yard-c"))]
        self.farm = self.enterContext(Farm((INDEX,)))
        self.limit(100)
        self.farm.start()

    def offer(self, project: str, seed: int) -> str:
        wheel = Wheel(project, extra_members={f"{project.replace('-', '_')}/data": incompressible(400 * KIB, seed)})
        self.upstream.offer(wheel.write(self.folder / "upstream"))
        return wheel.filename

    def limit(self, mib: int) -> None:
        self.farm.index_settings = {INDEX: f'[[index.upstream]]\nname = "public"\nurl = "{self.upstream.url}"\n'
                                           f'private_hosts = ["127.0.0.1"]\nmax_cache_mib = {mib}\n'}
        self.farm.write_config(self.farm.port)

    def project_of(self, filename: str) -> str:
        return filename.partition("-")[0].replace("_", "-")

    def path_of(self, entry: dict) -> str:
        return f"/{INDEX}" + entry["url"].removeprefix("../..")

    def fetch(self, filename: str) -> None:
        entry = self.farm.files(self.project_of(filename), INDEX)[filename]
        status, _, body = self.farm.get(self.path_of(entry))
        self.assertEqual((status, hashlib.sha256(body).hexdigest()), (200, self.upstream.files[filename].sha256))

    def fetches(self, filename: str) -> int:
        return self.upstream.count(f"/files/{filename}")

    def blob(self, filename: str):
        sha256 = self.upstream.files[filename].sha256
        return self.farm.data / "blobs" / "sha256" / sha256[:2] / sha256

    def make_older(self, days: int) -> None:
        """As if what is there had been fetched earlier. The registry is stopped."""
        with sqlite3.connect(self.farm.data / "catalog.sqlite") as catalog:
            catalog.execute("UPDATE file SET upload_time = upload_time - ?", (days * DAY_S * 1_000_000,))
        catalog.close()
        for path in (self.farm.data / "blobs").rglob("*"):
            if path.is_file():
                os.utime(path, (time.time() - days * DAY_S,) * 2)

    def cached(self) -> list[str]:
        with sqlite3.connect(f"file:{self.farm.data / 'catalog.sqlite'}?mode=ro", uri=True) as catalog:
            rows = catalog.execute("SELECT filename FROM file WHERE index_name = ? ORDER BY filename", (CACHE,)).fetchall()
        catalog.close()
        return [name for name, in rows]

    def in_tree(self, filename: str) -> bool:
        return any(path.name.startswith(filename) for path in paths_in(self.farm.tree / CACHE / "files"))

    def wait_for(self, condition, what: str) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)

    def restart_with_limit(self, mib: int, days: int) -> None:
        self.farm.stop()
        if days:
            self.make_older(days)
        self.limit(mib)
        self.farm.start()

    def fill(self) -> tuple[str, str, str]:
        """Three copies from two days ago: the first was used today."""
        for name in self.names:
            self.fetch(name)
        self.restart_with_limit(100, 2)
        self.fetch(self.names[0])
        return tuple(self.names)

    def test_the_copy_that_was_used_least_recently_goes_and_comes_again_with_the_next_request(self):
        used, unused, other = self.fill()
        self.restart_with_limit(1, 0)
        self.wait_for(lambda: not self.blob(unused).exists(), "the blob of the copy that was not used")
        self.assertEqual(self.cached(), [used, other])
        self.wait_for(lambda: not self.in_tree(unused), "the file in the tree")
        self.assertIn(unused, self.farm.files("yard-b", INDEX))  # offered as before
        self.fetch(unused)
        self.fetch(used)
        self.assertEqual([self.fetches(name) for name in (used, unused, other)], [1, 2, 1])
        log = self.farm.log.read_text()
        self.assertIn("upstream.given_back", log)
        metrics = self.farm.get("/metrics")[2].decode()
        self.assertIn("wheelyard_upstream_given_back_files_total 1", metrics)
        self.assertIn(f'wheelyard_upstream_cache_limit_bytes{{upstream="{CACHE}"}} {1 << 20}', metrics)
        events = self.farm.run("wheelyard-registry", "audit", "-c", self.farm.config).stdout
        self.assertIn("larger than max_cache_mib", events)
        self.farm.check_tree()

    def test_other_bytes_do_not_come_in_the_place_of_a_copy_that_was_evicted(self):
        _, unused, _ = self.fill()
        self.restart_with_limit(1, 0)
        self.wait_for(lambda: not self.blob(unused).exists() and not self.in_tree(unused), "the end of the copy that was not used")
        first = self.farm.files("yard-b", INDEX)[unused]
        self.upstream.files[unused].body = self.upstream.files[unused].body[::-1]
        self.assertEqual(self.farm.get(self.path_of(first))[0], 502)
        # Without its cached pages the catalog still knows the first hash.
        self.farm.stop()
        shutil.rmtree(self.farm.data / "upstream")
        file = self.upstream.files[unused]
        file.sha256 = hashlib.sha256(file.body).hexdigest()
        self.farm.start()
        entry = self.farm.files("yard-b", INDEX)[unused]
        self.assertEqual(self.farm.get(self.path_of(entry))[0], 502)
        self.assertNotIn(unused, self.cached())

    def test_what_is_pinned_what_is_promoted_and_what_the_upstream_no_longer_lists_stays(self):
        used, unused, other = self.fill()
        self.assert_ran(self.farm.run("wheelyard-registry", "pin", CACHE, unused, "-c", self.farm.config))
        self.assert_ran(self.farm.run("wheelyard-registry", "promote", CACHE, other, "--to", INDEX, "-c", self.farm.config))
        del self.upstream.files[used]
        for path in [path for path in paths_in(self.farm.data / "upstream") if path.name == "yard-a.json"]:
            path.write_text(path.read_text().replace('"fresh_until":', '"fresh_until":0,"was":'))
        self.farm.stop()
        self.farm.start()
        self.farm.files("yard-a", INDEX)  # the cached page learns that the upstream has it no more
        self.restart_with_limit(1, 0)
        self.wait_for(lambda: other not in self.cached(), "the copy that was promoted")
        self.assertEqual(self.cached(), [used, unused])
        self.assertTrue(self.blob(other).exists())  # of our own file
        self.assertEqual(list(self.farm.files("yard-c", INDEX)), [other])
        self.wait_for(lambda: not self.in_tree(other), "the file in the tree of the cache")
        self.farm.check_tree()
        self.fetch(other)
        self.assertEqual(self.fetches(other), 1)

    def test_killed_at_any_step_it_is_finished_after_the_next_start(self):
        used, unused, other = self.fill()
        self.farm.stop()
        self.limit(1)
        saved = self.folder / "saved"
        shutil.copytree(self.farm.data, saved)  # as new files, so the hard links of the tree are lost: a start repairs nothing of them
        disk = Disk(self.folder / "notes", self.farm.data)

        def begin(way: str = "", number: int = 0) -> None:
            self.farm.kill()
            shutil.rmtree(self.farm.data)
            shutil.copytree(saved, self.farm.data)
            disk.repair()
            if way:
                arm(disk, way, number)
            self.farm.launch(environment=disk.environment)

        def is_done() -> bool:
            return not self.blob(unused).exists() and unused not in self.cached()

        begin()
        self.wait_for(is_done, "the round of the first start")
        self.farm.kill()
        broken = breaks_of(disk.calls(), [KILL])
        for way, number in broken:
            with self.subTest(way, number=number):
                begin(way, number)
                self.wait_for(lambda: self.farm.process.poll() is not None or is_done(), "the kill")
                self.farm.kill()
                disk.repair()
                self.farm.start()
                self.wait_for(lambda: unused not in self.cached() and not self.in_tree(unused), "the round after the kill")
                self.fetch(used)
                self.fetch(other)
                self.fetch(unused)
                self.farm.check_tree()
                self.assertEqual(self.farm.staging_leftovers(), [])
        print(f"({len(disk.calls())} calls, {len(broken)} kills)", end=" ", flush=True)


if __name__ == "__main__":
    main()
