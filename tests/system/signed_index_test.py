"""What a registry signs about its indexes: pip installs from a tree that follows it; a mirror that goes back, stands still or
changes something is noticed by `follow --root`, by `attest verify-index` and by openssl with the commands of
docs/how-to/verify-an-index.md; a restored registry is followed with the root that names its new history.
"""

import base64
import contextlib
import functools
import gzip
import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import unittest
from pathlib import Path

from support.case import main
from support.clients import RawUpload, installed_value, pip_install
from support.farm import INDEX, ROOT, Farm
from support.wheels import Wheel

STATE_TYPE = "application/vnd.wheelyard.index-state+json"


def documented_script() -> str:
    page = (ROOT / "docs" / "how-to" / "verify-an-index.md").read_text()
    return re.search(r"<!-- verify-index: .*?-->\n```sh\n(.*?)```\n<!-- end of verify-index -->", page, re.DOTALL)[1]


def copy_unless_gone(source: str, target: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(source, target)


class QuietMirror(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class MirrorOf:
    """What pip_install needs to know of a farm."""

    def __init__(self, farm: Farm, url: str):
        self.environment = farm.environment
        self._url = url

    def simple_url(self, index: str) -> str:
        return f"{self._url}/{index}/simple/"


class SignedIndexTest(unittest.TestCase):
    def setUp(self):
        self.farm = self.enterContext(Farm(settings='\n[attest]\nkey = "keys/provenance.key"'))
        self.keys = self.farm.folder / "keys"
        self.root = self.keys / "root.json"
        self.attest("init", self.keys, "--root-key", self.keys / "root.key")
        self.token = self.farm.create_token()
        self.farm.start()
        self.followed = self.farm.folder / "served" / "followed"
        self.mirror = self.farm.folder / "served" / "mirror"
        self.upload("demo", "1.0")
        self.upload("other", "1.0")

    def attest(self, *arguments, status: int = 0) -> str:
        done = self.farm.run("wheelyard-registry", "attest", *arguments)
        self.assertEqual(done.returncode, status, f"attest {arguments}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def upload(self, project: str, version: str) -> None:
        status, problem = RawUpload(self.farm, self.token, Wheel(project, version).write(self.farm.folder / "wheels")).send()
        self.assertEqual(status, 200, problem)

    def serve(self) -> str:
        """The address of a web server that has the folder `served`."""
        (self.farm.folder / "served").mkdir(exist_ok=True)
        handler = functools.partial(QuietMirror, directory=str(self.farm.folder / "served"))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    def follow(self, url: str, *refusals: str) -> None:
        """One round. With a refusal it fails with these words."""
        done = self.farm.run("wheelyard-indexer", "follow", "--from", f"{url}/{INDEX}/", "--to", self.followed, "--root", self.root)
        self.assertEqual(done.returncode, 1 if refusals else 0, done.stdout + done.stderr)
        for words in refusals:
            self.assertIn(words, done.stderr)

    def versions(self, project: str) -> set[str]:
        page = json.loads((self.followed / INDEX / "simple" / project / "index.json").read_text())
        return {file["filename"].split("-")[1] for file in page["files"]}

    def copy_of_tree(self, folder: Path) -> Path:
        shutil.rmtree(folder, ignore_errors=True)
        # The server goes on: its locks and temporary files come and go, some while they are copied.
        passing = shutil.ignore_patterns("lock", ".lock.*", ".*.tmp.*", ".tmp.*")
        shutil.copytree(self.farm.tree, folder, symlinks=True, ignore=passing, copy_function=copy_unless_gone)
        return folder / INDEX

    def verify(self, place, *more, status: int = 0) -> str:
        return self.attest("verify-index", place, "--root", self.root, *more, status=status)

    def openssl(self, folder: Path, key: str = "provenance.pub", name: str = INDEX) -> subprocess.CompletedProcess:
        script = self.farm.folder / "verify-index.sh"
        script.write_text(documented_script())
        return subprocess.run(["sh", script, folder, self.keys / key, name], capture_output=True, text=True,
                              env=self.farm.environment | {"PATH": os.environ["PATH"]})

    def sign(self, payload: str, key: str = "provenance.key", kind: str = STATE_TYPE) -> str:
        """A DSSE envelope, by openssl."""
        body = payload.encode()
        encoded = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(body), body)
        private = self.keys / key
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", private], input=encoded, capture_output=True, check=True).stdout
        public = subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-outform", "DER"], capture_output=True, check=True).stdout
        return json.dumps({"payload": base64.b64encode(body).decode(), "payloadType": kind,
                           "signatures": [{"keyid": hashlib.sha256(public).hexdigest(), "sig": base64.b64encode(signature).decode()}]},
                          separators=(",", ":")) + "\n"

    def payload_of(self, index: Path) -> str:
        return base64.b64decode(json.loads((index / "signed/state.json").read_text())["payload"]).decode()

    def test_a_followed_tree_installs_and_each_way_verifies_it_and_finds_what_was_changed(self):
        url = self.serve()
        self.follow(self.farm.url)
        target = self.farm.folder / "installed"
        done = pip_install(MirrorOf(self.farm, f"{url}/followed"), "pip-new", target, "demo")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(installed_value("pip-new", target, "demo"), "1")
        places = (f"{self.farm.url}/{INDEX}", f"{self.farm.url}/{INDEX}/simple/", self.farm.tree / INDEX, f"{url}/followed/{INDEX}",
                  self.followed / INDEX)
        for place in places:
            self.assertIn("6 pages of 2 projects", self.verify(place))
        for folder in (self.farm.tree / INDEX, self.followed / INDEX):
            done = self.openssl(folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

        index = self.copy_of_tree(self.mirror)
        listed = next(path for path in sorted((index / "signed").iterdir()) if re.fullmatch("pages-..[.]txt", path.name))
        state = index / "signed" / "state.json"
        flips = [(index / "simple/demo/index.html", 30), (index / "simple/other/index.json", 30), (index / "simple/index.html", 30),
                 (index / "signed/pages.txt", 5), (listed, 5), *((state, at) for at in range(20, state.stat().st_size - 1, 90))]
        for path, at in flips:
            with self.subTest(path=path.name, at=at):
                good = path.read_bytes()
                path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
                self.verify(index, status=1)
                if path != state or b'"keyid"' not in good[at - 80:at]:  # openssl is told the key
                    self.assertNotEqual(self.openssl(index).returncode, 0)
                path.write_bytes(good)
        with self.subTest("a page that nobody has signed"):
            shutil.copytree(index / "simple/demo", index / "simple/evil")
            self.assertIn("pages that nobody has signed", self.verify(index, status=1))
            self.assertNotEqual(self.openssl(index).returncode, 0)
            shutil.rmtree(index / "simple/evil")
        with self.subTest("a page that nobody has signed, without its HTML form"):
            (index / "simple/evil").mkdir()
            shutil.copy(index / "simple/demo/index.json", index / "simple/evil/index.json")
            self.assertIn("pages that nobody has signed", self.verify(index, status=1))
            self.assertNotEqual(self.openssl(index).returncode, 0)
            shutil.rmtree(index / "simple/evil")
        with self.subTest("a project that is a symbolic link"):
            (index / "simple/evil").symlink_to("demo")
            self.assertIn("pages that nobody has signed", self.verify(index, status=1))
            self.assertNotEqual(self.openssl(index).returncode, 0)
            (index / "simple/evil").unlink()
        with self.subTest("compressed copies"):
            copy = index / "simple/demo/index.html.gz"
            copy.write_bytes(gzip.compress((index / "simple/demo/index.html").read_bytes()))
            self.verify(index)
            self.assertEqual(self.openssl(index).returncode, 0)
            copy.write_bytes(gzip.compress(b"<a href='https://evil.example/demo-9.9-py3-none-any.whl'>demo</a>"))
            self.assertIn("changed    simple/demo/index.html.gz", self.verify(index, status=1))
            self.assertNotEqual(self.openssl(index).returncode, 0)
            copy.unlink()
            for name in ("index.html.br", "index.htm", "index.gz"):
                (index / "simple/demo" / name).write_bytes(b"x")
                self.assertIn(f"unsigned   simple/demo/{name}", self.verify(index, status=1))
                self.assertNotEqual(self.openssl(index).returncode, 0)
                (index / "simple/demo" / name).unlink()
        with self.subTest("another index, and a key of somebody else"):
            self.assertIn("of another index", self.verify(index, "--name", "staging", status=1))
            self.assertNotEqual(self.openssl(index, name="staging").returncode, 0)
            self.attest("init", self.keys / "others")
            self.assertIn("A key that you do not trust", self.attest("verify-index", index, "--root", self.keys / "others/root.json", status=1))
            self.assertNotEqual(self.openssl(index, "others/provenance.pub").returncode, 0)
        self.verify(index)
        self.assertEqual(self.openssl(index).returncode, 0)

    def published(self, tree: Path) -> Path:
        done = self.farm.run("wheelyard-indexer", "publish", "--store", self.farm.data, "--to", tree, "--sign-key", self.keys / "provenance.key")
        self.assertEqual(done.returncode, 0, done.stderr)
        return tree / INDEX

    def check(self, tree: Path, *more, status: int = 0) -> set[str]:
        """The codes of what `check` finds."""
        done = self.farm.run("wheelyard-indexer", "check", "--to", tree, "--json", *more)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return {finding["code"] for finding in json.loads(done.stdout)["findings"]}

    def test_check_finds_a_tree_that_was_changed_consistently_and_one_that_went_back(self):
        signed = ("--root", self.root, "--seen", self.farm.folder / "seen")
        old = self.published(self.farm.folder / "old")
        self.assertEqual(self.check(old.parent, *signed), set())
        self.upload("demo", "1.1")
        index = self.published(self.mirror)
        self.assertEqual(self.check(self.mirror, *signed), set())
        with self.subTest("a mirror that keeps a version back, with all its pages and files"):
            for folder in ("simple/demo", "project/demo", "find-links"):
                shutil.rmtree(index / folder)
                shutil.copytree(old / folder, index / folder)
            for file in list(index.rglob("demo-1.1-*")):
                file.unlink()
            self.assertEqual(self.check(self.mirror), set())
            self.assertEqual(self.check(self.mirror, *signed, status=1), {"not_as_signed"})
        with self.subTest("a mirror that went back"):
            self.assertEqual(self.check(old.parent), set())
            self.assertEqual(self.check(old.parent, *signed, status=1), {"not_signed"})
        for option, needed in (("--blobs", "--store"), ("--database-password-file", "--database"), ("--seen", "--root")):
            with self.subTest("an option that would change nothing", option=option):
                done = self.farm.run("wheelyard-indexer", "check", "--to", self.mirror, option, "s3://wheels")
                self.assertEqual((done.returncode, f"{option} requires {needed}" in done.stderr), (2, True), done.stderr)

    def test_a_hostile_mirror_is_noticed_and_the_tree_stays(self):
        url = f"{self.serve()}/mirror"
        old = self.copy_of_tree(self.farm.folder / "old")
        self.copy_of_tree(self.mirror)
        self.follow(url)
        self.upload("demo", "1.1")
        self.upload("other", "1.1")
        index = self.copy_of_tree(self.mirror)
        seen = self.farm.folder / "seen"
        self.verify(index, "--seen", seen)
        good = (index / "signed/state.json").read_text()
        payload = self.payload_of(index)
        self.assertEqual(json.loads(base64.b64decode(json.loads(self.sign(payload))["payload"])), json.loads(payload))

        with self.subTest("a changed page: its project keeps its page, and the other one goes on"):
            page = index / "simple/demo/index.json"
            text = page.read_text()
            page.write_text(text.replace("demo-1.1", "demo-9.9"))
            self.follow(url, "A page is not the one that the registry signed", "simple/demo/", "follow the registry itself")
            self.assertEqual((self.versions("demo"), self.versions("other")), ({"1.0"}, {"1.0", "1.1"}))
            page.write_text(text)
        with self.subTest("the page of an earlier state among those of this one"):
            shutil.copy(old / "simple/demo/index.json", page)
            self.follow(url, "A page is not the one that the registry signed")
            page.write_text(text)
        self.follow(url)
        self.assertEqual(self.versions("demo"), {"1.0", "1.1"})
        self.assertIn("6 pages of 2 projects", self.verify(self.followed / INDEX))

        expired = re.sub('"time":"....(.*)"valid_until":"....', r'"time":"2020\1"valid_until":"2020', payload)
        states = (("going back", (old / "signed/state.json").read_text(), "older than one that was seen before"),
                  ("standing still", self.sign(expired), "no longer valid"),
                  ("another key", self.sign(payload, "root.key"), "A key that you do not trust"),
                  ("another type", self.sign(payload, kind="application/vnd.in-toto+json"), "no state of an index"),
                  ("another history", self.sign(payload.replace('"history":1', '"history":2')), "does not name"),
                  ("another index", self.sign(payload.replace(f'"index":"{INDEX}"', '"index":"staging"')), "of another index"),
                  ("a root", self.root.read_text(), "no state of an index"))
        for what, state, words in states:
            with self.subTest(what):
                (index / "signed/state.json").write_text(state)
                before = {path: path.read_bytes() for path in self.followed.rglob("index.*")}
                self.follow(url, words)
                self.assertEqual({path: path.read_bytes() for path in self.followed.rglob("index.*")}, before)
                self.assertIn(words, self.verify(index, "--seen", seen, status=1))
        (index / "signed/state.json").unlink()
        self.follow(url, "has no signed state")
        (index / "signed/state.json").write_text(good)
        self.follow(url)

    def test_a_restored_registry_is_followed_once_the_root_names_its_new_history(self):
        done = self.farm.run("wheelyard-registry", "backup", self.farm.folder / "backup", "--config", self.farm.config)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.upload("demo", "1.1")
        self.follow(self.farm.url)
        before = (self.followed / INDEX / "signed/state.json").read_text()
        self.farm.stop()
        self.farm.data.rename(self.farm.folder / "lost")
        done = self.farm.run("wheelyard-registry", "restore", self.farm.folder / "backup", self.farm.data)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.farm.start()
        self.follow(self.farm.url, "older than one that was seen before", "attest new-history")
        self.assertEqual(self.versions("demo"), {"1.0", "1.1"})

        printed = self.attest("new-history", self.root, "--root-key", self.keys / "root.key")
        self.assertIn("[attest]\nhistory = 2\n", printed)
        self.farm.settings += "\nhistory = 2"
        self.farm.write_config(self.farm.port)
        self.farm.stop()
        self.farm.start()
        self.follow(self.farm.url)
        self.assertEqual(self.versions("demo"), {"1.0"})
        self.verify(self.followed / INDEX)
        index = self.copy_of_tree(self.mirror)
        (index / "signed/state.json").write_text(before)
        self.assertIn("a history that has ended", self.verify(index, status=1))

    def test_a_tree_from_cron_is_signed_with_a_key_and_not_without(self):
        tree = self.farm.folder / "static"
        publish = ("publish", "--store", self.farm.data, "--to", tree)
        signed = self.farm.run("wheelyard-indexer", *publish, "--sign-key", self.keys / "provenance.key")
        self.assertEqual(signed.returncode, 0, signed.stderr)
        self.verify(tree / INDEX)
        self.upload("demo", "1.1")
        self.assertEqual(self.farm.run("wheelyard-indexer", *publish).returncode, 0)
        self.assertIn("has no signed state", self.verify(tree / INDEX, status=1))
        self.assertEqual(self.farm.run("wheelyard-indexer", *publish, "--sign-key", self.keys / "provenance.key").returncode, 0)
        self.verify(tree / INDEX)


if __name__ == "__main__":
    main()
