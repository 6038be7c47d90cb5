"""A registry whose wheels are in an S3 bucket: a real store takes the uploads, and real clients get the files by redirect or through the
server. The store dies in the middle of uploads, and nothing that was acknowledged is lost. The commands are those of docs/how-to/s3.md."""

import base64
import contextlib
import hashlib
import http.client
import json
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
import unittest
import zipfile
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload, pip_install, twine_upload
from support.daemons import which
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, INDEX, Farm
from support.full import IS_FULL
from support.live_tree import paths_in
from support.s3_store import BUCKET, S3Store, missing, versitygw
from support.upstream import Upstream
from support.wheels import Wheel, incompressible

PRIVATE = "secret"
PREFIX = "farm"
MIB = 1 << 20
HOURS_US = 3_600_000_000
PART_MIB = 64  # larger wheels are sent in parts
WHEELS_BEFORE_KILL = 3


class S3Farm(Farm):
    """A farm whose [stores] names the bucket; or, without a store, the data folder."""

    def __init__(self, store: S3Store, folder: Path, public: bool = True, prefix: str = PREFIX):
        folder.mkdir(exist_ok=True)
        super().__init__((INDEX, PRIVATE), folder=folder, index_settings={PRIVATE: 'read = "token"'}, stores=store.settings(f"/{prefix}", public))


class CountingLine:
    """A line to the store, in front of its port, that counts the requests of clients."""

    def __init__(self, port: int):
        self.to, self.requests = port, 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    def __enter__(self) -> "CountingLine":
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self._listener.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):  # closed
            while True:
                client = self._listener.accept()[0]
                threading.Thread(target=self._pass, args=(client,), daemon=True).start()

    def _pass(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self.to)) as server:
            threading.Thread(target=self._pump, args=(server, client), daemon=True).start()
            self._pump(client, server, counts=True)

    def _pump(self, source: socket.socket, target: socket.socket, counts: bool = False) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(1 << 16):
                self.requests += counts and piece.count(b" HTTP/1.1\r\n")
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)


class FlippingLine(CountingLine):
    """Flips one byte of each object that it brings, once `flips` is true."""

    flips = False

    def _pass(self, client: socket.socket) -> None:
        awaits_object = threading.Event()

        def send() -> None:
            with contextlib.suppress(OSError):
                while piece := client.recv(1 << 16):
                    if self.flips and piece.startswith(b"GET ") and b"/sha256/" in piece.partition(b"\r\n")[0]:
                        awaits_object.set()
                    server.sendall(piece)
                server.shutdown(socket.SHUT_WR)

        with client, socket.create_connection(("127.0.0.1", self.to)) as server, contextlib.suppress(OSError):
            threading.Thread(target=send, daemon=True).start()
            answer = bytearray()
            while piece := server.recv(1 << 16):
                answer += piece
                body = answer.find(b"\r\n\r\n") + 4
                if awaits_object.is_set():
                    if len(answer) <= body or body < 4:
                        continue
                    answer[body] ^= 1
                    awaits_object.clear()
                client.sendall(answer)
                answer.clear()
            client.sendall(answer)


def metadata_sha256(wheel: Path) -> str:
    """Of its METADATA, which is an object, too."""
    with zipfile.ZipFile(wheel) as members:
        name = next(name for name in members.namelist() if name.endswith(".dist-info/METADATA"))
        return hashlib.sha256(members.read(name)).hexdigest()


@unittest.skipIf(missing(), missing())
class S3Test(FarmCase):
    kind = ""  # what is installed

    @classmethod
    def setUpClass(cls):
        cls.home = Path(tempfile.mkdtemp(prefix="wheelyard-s3-"))
        cls.addClassCleanup(shutil.rmtree, cls.home, ignore_errors=True)
        cls.store = S3Store(cls.home / "store", cls.kind)
        cls.addClassCleanup(cls.store.__exit__)
        cls.store.__enter__()
        cls.farm = S3Farm(cls.store, cls.home / "farm-folder")
        cls.addClassCleanup(cls.farm.__exit__)
        cls.token = cls.farm.create_token(actions=("upload", "read"))
        cls.farm.start()

    def wheel(self, project: str, kib: int = 200, seed: int = 1, version: str = "1.0") -> Path:
        module = project.replace("-", "_")
        return Wheel(project, version, extra_members={f"{module}/data": incompressible(kib << 10, seed)}).write(self.folder)

    def upload(self, wheel: Path, index: str = INDEX) -> str:
        return self.upload_to(self.farm, wheel, index)

    def upload_to(self, farm: Farm, wheel: Path, index: str = INDEX) -> str:
        """Uploads it; its hash."""
        status, problem = RawUpload(farm, self.token, wheel, index).send()
        self.assertEqual(status, 200, problem)
        return hashlib.sha256(wheel.read_bytes()).hexdigest()

    def ask(self, wheel: Path, sha256: str, index: str = INDEX, method: str = "GET", end: str = "", **headers: str):
        """(status, headers, body) of a file, without following redirects."""
        connection = http.client.HTTPConnection("127.0.0.1", self.farm.port, timeout=COMMAND_TIMEOUT_S)
        try:
            if index == PRIVATE:
                headers["Authorization"] = "Basic " + base64.b64encode(f"__token__:{self.token}".encode()).decode()
            connection.request(method, f"/{index}/files/{sha256[:2]}/{sha256}/{wheel.name}{end}", headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def follow(self, url: str, **headers: str):
        self.assertTrue(url.startswith(self.store.url), url)
        connection = http.client.HTTPConnection("127.0.0.1", self.store.port, timeout=COMMAND_TIMEOUT_S)
        try:
            connection.request("GET", url.removeprefix(self.store.url), headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def command(self, name: str, *arguments):
        return self.farm.run("wheelyard-registry", *name.split(), "-c", self.farm.config, *arguments)

    def key(self, sha256: str) -> str:
        return f"{PREFIX}/sha256/{sha256[:2]}/{sha256}"

    # --- files --------------------------------------------------------------------------------------------------------

    def test_real_clients_upload_and_install_through_the_redirect(self):
        """Its name has what clients and stores encode in different ways."""
        wheel = self.wheel("yard-clients", 900, version="1!2.0+site.1")
        self.assert_ran(twine_upload(self.farm, self.token, wheel))
        self.assertEqual(self.store.object(self.key(hashlib.sha256(wheel.read_bytes()).hexdigest())), wheel.read_bytes())
        for pip in ("pip-old", "pip-new"):
            self.assert_ran(pip_install(self.farm, pip, self.folder / pip, "yard-clients"))
            self.assertEqual((self.folder / pip / "yard_clients/data").stat().st_size, 900 << 10)
        self.assert_ran(subprocess.run(
            [CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--no-deps", "--python", CLIENTS / "pip-new/bin/python",
             "--target", self.folder / "uv", "--index-url", self.farm.simple_url(), "yard-clients"],
            env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
        self.assertEqual((self.folder / "uv/yard_clients/data").stat().st_size, 900 << 10)
        self.farm.check_tree()

    def test_a_second_pip_with_its_cache_makes_no_request_to_the_store(self):
        wheel = self.wheel("yard-cached", 300, seed=12)
        with CountingLine(self.store.port) as line:
            settings = self.store.settings(f"/{PREFIX}-cached").replace(f'blobs_public_endpoint = "{self.store.url}"',
                                                                        f'blobs_public_endpoint = "http://127.0.0.1:{line.port}"')
            with Farm((INDEX,), stores=settings) as farm:
                token = farm.create_token()
                farm.start()
                self.assertEqual(RawUpload(farm, token, wheel).send()[0], 200)
                for attempt in range(2):  # the URL changes each quarter of an hour
                    url, requests = self._location(farm, wheel), [line.requests]
                    for number in range(2):
                        target = self.folder / f"{attempt}-{number}"
                        self.assert_ran(subprocess.run(
                            [CLIENTS / "pip-new/bin/python", "-m", "pip", "--isolated", "download", "--no-deps", "--dest", target,
                             "--cache-dir", self.folder / f"cache-{attempt}", "--trusted-host", "127.0.0.1",
                             "--index-url", farm.simple_url(), "yard-cached"],
                            env=farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
                        self.assertEqual((target / wheel.name).read_bytes(), wheel.read_bytes())
                        requests.append(line.requests)
                    if self._location(farm, wheel) == url:
                        break
                self.assertEqual([after - before for before, after in zip(requests, requests[1:])], [1, 0])

    def _location(self, farm: Farm, wheel: Path) -> str:
        sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
        connection = http.client.HTTPConnection("127.0.0.1", farm.port, timeout=COMMAND_TIMEOUT_S)
        connection.request("GET", f"/{INDEX}/files/{sha256[:2]}/{sha256}/{wheel.name}")
        location = connection.getresponse().headers["Location"]
        connection.close()
        return location

    def test_the_least_used_copy_of_an_upstream_is_evicted_when_there_are_too_many(self):
        with Upstream() as upstream:
            names = []
            for seed, name in enumerate(("yard-up-a", "yard-up-b", "yard-up-c")):
                wheel = Wheel(name, extra_members={f"{name.replace('-', '_')}/data": incompressible(400 << 10, seed)})
                upstream.offer(wheel.write(self.folder / "upstream"))
                names.append(wheel.filename)
            lines = f'[[index.upstream]]\nname = "public"\nurl = "{upstream.url}"\nprivate_hosts = ["127.0.0.1"]\nmax_cache_mib = '
            prefix = f"{PREFIX}-mirror"
            with Farm((INDEX,), index_settings=lines + "100\n", stores=self.store.settings(f"/{prefix}")) as farm:
                hashes: list[str] = []
                with self.old_objects(hashes, prefix) if self.store.can_be_old else contextlib.nullcontext():
                    farm.start()
                    for name in names:
                        self._fetch(farm, name, upstream)
                        hashes.append(upstream.files[name].sha256)
                farm.stop()
                kept = {key.rpartition("/")[2] for key in self.store.keys(f"{prefix}/sha256/")}
                self.assertLessEqual(set(hashes), kept)
                # As if they had been fetched two days ago, the first one used today.
                with sqlite3.connect(farm.data / "catalog.sqlite") as catalog:
                    catalog.execute("UPDATE file SET upload_time = upload_time - ?", (2 * 24 * 3600 * 1_000_000,))
                catalog.close()
                farm.start()
                self._fetch(farm, names[0], upstream)
                farm.stop()
                farm.index_settings = lines + "1\n"
                farm.write_config(farm.port)
                farm.start()
                deadline = time.monotonic() + COMMAND_TIMEOUT_S
                while "upstream.given_back" not in farm.log.read_text() or any(path.name.startswith(names[1]) for path in paths_in(farm.tree / f"{INDEX}.public" / "files")):
                    self.assertLess(time.monotonic(), deadline, farm.log.read_text()[-2000:])
                    time.sleep(0.05)
                self.assertEqual(farm.log.read_text().count("upstream.given_back"), 1)
                # The server removes the object if it is an hour old by the store's clock, and gc what is left of it; nothing else is touched.
                if self.store.can_be_old:
                    evicted = f"{prefix}/sha256/{hashes[1][:2]}/{hashes[1]}"
                    while evicted in self.store.keys(f"{prefix}/sha256/") or self.store.keys(f"{prefix}/dying/"):
                        self.assertLess(time.monotonic(), deadline, farm.log.read_text()[-2000:])
                        time.sleep(0.05)
                    self.forget_since(farm)
                    self.assert_ran(farm.run("wheelyard-registry", "gc", "-c", farm.config, "--grace", "1h"))
                    left = {key.rpartition("/")[2] for key in self.store.keys(f"{prefix}/sha256/")}
                    self.assertEqual(kept - left, {hashes[1], metadata_sha256(self.folder / "upstream" / names[1])})
                    self.assertEqual(self.store.keys(f"{prefix}/dying/"), [])
                else:
                    self.assertEqual({key.rpartition("/")[2] for key in self.store.keys(f"{prefix}/sha256/")}, kept)
                self._fetch(farm, names[1], upstream)  # it comes again
                self.assertEqual([upstream.count(f"/files/{name}") for name in names], [1, 2, 1])

    def _fetch(self, farm: Farm, filename: str, upstream: Upstream) -> None:
        entry = farm.files(filename.partition("-")[0].replace("_", "-"))[filename]
        status, _, body = farm.get(f"/{INDEX}" + entry["url"].removeprefix("../.."))  # follows to the store
        self.assertEqual((status, hashlib.sha256(body).hexdigest()), (200, upstream.files[filename].sha256))

    def test_get_is_redirected_and_head_and_metadata_are_the_servers(self):
        wheel = self.wheel("yard-redirect", seed=2)
        sha256 = self.upload(wheel)
        status, headers, _ = self.ask(wheel, sha256)
        self.assertEqual((status, headers["Cache-Control"]), (307, "no-cache"))
        locations = {headers["Location"], *(self.ask(wheel, sha256)[1]["Location"] for _ in range(2))}
        self.assertLess(len(locations), 3, "the same for a quarter of an hour, which may just end")
        found, of_store, body = self.follow(headers["Location"])
        self.assertEqual((found, body), (200, wheel.read_bytes()))
        self.assertEqual(of_store["Cache-Control"], "max-age=31536000, immutable")
        self.assertIn(wheel.name, of_store["Content-Disposition"])
        self.assertEqual(self.follow(headers["Location"], Range="bytes=10-19")[::2], (206, wheel.read_bytes()[10:20]))
        self.assertEqual(self.follow(headers["Location"].replace(sha256[-4:], "0000"))[0], 403, "the URL is for this file only")
        status, headers, body = self.ask(wheel, sha256, method="HEAD")
        self.assertEqual((status, headers["Content-Length"], body), (200, str(wheel.stat().st_size), b""))
        self.assertEqual(self.ask(wheel, sha256, **{"If-None-Match": headers["ETag"]})[0], 304)
        status, _, body = self.ask(wheel, sha256, end=".metadata")
        self.assertEqual(status, 200)
        self.assertIn(b"Name: yard-redirect", body)
        self.assertEqual(self.ask(wheel, sha256, Range=f"bytes={wheel.stat().st_size}-")[0], 416)
        log = self.farm.log.read_text()
        self.assertNotIn(self.store.secret, log)
        self.assertNotIn("X-Amz-Signature", log)

    def test_files_of_a_private_index_pass_through_the_server(self):
        wheel = self.wheel("yard-private", 3000, seed=3)
        sha256 = self.upload(wheel, PRIVATE)
        status, headers, body = self.ask(wheel, sha256, PRIVATE)
        self.assertEqual((status, body), (200, wheel.read_bytes()))
        self.assertIn("private", headers["Cache-Control"])
        status, headers, body = self.ask(wheel, sha256, PRIVATE, Range="bytes=1000000-1000099")
        self.assertEqual((status, body), (206, wheel.read_bytes()[1000000:1000100]))
        self.assertEqual(headers["Content-Range"], f"bytes 1000000-1000099/{wheel.stat().st_size}")
        self.assertEqual(self.farm.get(f"/{PRIVATE}/files/{sha256[:2]}/{sha256}/{wheel.name}")[0], 401)

    def test_what_the_tree_does_not_show_is_not_served(self):
        wheel = self.wheel("yard-hidden", seed=4)
        sha256 = self.upload(wheel)
        self.assert_ran(self.command("quarantine", INDEX, wheel.name, "--reason", "test"))
        self.assertEqual(self.ask(wheel, sha256)[0], 404)
        self.assert_ran(self.command("release", INDEX, wheel.name, "--reason", "test"))
        self.assertEqual(self.ask(wheel, sha256)[0], 307)
        self.assert_ran(self.command("delete", INDEX, wheel.name, "--reason", "test"))
        self.assertEqual(self.ask(wheel, sha256)[0], 404)
        self.assertIn(self.key(sha256), self.store.keys(f"{PREFIX}/sha256/{sha256[:2]}/"))
        self.assert_ran(self.command("gc", "--grace", "1h"))
        self.assertIsNotNone(self.store.object(self.key(sha256)), "stored within the grace")
        self.assertEqual(self.store.keys(f"{PREFIX}/dying/"), [])

    def test_gc_removes_what_is_old_in_the_catalog_and_in_the_bucket(self):
        if not self.store.can_be_old:
            self.skipTest("the times of this store's objects cannot be set")
        gone, young, kept = (self.wheel(name, seed=50 + seed) for seed, name in enumerate(("yard-old", "yard-young", "yard-kept")))
        hashes = []
        with self.old_objects(hashes):
            hashes += [self.upload(gone), self.upload(kept)]
        hashes.append(self.upload(young))
        for wheel in (gone, young):
            self.assert_ran(self.command("delete", INDEX, wheel.name, "--reason", "test"))
        self.forget_since(self.farm)
        before = set(self.store.keys(f"{PREFIX}/sha256/"))
        self.assert_ran(self.command("gc", "--grace", "1h"))
        removed = {key.rpartition("/")[2] for key in before - set(self.store.keys(f"{PREFIX}/sha256/"))}
        self.assertEqual(removed, {hashes[0], metadata_sha256(gone)})
        self.assertEqual(self.store.keys(f"{PREFIX}/dying/"), [])
        self.assertEqual([self.store.object(self.key(sha256)) is None for sha256 in hashes], [True, False, False])

    @contextlib.contextmanager
    def old_objects(self, hashes: list[str], prefix: str = PREFIX):
        """What is stored meanwhile is two hours old by the store's clock; `hashes` of it are there at the end."""
        if self.store.kind == "swift":
            self.store.restart_behind(2)
        try:
            yield
            if self.store.kind != "swift":
                for sha256 in hashes:
                    self.store.make_older(self.key(sha256).replace(PREFIX, prefix, 1), hours=2)
        finally:
            if self.store.kind == "swift":
                self.store.restart_behind(0)

    def forget_since(self, farm: Farm) -> None:
        """What nothing refers to is so for two hours."""
        with sqlite3.connect(farm.data / "catalog.sqlite") as catalog:
            catalog.execute("UPDATE blob SET unreferenced_since = unreferenced_since - ?", (2 * HOURS_US,))
        catalog.close()

    def test_a_large_wheel_is_sent_in_parts(self):
        wheel = self.wheel("yard-parts", (PART_MIB + 6) << 10, seed=5)
        sha256 = self.upload(wheel)
        status, headers, _ = self.ask(wheel, sha256)
        self.assertEqual(status, 307)
        _, of_store, body = self.follow(headers["Location"])
        self.assertEqual(hashlib.sha256(body).hexdigest(), sha256)
        self.assertIn("-2", of_store["ETag"], "two parts")
        _, headers, body = self.store.request("GET", "", query=(("uploads", ""),))
        self.assertNotIn(b"<Upload>", body)

    def test_the_indexer_renders_a_tree_over_the_bucket(self):
        wheel = self.wheel("yard-indexer", seed=8)
        sha256 = self.upload(wheel)
        bucket = ("--blobs", f"s3://{BUCKET}/{PREFIX}", "--blobs-endpoint", self.store.url, "--blobs-path-style",
                  "--blobs-credentials-file", self.store.folder / "credentials")
        tree = self.folder / "tree"
        self.assert_ran(self.farm.run("wheelyard-indexer", "publish", "--store", self.farm.data, *bucket, "--to", tree))
        file = tree / INDEX / "files" / sha256[:2] / sha256 / wheel.name
        self.assertEqual((file.stat().st_size, file.stat().st_mode & 0o7777), (wheel.stat().st_size, 0))
        self.assertIn("Name: yard-indexer", Path(f"{file}.metadata").read_text())
        Path(f"{file}.metadata").chmod(0o644)
        Path(f"{file}.metadata").write_text("damaged")
        self.assert_failed(self.farm.run("wheelyard-indexer", "check", "--to", tree), ".metadata")
        self.assert_ran(self.farm.run("wheelyard-indexer", "check", "--to", tree, "--store", self.farm.data, *bucket, "--repair"))
        self.assertIn("Name: yard-indexer", Path(f"{file}.metadata").read_text())

    # --- the whole store ----------------------------------------------------------------------------------------------

    def test_damage_is_found_and_kept_and_an_upload_or_an_intact_read_ends_it(self):
        wheel = self.wheel("yard-damaged", seed=6)
        sha256 = self.upload(wheel)
        damaged = b"x" + wheel.read_bytes()[1:]
        for ends in ("upload", "read"):
            self.assertEqual(self.store.request("PUT", self.key(sha256), damaged)[0], 200)
            self.assert_failed(self.command("verify", "--restart", "-q"), "damaged", wheel.name)
            self.assertEqual(self.ask(wheel, sha256)[0], 404)
            self.assertEqual(self.store.object(self.key(sha256)), damaged)
            if ends == "upload":
                self.upload(wheel)
            else:
                self.store.request("PUT", self.key(sha256), wheel.read_bytes())
                self.assert_ran(self.command("verify", "--restart", "-q"))
            self.assertEqual(self.store.object(self.key(sha256)), wheel.read_bytes())
            self.assertEqual(self.ask(wheel, sha256)[0], 307)

    def test_a_line_that_flips_a_byte_of_each_answer_costs_no_object_and_hides_no_file(self):
        prefix = f"{PREFIX}-flipped"
        with FlippingLine(self.store.port) as line, \
                Farm((INDEX,), stores=self.store.settings(f"/{prefix}", False, f"http://127.0.0.1:{line.port}")) as farm:
            token = farm.create_token()
            farm.start()
            wheels = [self.wheel(f"yard-flipped{number}", seed=60 + number) for number in range(8)]
            for wheel in wheels:
                self.assertEqual(RawUpload(farm, token, wheel).send()[0], 200)
            keys = self.store.keys(f"{prefix}/")
            line.flips = True
            verify = ("wheelyard-registry", "verify", "-c", farm.config, "--restart", "-q")
            self.assert_failed(farm.run(*verify), "the store is at fault", "memory")
            self.assertEqual(self.store.keys(f"{prefix}/"), keys)
            self.assertEqual(len([key for key in keys if "/sha256/" in key]), 16)
            for key in keys:
                if "/sha256/" in key:
                    self.assertEqual(hashlib.sha256(self.store.object(key)).hexdigest(), key.rpartition("/")[2])
            for number, wheel in enumerate(wheels):
                self.assertIn(wheel.name, farm.files(f"yard-flipped{number}"))
            line.flips = False
            self.assert_ran(farm.run(*verify))

    def test_a_backup_and_both_ways_between_a_folder_and_the_bucket(self):
        wheel = self.wheel("yard-moves", seed=7)
        sha256 = self.upload(wheel)
        self.assert_ran(self.command("backup", self.folder / "backup", "-q"))
        self.assertEqual((self.folder / f"backup/blobs/sha256/{sha256[:2]}/{sha256}").read_bytes(), wheel.read_bytes())
        done = self.farm.run("wheelyard-registry", "restore", self.folder / "backup", self.folder / "restored/data", "-q")
        self.assert_ran(done)
        with S3Farm(self.store, self.folder / "restored") as restored:  # over files: `restore` has made a folder
            with_bucket = self.folder / "restored" / "bucket.toml"
            restored.stores = self.store.settings("/moved", False)
            restored.write_config(0)
            shutil.copy(restored.config, with_bucket)
            restored.stores = ""
            restored.write_config(0)
            restored.start()
            self.assertEqual(restored.get(f"/{INDEX}/files/{sha256[:2]}/{sha256}/{wheel.name}")[2], wheel.read_bytes())
            migrate = ("wheelyard-registry", "store", "migrate", "--json", "-q")
            first = restored.run(*migrate, "-c", restored.config, "--to", with_bucket)
            self.assert_ran(first)
            self.assertGreater(json.loads(first.stdout)["copied_blobs"], 1)
            self.assertEqual(self.store.object(f"moved/sha256/{sha256[:2]}/{sha256}"), wheel.read_bytes())
            again = json.loads(restored.run(*migrate, "-c", restored.config, "--to", with_bucket).stdout)
            self.assertEqual((again["copied_blobs"], again["damaged"]), (0, []))
            restored.stop()
            shutil.copy(with_bucket, restored.config)
            restored.stores = self.store.settings("/moved", False)
            shutil.rmtree(restored.data / "blobs")
            shutil.rmtree(restored.data / "public")
            restored.write_config(restored.port)
            restored.start()
            # Without a public address, the server passes the bytes on.
            self.assertEqual(restored.get(f"/{INDEX}/files/{sha256[:2]}/{sha256}/{wheel.name}")[::2], (200, wheel.read_bytes()))
            in_folder = self.folder / "restored" / "folder.toml"
            in_folder.write_text(restored.config.read_text().replace(restored.stores, ""))
            back = json.loads(restored.run(*migrate, "-c", restored.config, "--to", in_folder).stdout)
            self.assertGreater(back["copied_blobs"], 1)
            self.assertEqual((restored.data / f"blobs/sha256/{sha256[:2]}/{sha256}").read_bytes(), wheel.read_bytes())
            self.assert_failed(restored.run(*migrate, "-c", restored.config, "--to", restored.config), "same store")

    def test_another_registry_or_an_older_copy_of_the_catalog_takes_nothing_from_the_bucket(self):
        self.farm.stop()  # then the file alone has every row
        shutil.copy(self.farm.data / "catalog.sqlite", self.folder / "yesterday")
        self.farm.start()
        hashes = []
        with self.old_objects(hashes):
            hashes.append(self.upload(self.wheel("yard-of-today", seed=61)))
        self.farm.stop()  # it notes its newest event at each start, and every minute
        self.farm.start()
        before = self.store.keys(f"{PREFIX}/sha256/")
        with S3Farm(self.store, self.folder / "another") as another:
            in_folder = another.folder / "folder.toml"
            in_folder.write_text(another.config.read_text().replace(another.stores, ""))
            for command in ("serve", "serve --check", "gc", "gc --dry-run", "verify", f"store migrate -c {in_folder} --to"):
                with self.subTest(command):
                    done = another.run("wheelyard-registry", *command.split(), *(() if "--to" in command else ("-c",)), another.config)
                    self.assert_failed(done, "another registry's", f"store adopt -c {another.config}")
        with S3Farm(self.store, self.folder / "older") as older:
            older.data.mkdir()
            shutil.copy(self.folder / "yesterday", older.data / "catalog.sqlite")
            gc = "wheelyard-registry", "gc", "--grace", "1h", "-c", older.config
            self.assert_failed(older.run(*gc), "older than the store", "store adopt")
            older.start()
            self.upload_to(older, self.wheel("yard-of-the-copy", seed=62))
            self.assert_failed(older.run(*gc), "another history", "store adopt")
            self.assertLessEqual(set(before), set(self.store.keys(f"{PREFIX}/sha256/")))
            adopt = "wheelyard-registry", "store", "adopt", "-c"
            self.assert_ran(older.run(*adopt, older.config), "was of registry")
            self.assert_failed(self.command("gc", "--grace", "1h"), "another registry's")
            self.assert_ran(older.run(*gc, "--dry-run"), "would")
            self.assert_ran(self.farm.run(*adopt, self.farm.config))
            self.assert_failed(older.run(*gc), "another registry's")
        self.assert_ran(self.command("gc", "--grace", "1h"))
        self.assertIsNotNone(self.store.object(self.key(hashes[0])))

    def test_a_backup_of_a_bucket_that_lacks_blobs_has_everything_else(self):
        good, gone, damaged = (self.wheel(f"yard-saved-{number}", seed=64 + number) for number in range(3))
        sha256, *lost = (self.upload(wheel) for wheel in (good, gone, damaged))
        self.assertEqual(self.store.request("DELETE", self.key(lost[0]))[0], 204)
        self.assertEqual(self.store.request("PUT", self.key(lost[1]), b"x" + damaged.read_bytes()[1:])[0], 200)
        saved = self.command("backup", self.folder / "backup", "-q")
        restored = self.farm.run("wheelyard-registry", "restore", self.folder / "backup", self.folder / "restored/data", "-q")
        for done, word in ((saved, "saved"), (restored, "restored")):
            self.assert_failed(done, f"everything else is {word}")
            for each in lost:
                self.assertIn(f"damaged or missing: {each}", done.stdout)
        self.assertEqual(sorted(json.loads((self.folder / "backup/backup.json").read_text())["lacks"]), sorted(lost))
        with Farm((INDEX, PRIVATE), folder=self.folder / "restored", index_settings={PRIVATE: 'read = "token"'}) as farm:
            farm.start()
            self.assertEqual(farm.get(f"/{INDEX}/files/{sha256[:2]}/{sha256}/{good.name}")[2], good.read_bytes())
            for wheel in (gone, damaged):
                self.assertEqual(RawUpload(farm, self.token, wheel).send()[0], 200)  # the repair
                self.assertIn(wheel.name, farm.files(wheel.name.partition("-1.0")[0].replace("_", "-")))
        for wheel in (gone, damaged):
            self.upload(wheel)

    # --- the store fails ----------------------------------------------------------------------------------------------

    def test_a_store_that_is_killed_in_uploads_loses_nothing_that_was_acknowledged(self):
        acknowledged: dict[str, Path] = {}
        wheels = [self.wheel(f"yard-kill{number}", 400, seed=20 + number) for number in range(12)]
        stop = threading.Event()
        refusals: list[tuple[int, str]] = []

        def send() -> None:
            for wheel in wheels:
                if stop.is_set():
                    return
                status, problem = RawUpload(self.farm, self.token, wheel).send()
                if status == 200:
                    acknowledged[hashlib.sha256(wheel.read_bytes()).hexdigest()] = wheel
                else:
                    refusals.append((status, problem["code"]))
                    stop.set()

        sender = threading.Thread(target=send)
        sender.start()
        while len(acknowledged) < WHEELS_BEFORE_KILL and sender.is_alive():
            time.sleep(0.01)  # until uploads are under way
        self.store.kill()
        sender.join()
        count = len(acknowledged)
        self.assertIn(refusals, ([], [(503, "upload.busy")]))
        # Down: pages and HEAD are there, uploads are refused before anything is committed.
        first = next(iter(acknowledged))
        self.assertEqual(self.ask(acknowledged[first], first, method="HEAD")[0], 200)
        self.assertEqual(len(self.farm.files("yard-kill0")), 1)
        late = self.wheel("yard-late", seed=40)
        self.assert_refused(RawUpload(self.farm, self.token, late), 503, "upload.busy")
        self.assertEqual(self.farm.files("yard-late"), {})
        self.assert_failed(self.command("verify", "--restart", "-q"), "does not answer", "blobs_endpoint")
        self.store.start()
        for sha256, wheel in acknowledged.items():
            self.assertEqual(self.store.object(self.key(sha256)), wheel.read_bytes())
        for wheel in wheels[count:] + [late]:
            RawUpload(self.farm, self.token, wheel).send_until_acknowledged()
            self.assertEqual(self.ask(wheel, hashlib.sha256(wheel.read_bytes()).hexdigest())[0], 307)

    def test_a_server_stops_although_its_store_hangs(self):
        """Within the farm's patience, which is less than a request to a silent store would last."""
        with S3Farm(self.store, self.folder / "hanging", prefix="hanging") as farm:
            token = farm.create_token()
            farm.start()
            self.assertEqual(RawUpload(farm, token, self.wheel("yard-before", seed=50)).send()[0], 200)
            for process in self.store.daemons.running.values():
                process.send_signal(signal.SIGSTOP)
            try:
                answers: list[int] = []
                wheel = self.wheel("yard-hangs", seed=51)

                def send() -> None:
                    with contextlib.suppress(OSError, http.client.HTTPException):  # the server may close instead
                        answers.append(RawUpload(farm, token, wheel).send()[0])

                late = threading.Thread(target=send)
                late.start()
                time.sleep(2)  # until the wheel is on its way to the store: nothing announces it
                farm.stop()
                late.join()
            finally:
                for process in self.store.daemons.running.values():
                    process.send_signal(signal.SIGCONT)
            self.assertNotIn(200, answers)

    def test_wrong_credentials_are_named_and_never_shown(self):
        folder = self.folder / "wrong"
        with S3Farm(self.store, folder) as farm:
            credentials = folder / "credentials"
            credentials.touch(mode=0o600)
            credentials.write_text(f"{self.store.access}\nnot-the-secret\n")
            farm.stores = farm.stores.replace(str(self.store.folder / "credentials"), str(credentials))
            farm.write_config(0)
            self.assert_failed(farm.run("wheelyard-registry", "serve", "--check", "-c", farm.config), "blobs_credentials_file")
            token = farm.create_token()
            farm.start()
            status, problem = RawUpload(farm, token, self.wheel("yard-refused")).send()
            self.assertEqual((status, problem["code"]), (503, "upload.busy"))
            log = farm.log.read_text()
            self.assertIn("SignatureDoesNotMatch", log)
            self.assertIn("blobs_credentials_file", log)
            self.assertNotIn("not-the-secret", log)


if IS_FULL:
    @unittest.skipUnless(versitygw(), "versitygw is not there: scripts/prepare-clients builds it where Go 1.25 is")
    class VersitygwTest(S3Test):
        kind = "versitygw"

    @unittest.skipUnless(all(map(which, ("radosgw", "ceph-mon", "ceph-osd"))), "radosgw is not installed (scripts/install-deps --full)")
    class RadosgwTest(S3Test):
        kind = "radosgw"


if __name__ == "__main__":
    main()
