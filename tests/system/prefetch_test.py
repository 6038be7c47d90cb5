"""A site without a way out: what a lock has for nodes of another machine type is fetched beforehand, kept, and installed from
the registry in a network namespace that has nothing but loopback."""

import json
import os
import sqlite3
import subprocess
import time
import unittest
from pathlib import Path

from support.case import OwnFarmsCase, main
from support.clients import CLIENTS, RawUpload, installed_value
from support.farm import COMMAND_TIMEOUT_S, START_TIMEOUT_S, Farm
from support.island import CAN_CUT, WHY_NOT, on_island
from support.upstream import Upstream
from support.wheels import Wheel, incompressible

INDEX, SITE = "base", "gh200"
ARM, X86 = "manylinux_2_28_aarch64", "manylinux_2_28_x86_64"
KIB, DAY_S = 1024, 24 * 3600


class PrefetchTest(OwnFarmsCase):
    def setUp(self):
        super().setUp()
        self.upstream = self.enterContext(Upstream())
        self.torch = {machine: self.offer("yard-torch", f"cp312-cp312-{machine}", "Requires-Dist: yard-six>=1",
                                          "Requires-Dist: yard-arm; platform_machine == 'aarch64'",
                                          "Requires-Dist: yard-intel; platform_machine == 'x86_64'") for machine in (ARM, X86)}
        self.six = self.offer("yard-six", "py3-none-any")
        self.old_six = self.offer("yard-six", "py3-none-any", version="0.9")
        self.arm = self.offer("yard-arm", f"cp312-cp312-{ARM}")
        self.intel = self.offer("yard-intel", f"cp312-cp312-{X86}")
        self.other = self.offer("yard-other", "py3-none-any")
        self.farm = self.enterContext(Farm((INDEX, SITE)))
        self.limit(0)
        self.farm.start()
        self.torch_lock = self.resolve("yard-torch")

    def offer(self, project: str, tags: str, *lines: str, version: str = "1.0") -> str:
        module = project.replace("-", "_")
        wheel = Wheel(project, version, tags=(tags,), metadata_lines=lines, extra_members={f"{module}/data": incompressible(300 * KIB, len(tags))})
        self.upstream.offer(wheel.write(self.folder / "upstream"), metadata=wheel.members()[f"{module}-{version}.dist-info/METADATA"])
        return wheel.filename

    def limit(self, mib: int, more: str = "") -> None:
        self.farm.index_settings = {INDEX: f'[[index.upstream]]\nname = "public"\nurl = "{self.upstream.url}"\n'
                                           f'private_hosts = ["127.0.0.1"]\nmax_cache_mib = {mib}\n{more}',
                                    SITE: 'inherits = ["base"]'}
        self.farm.write_config(self.farm.port)

    def resolve(self, *requirements: str) -> Path:
        """As a user does: uv resolves for all kinds of nodes, against the index of the running server."""
        lock = self.folder / f"pylock.{requirements[0]}.toml"
        self.assert_ran(subprocess.run(
            [CLIENTS / "uv/bin/uv", "pip", "compile", "-", "--universal", "--python-version", "3.12", "--only-binary", ":all:", "--no-config",
             "--no-cache", "--no-python-downloads", "--format", "pylock.toml", "--default-index", self.farm.simple_url(SITE), "-o", lock],
            input="\n".join(requirements), capture_output=True, text=True, env=self.farm.environment, timeout=COMMAND_TIMEOUT_S))
        return lock

    def prefetch(self, *more, platform: str = ARM):
        return self.farm.run("wheelyard-registry", "prefetch", SITE, "--python", "3.12", "--platform", platform, "-c", self.farm.config, *more)

    def cached(self) -> list[str]:
        with sqlite3.connect(f"file:{self.farm.data / 'catalog.sqlite'}?mode=ro", uri=True) as catalog:
            rows = catalog.execute("SELECT filename FROM file ORDER BY filename").fetchall()
        catalog.close()
        return [name for name, in rows]

    def on_island(self, *command) -> subprocess.CompletedProcess:
        self.upstream.stop()
        return on_island(self.farm, *command)

    @unittest.skipUnless(CAN_CUT, WHY_NOT)
    def test_a_node_of_another_machine_type_installs_without_a_way_out(self):
        done = self.prefetch("--lock", self.torch_lock)
        self.assert_ran(done)
        self.assertIn("kept as default: 3 files", done.stdout)
        self.assertEqual(self.cached(), sorted([self.torch[ARM], self.six, self.arm]))
        for name in (self.torch[X86], self.old_six, self.intel, self.other):
            self.assertEqual(self.upstream.count(f"/files/{name}"), 0)
        self.farm.check_tree()
        into = self.folder / "into"
        installed = self.on_island(
            CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--python", CLIENTS / "pip-new/bin/python", "--target", into,
            "--python-platform", "aarch64-manylinux_2_28", "--python-version", "3.12", "--only-binary", ":all:",
            "--index-url", self.farm.simple_url(SITE), "yard-torch")
        self.assert_ran(installed)
        self.assertEqual(sorted(path.name for path in into.glob("yard_*-*")),
                         ["yard_arm-1.0.dist-info", "yard_six-1.0.dist-info", "yard_torch-1.0.dist-info"])
        self.assertEqual(installed_value("pip-new", into, "yard_six"), "1")

    @unittest.skipUnless(CAN_CUT, WHY_NOT)
    def test_pip_installs_from_a_lock_that_was_prefetched(self):
        lock = self.folder / "pylock.toml"
        entry = self.upstream.files[self.six]
        lock.write_text('lock-version = "1.0"\ncreated-by = "tests"\n[[packages]]\nname = "yard-six"\nversion = "1.0"\n'
                        f'wheels = [{{ url = "https://files.example.org/{self.six}", hashes = {{ sha256 = "{entry.sha256}" }} }}]\n'
                        '[[packages]]\nname = "yard-intel"\nversion = "1.0"\nmarker = "platform_machine == \'x86_64\'"\n')
        self.assert_ran(self.prefetch("-r", lock))
        self.assertEqual(self.cached(), [self.six])
        into = self.folder / "into"
        installed = self.on_island(CLIENTS / "pip-new/bin/python", "-m", "pip", "install", "--no-cache-dir", "--target", into, "--platform", ARM,
                                   "--python-version", "3.12", "--only-binary", ":all:", "--index-url", self.farm.simple_url(SITE), "yard-six")
        self.assert_ran(installed)
        self.assertEqual(installed_value("pip-new", into, "yard_six"), "1")
        lock.write_text(lock.read_text().replace(entry.sha256, "0" * 64))
        self.farm.start()
        self.assert_failed(self.prefetch("-r", lock), "The lock has another hash for this wheel")

    def test_a_name_with_its_version_is_fetched_without_what_it_needs(self):
        self.assert_ran(self.prefetch("yard-torch==1.0", "Yard_Six==0.9"), "kept as default: 2 files")
        self.assertEqual(self.cached(), sorted([self.torch[ARM], self.old_six]))
        for name in ("yard-torch", "yard-torch>=1", "yard-torch==1.*", "yard-torch[x]==1.0", "yard-torch==1.0; python_version > '3'"):
            self.assert_failed(self.prefetch(name), "The name has no exact version", "uv pip compile")
        self.assert_failed(self.prefetch("yard-torch==2.0"), "The index offers no wheel for Python 3.12 on " + ARM)

    def test_what_was_prefetched_is_kept_beyond_the_limit_until_it_is_forgotten(self):
        self.assert_ran(self.prefetch("--lock", self.torch_lock, "--name", "nodes"))
        entry = self.farm.files("yard-other", INDEX)[self.other]
        self.assertEqual(self.farm.get(f"/{INDEX}" + entry["url"].removeprefix("../.."))[0], 200)
        self.assertEqual(len(self.cached()), 4)
        self.restart_a_day_later(1)
        self.wait_for(lambda: self.other not in self.cached())
        self.assertEqual(self.cached(), sorted([self.torch[ARM], self.six, self.arm]))
        self.farm.stop()
        record = self.farm.data / "prefetch" / SITE / "nodes.json"
        text = record.read_text()
        record.write_text(text[:20])  # what it keeps is unknown, so nothing is evicted
        self.limit(1)
        self.farm.start()
        self.assertEqual(len(self.cached()), 3)
        record.write_text(text)
        forgotten = self.farm.run("wheelyard-registry", "prefetch", SITE, "--name", "nodes", "--forget", "--json", "-c", self.farm.config)
        self.assert_ran(forgotten)
        document = json.loads(forgotten.stdout)
        self.assertEqual((document["format"], document["name"], document["files"]), ("wheelyard.prefetch/1", "nodes", []))
        self.assert_failed(self.farm.run("wheelyard-registry", "prefetch", SITE, "--name", "nodes", "--forget", "-c", self.farm.config),
                           "Nothing is kept under this name")
        self.assertFalse(record.exists())

    def restart_a_day_later(self, mib: int) -> None:
        self.farm.stop()
        with sqlite3.connect(self.farm.data / "catalog.sqlite") as catalog:
            catalog.execute("UPDATE file SET upload_time = upload_time - ?", (DAY_S * 1_000_000,))
        catalog.close()
        for path in (self.farm.data / "blobs").rglob("*"):
            if path.is_file():
                os.utime(path, (time.time() - DAY_S,) * 2)
        self.limit(mib)
        self.farm.start()

    def wait_for(self, condition) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_cooldown_and_deny_hold_and_json_says_what_failed(self):
        self.limit(0, 'deny = ["yard-arm"]\n')
        self.farm.stop()
        self.farm.start()
        self.assert_failed(self.prefetch("--lock", self.torch_lock), "The index has no such project", "yard-arm")
        done = self.prefetch("--lock", self.torch_lock, "--json", platform=X86)
        self.assert_ran(done)
        document = json.loads(done.stdout)
        self.assertEqual([file["filename"] for file in document["files"]], sorted([self.intel, self.six, self.torch[X86]]))
        self.assertEqual((document["format"], document["failed"]), ("wheelyard.prefetch/1", []))
        self.upstream.files[self.other].body = b"other bytes"
        failed = self.prefetch("yard-other==1.0", "--json")
        self.assert_failed(failed, "Some files were not fetched")
        self.assertEqual([entry["filename"] for entry in json.loads(failed.stdout)["failed"]], [self.other])

    def test_mistakes_are_explained(self):
        self.assert_failed(self.prefetch("-r", "requirements.txt"), "This is no lock by its name", "uv pip compile")
        self.assert_failed(self.prefetch("--lock", self.torch_lock, platform="linux"), "This is not a platform of nodes")
        self.assert_failed(self.prefetch(), "prefetch needs a lock or names, and --python and --platform")
        self.assert_failed(self.prefetch("--lock", self.torch_lock, "--name", "../up"), "A name of a prefetch is written like an index's")
        self.assertFalse((self.farm.data / "prefetch").exists())
        socket = self.farm.config.read_text().replace(f'"{self.farm.host}:{self.farm.port}"', '"unix:run/http.sock"')
        self.farm.config.write_text(socket)
        self.assert_failed(self.prefetch("--lock", self.torch_lock), "no address of the server but sockets", "--url https://HOST/PREFIX", "also_listen")
        for key in (f'also_listen = ["{self.farm.host}:{self.farm.port}"]', f'public_url = "{self.farm.url}"'):
            self.farm.config.write_text(socket.replace("[server]\n", f"[server]\n{key}\n"))
            self.assert_ran(self.prefetch("--lock", self.torch_lock), "kept as default: 3 files")


if __name__ == "__main__":
    main()
