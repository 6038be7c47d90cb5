"""What the registry signs about a wheel that an agent built is the same for `avail_wheels verify` and for openssl with the commands
of docs/how-to/verify-a-wheel.md; a flipped bit, a strange key, and a revoked key are noticed, and a rotation is not an error.
"""

import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

from support.case import main
from support.clients import RawUpload
from support.farm import BIN, CLIENTS, COMMAND_TIMEOUT_S, INDEX, ROOT, Farm
from support.wheels import Wheel


SBOM = (ROOT / "tests" / "inspect" / "dist_info" / "data" / "demo-1.0.spdx.json").read_bytes()


VALIDATOR = CLIENTS / "cyclonedx"
VALIDATE = """import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(str(JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read()) or "")[:1000])"""


def documented_script() -> str:
    page = (ROOT / "docs" / "how-to" / "verify-a-wheel.md").read_text()
    return re.search(r"<!-- verify: .*?-->\n```sh\n(.*?)```\n<!-- end of verify -->", page, re.DOTALL)[1]


class StatementsTest(unittest.TestCase):
    def setUp(self):
        self.farm = self.enterContext(Farm((INDEX, "sandbox"), settings='\n[attest]\nkey = "keys/provenance.key"',
                                           index_settings={"sandbox": '[index.policy]\n"sbom.unreadable" = "quarantine"'}))
        self.keys = self.farm.folder / "keys"
        self.root = self.keys / "root.json"
        self.attest("init", self.keys, "--root-key", self.keys / "root.key", "--root-key", self.keys / "spare.key")
        self.token = self.farm.create_token(INDEX, name="alice")
        self.farm.start()

    def attest(self, *arguments, status: int = 0) -> str:
        done = self.farm.run("wheelyard-registry", "attest", *arguments)
        self.assertEqual(done.returncode, status, f"attest {arguments}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def upload(self, version: str, index: str = INDEX, token: str = "", sbom: bytes = SBOM, origin: str = "https://example.org/demo.tar.gz",
               **said_too) -> Path:
        """The wheel with its provenance beside it, as a reader fetched both."""
        wheel = Wheel("demo", version, extra_members={f"demo-{version}.dist-info/sboms/demo.spdx.json": sbom}).write(self.farm.folder / index / version)
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        said = {"format": "wheelyard.provenance/1", "site": "bede", "program": "wheelyard-builder 0.1.0",
                "wheel": {"filename": wheel.name, "sha256": digest}, "attempt": "w1kq7x9aab3cde", "package": "demo",
                "source": said_too.get("source", {"kind": "sdist", "origin": origin, "sha256": "b" * 64}),
                "build": {"requirements": said_too.get("requirements", {"setuptools-80.9.0-py3-none-any.whl": f"sha256:{'c' * 64}"}),
                          "tools": {"c++": 'c++ "12" ,"statements":['}}}
        status, problem = RawUpload(self.farm, token or self.token, wheel, index, wheelyard_provenance=json.dumps(said)).send()
        self.assertEqual(status, 422 if sbom == b"{" else 200, problem)
        if status == 422:
            self.assertEqual(problem["code"], "upload.quarantined")
            done = self.farm.run("wheelyard-registry", "release", index, wheel.name, "--reason", "looked at it", "--config", self.farm.config)
            self.assertEqual(done.returncode, 0, done.stderr)
        url = f"{self.farm.url}/{index}/files/{digest[:2]}/{digest}/{wheel.name}.prov"
        with urllib.request.urlopen(url) as answer:
            wheel.with_name(wheel.name + ".prov").write_bytes(answer.read())
        return wheel

    def verify(self, wheel: Path, *more, status: int = 0) -> str:
        done = self.farm.run("avail_wheels", "verify", wheel, *(more or ("--root", self.root, "--uploaded-to", INDEX)),
                             *(() if "--index-url" in more else ("--offline",)))
        self.assertEqual(done.returncode, status, f"verify {wheel} {more}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def run_script(self, wheel: Path, key: Path, *indexes: str) -> subprocess.CompletedProcess:
        script = self.farm.folder / "verify.sh"
        script.write_text(documented_script())
        return subprocess.run(["sh", script, wheel, key, *indexes], capture_output=True, text=True,
                              env=self.farm.environment | {"PATH": os.environ["PATH"]})

    def openssl(self, wheel: Path, key: Path) -> int:
        return self.run_script(wheel, key, INDEX).returncode

    def test_a_wheel_of_another_index_is_told_from_ours_and_its_statements_do_not_fit_ours(self):
        public = self.keys / "provenance.pub"
        mallory = self.farm.create_token("sandbox", name="mallory")
        ours = self.upload("3.0")
        theirs = self.upload("3.0", "sandbox", mallory, origin="https://example.org/invented.tar.gz")
        self.assertEqual(ours.read_bytes(), theirs.read_bytes())
        self.assertEqual(self.openssl(ours, public), 0)
        self.assertNotIn("warning", self.verify(ours))
        with self.subTest("another index"):
            self.assertIn("The wheel was uploaded to another index", self.verify(theirs, status=1))
            self.assertIn("was uploaded to another index: sandbox", self.run_script(theirs, public, INDEX).stderr)
            self.assertNotEqual(self.run_script(theirs, public).returncode, 0)
            both = self.verify(theirs, "--root", self.root, "--uploaded-to", INDEX, "--uploaded-to", "sandbox")
            self.assertIn("invented", both)
            self.assertNotIn("warning", both)
            self.assertEqual(self.run_script(theirs, public, INDEX, "sandbox").returncode, 0)
            self.assertRegex(self.verify(theirs, "--root", self.root), "warning .*to sandbox: --uploaded-to")
        with self.subTest("statements of two uploads"):
            texts = {wheel: wheel.with_name(wheel.name + ".prov").read_text() for wheel in (ours, theirs)}
            envelopes = {wheel: re.findall(r'\{"payload":[^]]*\]\}', text) for wheel, text in texts.items()}
            mixed = self.farm.folder / "mixed" / ours.name
            mixed.parent.mkdir()
            shutil.copy(ours, mixed)
            for document, said, proved in ((ours, theirs, ours), (theirs, theirs, ours), (ours, ours, theirs)):
                text = texts[document].replace(envelopes[document][0], envelopes[said][0])
                text = text.replace(envelopes[document][1], envelopes[proved][1])
                mixed.with_name(mixed.name + ".prov").write_text(text)
                self.assertIn("The two statements are of different uploads", self.verify(mixed, status=1))
                self.assertNotEqual(self.run_script(mixed, public, INDEX, "sandbox").returncode, 0)
        with self.subTest("a wheel that was in quarantine"):
            held = self.upload("3.1", "sandbox", mallory, sbom=b"{")
            self.assertRegex(self.verify(held, "--root", self.root, "--uploaded-to", "sandbox"), "warning .* it was quarantined")
            done = self.run_script(held, public, "sandbox")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("at the upload it was quarantined", done.stderr)

    @unittest.skipUnless((VALIDATOR / ".complete").is_file(), "scripts/prepare-clients could not fetch the validator of CycloneDX")
    def test_the_validator_of_cyclonedx_accepts_the_bills_of_materials(self):
        """Strictly: of sources with an address that is no URI, digests that are none, and texts longer than the format allows."""
        def validate(text: str) -> str:
            return subprocess.run([VALIDATOR / "bin" / "python", "-c", VALIDATE], input=text, capture_output=True, text=True,
                                  timeout=COMMAND_TIMEOUT_S).stderr.strip()
        self.assertIn("is not valid under any", validate('{"bomFormat":"CycloneDX","specVersion":"1.6","externalReferences":[{"type":"vcs","url":"a b"}]}'))
        stated = {"bomFormat": "CycloneDX", "components": [
            {"name": "zlib", "version": "1.2.11", "hashes": [{"alg": "SHA-256", "content": "d" * 64}]},
            {"name": "é", "version": "1" * 2000, "purl": "no purl", "hashes": [{"alg": "SHA-256", "content": "none"}]}]}
        sources = (("git", f"https://example.org/demo.git@v1 ({'a' * 40})", ""), ("path", "/sw/my sources/demo", ""), ("path", "", "none"),
                   ("sdist", "https://example.org/demo.tar.gz", "none"), ("upstream", "https://a.example/simple/ (PIP_INDEX_URL), https://b.example", "b" * 64),
                   ("sdist", "https://example.org/a[b]#c#100%", ""), ("sdist", "::", ""))
        for number, (kind, origin, digest) in enumerate(sources):
            with self.subTest(kind=kind, origin=origin):
                source = {"kind": kind, "origin": origin, "sha256": digest}
                wheel = self.upload(f"4.{number}", sbom=json.dumps(stated).encode(), source=source,
                                    requirements={"setuptools-80.9.0-py3-none-any.whl": "sha256:none", "no wheel": "", "": "sha256:"})
                done = self.farm.run("wheelyard-registry", "sbom", INDEX, wheel.name, "--config", self.farm.config)
                self.assertEqual(validate(done.stdout), "", done.stdout + done.stderr)
                hashes = {one["name"]: one.get("hashes") for one in json.loads(done.stdout)["components"]}
                self.assertEqual((hashes["zlib"], hashes["é"]), ([{"alg": "SHA-256", "content": "d" * 64}], None))
                with urllib.request.urlopen(f"{self.farm.url}/api/v1/indexes/{INDEX}/files/{wheel.name}/sbom") as answer:
                    self.assertEqual(answer.read().decode().strip(), done.stdout.strip())

    def test_the_line_on_the_page_of_a_wheel_verifies_it_and_notices_a_flipped_bit_and_a_strange_key(self):
        wheel = self.upload("5.0")
        deadline = time.monotonic() + COMMAND_TIMEOUT_S  # a server writes the page a moment after the upload
        while not (shown := re.search('<code class="verify"[^>]*>(.*?)</code>', self.farm.get(f"/{INDEX}/project/demo/")[2].decode(), re.DOTALL)):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        line = html.unescape(shown[1]).replace("https://THIS-SERVER", self.farm.url)
        self.assertNotIn("\n", line)
        folder = self.farm.folder / "downloaded"
        folder.mkdir()
        shutil.copy(self.root, folder)
        shutil.copy(wheel, folder)

        def paste(status: int) -> str:
            done = subprocess.run(["sh", "-c", line], cwd=folder, env=self.farm.environment | {"PATH": f"{BIN}:/usr/bin:/bin"}, capture_output=True,
                                  text=True, timeout=COMMAND_TIMEOUT_S)
            self.assertEqual(done.returncode, status, line + done.stdout + done.stderr)
            return done.stdout
        text = paste(0)
        for words in (": verified", "the same bytes at", "urn:wheelyard:site:bede", "none: no publisher attests it"):
            self.assertIn(words, text)
        self.assertNotIn("warning", text)
        changed = bytearray(wheel.read_bytes())
        changed[100] ^= 1
        (folder / wheel.name).write_bytes(changed)
        text = paste(1)
        for words in ("NOT verified", "has other bytes", "The wheel has other bytes than the signed one"):
            self.assertIn(words, text)
        shutil.copy(wheel, folder)
        self.attest("init", self.farm.folder / "strange")
        shutil.copy(self.farm.folder / "strange" / "root.json", folder)
        self.assertIn("A key that you do not trust", paste(1))

    def test_both_ways_say_the_same_of_good_and_of_changed_bytes(self):
        wheel = self.upload("1.0")
        public = self.keys / "provenance.pub"
        text = self.verify(wheel)
        for words in ("SLSA_BUILD_LEVEL_1", "urn:wheelyard:site:bede", "b" * 64, "or of anybody else who may upload"):
            self.assertIn(words, text)
        self.verify(wheel, "--key", public)
        self.assertEqual(self.openssl(wheel, public), 0)
        beside = wheel.with_name(wheel.name + ".prov")
        self.assertNotIn(b"alice", beside.read_bytes())
        (document,) = json.loads(self.verify(wheel, "--root", self.root, "--json"))["files"]
        self.assertEqual(document["statement"]["proved"]["outcome"], "accepted")
        # The same over the network, with the address that pip has.
        beside.rename(beside.with_suffix(".aside"))
        self.verify(wheel, "--uploaded-to", INDEX, "--root", self.root, "--index-url", self.farm.simple_url())
        self.assertIn(".prov is not beside the wheel", self.verify(wheel, status=1))
        beside.with_suffix(".aside").rename(beside)
        # One bit of the wheel, of the agent's document, of a statement and of a signature; the other half of the rule.
        good = {path: path.read_bytes() for path in (wheel, beside)}
        places = [(wheel, 100), (beside, good[beside].index(b"bede")), (beside, good[beside].index(b"payload") + 40),
                  (beside, good[beside].index(b'"sig"') + 20), (beside, good[beside].rindex(b'"sig"') + 20)]
        for path, at in places:
            with self.subTest(path=path.suffix, at=at):
                changed = bytearray(good[path])
                changed[at] ^= 1
                path.write_bytes(changed)
                self.verify(wheel, status=1)
                self.assertNotEqual(self.openssl(wheel, public), 0)
                path.write_bytes(good[path])
        with self.subTest("what its SBOM names is found"):
            found = self.farm.run("wheelyard-registry", "contains", "ZLIB", "1.2.11", "--json", "--config", self.farm.config)
            self.assertEqual([(one["filename"], one["component"]["purl"]) for one in json.loads(found.stdout)["found"]],
                             [(wheel.name, "pkg:generic/zlib@1.2.11")], found.stderr)
            with urllib.request.urlopen(f"{self.farm.url}/api/v1/indexes/{INDEX}/contains?component=zlib&version=1.2.11") as answer:
                self.assertEqual(json.load(answer), json.loads(found.stdout) | {"next": None})
            other = self.farm.run("wheelyard-registry", "contains", "zlib", "1.2.12", "--config", self.farm.config)
            self.assertIn("no wheel", other.stdout)
            self.assertNotIn("not known", other.stdout)
            for licence, is_there in (("z?IB", True), ("*GPL*", False)):
                found = self.farm.run("wheelyard-registry", "contains", "*", "--license", licence, "--config", self.farm.config).stdout
                self.assertEqual(wheel.name in found, is_there, found)
        with self.subTest("its own bill of materials"):
            done = self.farm.run("wheelyard-registry", "sbom", INDEX, wheel.name, "--config", self.farm.config)
            self.assertEqual(done.returncode, 0, done.stderr)
            bom = json.loads(done.stdout)
            self.assertEqual((bom["bomFormat"], bom["specVersion"], bom["metadata"]["component"]["purl"]),
                             ("CycloneDX", "1.6", f"pkg:pypi/demo@1.0?file_name={wheel.name}"))
            self.assertEqual(bom["metadata"]["component"]["hashes"][0]["content"], hashlib.sha256(wheel.read_bytes()).hexdigest())
            zlib, source, setuptools = bom["components"]
            self.assertEqual((zlib["name"], zlib["purl"], zlib["licenses"]), ("zlib", "pkg:generic/zlib@1.2.11", [{"expression": "Zlib"}]))
            self.assertEqual((source["hashes"][0]["content"], source["externalReferences"][0]["url"]), ("b" * 64, "https://example.org/demo.tar.gz"))
            self.assertEqual((setuptools["purl"], setuptools["scope"]), ("pkg:pypi/setuptools@80.9.0", "excluded"))
            self.assertEqual(bom["dependencies"], [{"ref": "wheel", "dependsOn": [zlib["bom-ref"]]}])
            again = self.farm.run("wheelyard-registry", "sbom", INDEX, wheel.name, "--config", self.farm.config)
            self.assertEqual(again.stdout, done.stdout)
        with self.subTest("a wheel with more components than are kept"):
            crates = [{"name": f"crate-{i:04}", "version": "1.0"} for i in range(400)] + [{"name": "zlib", "version": "1.2.11"}]
            many = self.upload("1.2", sbom=json.dumps({"bomFormat": "CycloneDX", "components": crates}).encode())
            found = json.loads(self.farm.run("wheelyard-registry", "contains", "zlib", "--json", "--config", self.farm.config).stdout)
            self.assertEqual([one["filename"] for one in found["found"]], [wheel.name])
            self.assertEqual([one["filename"] for one in found["not_known"]], [many.name])
            text = self.farm.run("wheelyard-registry", "contains", "zlib", "--config", self.farm.config).stdout
            self.assertIn(f"not known of {INDEX}: {many.name}", text)
            text = self.farm.run("wheelyard-registry", "contains", "crate-0000", "--config", self.farm.config).stdout
            self.assertNotIn("not known", text)
        with self.subTest("another wheel's statements"):
            other = self.upload("1.1")
            shutil.copy(beside, other.with_name(other.name + ".prov"))
            self.assertIn("The statement is about a wheel of another name", self.verify(other, status=1))
            self.assertNotEqual(self.openssl(other, public), 0)
        with self.subTest("a key of somebody else"), tempfile.TemporaryDirectory() as folder:
            self.attest("init", Path(folder) / "k")
            self.assertIn("A key that you do not trust", self.verify(wheel, "--root", Path(folder) / "k" / "root.json", status=1))
            self.assertNotEqual(self.openssl(wheel, Path(folder) / "k" / "provenance.pub"), 0)
        self.verify(wheel)

    def test_a_rotation_keeps_old_statements_and_a_revocation_ends_them(self):
        first = self.upload("2.0")
        old_id = json.loads(self.verify(first, "--root", self.root, "--json"))["files"][0]["statement"]["keyid"]
        old_root = self.root.read_bytes()
        root_key = self.keys / "root.key"
        self.attest("rotate", self.root, "--root-key", root_key, "--new-key", self.keys / "next.key")
        self.verify(first)
        self.farm.settings = '\n[attest]\nkey = "keys/next.key"'
        self.farm.write_config(self.farm.port)
        self.farm.stop()
        self.farm.start()
        second = self.upload("2.1")
        self.verify(second)
        self.assertEqual(self.openssl(second, self.keys / "next.pub"), 0)
        kept = self.farm.folder / "kept-root.json"
        kept.write_bytes(old_root)
        self.assertIn("A key that you do not trust", self.verify(second, "--root", kept, status=1))
        revoke = ("revoke", self.root, "--root-key", root_key, "--key-id")
        self.assertIn("has no such key", self.attest(*revoke, "0" * 64, "--from", "always", status=1))
        self.assertIn("does not name this key as a root key", self.attest("rotate", self.root, "--root-key", self.keys / "next.key", status=1))
        self.attest(*revoke, old_id, "--from", "2099-01-01T00:00:00Z")
        self.verify(first)  # it was signed before
        self.attest(*revoke, old_id, "--from", "always")
        self.assertIn("The key was revoked before the statement was signed", self.verify(first, status=1))
        self.verify(second)

    def test_a_key_that_others_can_replace_does_not_sign(self):
        (self.keys / "provenance.key").chmod(0o660)
        done = self.farm.run("wheelyard-registry", "serve", "--check", "--config", self.farm.config)
        self.assertEqual(done.returncode, 2)
        self.assertIn("Others than its owner can read or replace a private key", done.stderr)


if __name__ == "__main__":
    main()
