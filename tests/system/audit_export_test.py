"""`audit-export` gives an auditor the audit log and the licences of all files, signed: `attest verify`, openssl and a few lines
of Python, with the texts of docs/how-to/export-for-an-auditor.md, say the same of good and of changed bytes."""

import hashlib
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from support.case import main
from support.clients import RawUpload
from support.farm import INDEX, ROOT, Farm
from support.wheels import Wheel, sha256_of

PAGE = (ROOT / "docs" / "how-to" / "export-for-an-auditor.md").read_text()
SBOM = (ROOT / "tests" / "inspect" / "dist_info" / "data" / "demo-1.0.spdx.json").read_bytes()
STEP = 1 if "WHEELYARD_FULL" in os.environ else 97


def documented(name: str) -> str:
    return re.search(rf"<!-- {name}: .*?-->\n```\w+\n(.*?)```\n<!-- end of {name} -->", PAGE, re.DOTALL)[1]


class AuditExportTest(unittest.TestCase):
    def setUp(self):
        self.farm = self.enterContext(Farm((INDEX, "sandbox")))
        self.token = self.farm.create_token(INDEX, "sandbox", name="alice")
        self.farm.start()

    def run_registry(self, *arguments, status: int = 0) -> str:
        done = self.farm.run("wheelyard-registry", *arguments)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def change(self, *arguments) -> str:
        return self.run_registry(*arguments, "--config", self.farm.config)

    def export(self, name: str) -> Path:
        self.text = self.change("audit-export", self.farm.folder / name)
        return self.farm.folder / name

    def upload(self, name: str, *lines: str, index: str = INDEX, **more) -> Path:
        wheel = Wheel(name, "1.0", metadata_lines=lines, **more).write(self.farm.folder / "dist")
        status, problem = RawUpload(self.farm, self.token, wheel, index).send()
        self.assertEqual(status, 200, problem)
        return wheel

    def sign(self) -> Path:
        keys = self.farm.folder / "keys"
        self.run_registry("attest", "init", keys)
        self.farm.settings = '\n[attest]\nkey = "keys/provenance.key"\nsigner = "https://wheels.example"'
        self.farm.write_config(self.farm.port)
        return keys

    def chain(self, file: Path) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-c", documented("chain"), file], capture_output=True, text=True)

    def openssl(self, file: Path, key: Path) -> int:
        script = self.farm.folder / "verify-export.sh"
        script.write_text(documented("verify-export"))
        return subprocess.run(["sh", script, file, key], capture_output=True,
                              env=self.farm.environment | {"PATH": os.environ["PATH"]}).returncode

    def test_the_log_is_a_chain_that_a_later_export_continues(self):
        wheel = self.upload("six")
        self.change("yank", INDEX, wheel.name, "--reason", "broken on ppc64le")
        first = self.export("first")
        self.assertIn("nothing is signed", self.text)
        self.assertEqual(sorted(path.name for path in first.iterdir()), ["audit.jsonl", "licenses.jsonl"])
        self.assertIn("is not beside it", self.run_registry("attest", "verify", first / "audit.jsonl", "--key", self.sign() / "provenance.pub", status=1))
        self.change("delete", INDEX, wheel.name, "--reason", "built from the wrong tag")
        log = [json.loads(line) for line in self.change("audit", "--json").splitlines()]
        second = self.export("second")
        self.assertNotIn("nothing is signed", self.text)
        events = [json.loads(line) for line in (second / "audit.jsonl").read_text().splitlines()]
        self.assertEqual([{name: event[name] for name in log[0]} for event in events], log)
        self.assertEqual([event["kind"] for event in events[-3:]], ["file_added", "file_yanked", "file_deleted"])
        self.assertEqual([event["details"]["sha256"] for event in events[-3:]], [sha256_of(wheel)] * 3)
        self.assertEqual((second / "licenses.jsonl").read_text(), "")
        self.assertTrue((second / "audit.jsonl").read_bytes().startswith((first / "audit.jsonl").read_bytes()))
        # What the statement says is what the file alone shows.
        said = json.loads(self.run_registry("attest", "verify", second / "audit.jsonl", "--root", self.farm.folder / "keys" / "root.json", "--json"))["said"]
        self.assertEqual((said["registry"]["id"], said["records"], said["serial"]),
                         ("https://wheels.example", len(log), log[-1]["serial"]))
        self.assertEqual(self.chain(second / "audit.jsonl").stdout.split(), [str(said["records"]), said["head"]])
        count, head = self.chain(first / "audit.jsonl").stdout.split()
        line = (second / "audit.jsonl").read_bytes().splitlines(keepends=True)[int(count) - 1]
        self.assertEqual(hashlib.sha256(line).hexdigest(), head)
        self.assertIn("of a wheel: `avail_wheels verify`", self.run_registry("attest", "verify", wheel, "--root",
                                                                            self.farm.folder / "keys" / "root.json", status=1))
        with self.subTest("a removed and a changed event"):
            lines = (second / "audit.jsonl").read_bytes().splitlines(keepends=True)
            for changed in (lines[:1] + lines[2:], [lines[0].replace(b":", b": ", 1), *lines[1:]]):
                forged = self.farm.folder / "forged.jsonl"
                forged.write_bytes(b"".join(changed))
                self.assertIn("line 2 does not follow", self.chain(forged).stderr)
        with self.subTest("an export replaces nothing, and leaves nothing when it fails"):
            before = (second / "audit.jsonl").read_bytes()
            self.assertIn("already", self.run_registry("audit-export", f"{second}/", "--config", self.farm.config, status=1))
            self.assertEqual((second / "audit.jsonl").read_bytes(), before)
            (self.farm.folder / "keys" / "provenance.key").chmod(0o660)
            self.run_registry("audit-export", self.farm.folder / "third", "--config", self.farm.config, status=1)
            self.assertEqual([path.name for path in self.farm.folder.iterdir() if "third" in path.name or ".tmp" in path.name], [])

    def test_licences_are_those_of_metadata_and_of_sboms_and_every_flipped_bit_is_noticed(self):
        keys = self.sign()
        expression = self.upload("expressed", "License-Expression: MIT OR Apache-2.0", "License: ignored",
                                 extra_members={"expressed-1.0.dist-info/sboms/demo.spdx.json": SBOM})
        free = self.upload("free", "License: BSD", "Classifier: License :: OSI Approved :: MIT License")
        named = self.upload("named", "License: A text", "  of two lines", "Classifier: License :: OSI Approved :: MIT License",
                            "Classifier: License :: OSI Approved :: Apache Software License", index="sandbox")
        silent = self.upload("silent")
        self.change("quarantine", INDEX, silent.name, "--reason", "looks odd")
        folder = self.export("export")
        rows = {row["filename"]: row for row in map(json.loads, (folder / "licenses.jsonl").read_text().splitlines())}
        self.assertEqual({name: (row["index"], row["license"], row["license_from"], row["quarantined"]) for name, row in rows.items()},
                         {expression.name: (INDEX, "MIT OR Apache-2.0", "License-Expression", False),
                          free.name: (INDEX, "BSD", "License", False),
                          named.name: ("sandbox", "MIT License, Apache Software License", "Classifier", False),
                          silent.name: (INDEX, None, None, True)})
        self.assertEqual(rows[free.name]["sha256"], sha256_of(free))
        zlib, = rows[expression.name]["components"]
        self.assertEqual(zlib, {"name": "zlib", "version": "1.2.11", "purl": "pkg:generic/zlib@1.2.11", "license": "Zlib",
                                "sha256": "c3e5e9fdd5004dcb542feda5ee4f0ff0744628baf8ed2dd5d66f8ca1197cb1a1"})
        root, public = keys / "root.json", keys / "provenance.pub"
        for file in (folder / "audit.jsonl", folder / "licenses.jsonl"):
            text = self.run_registry("attest", "verify", file, "--root", root)
            self.assertIn(f"{len(file.read_text().splitlines())}, up to event", text)
            self.assertEqual(self.openssl(file, public), 0)
            statement = file.with_name(file.name + ".statement")
            for path in (file, statement):
                good = path.read_bytes()
                for at in range(0, len(good), max(STEP, len(good) // 25)):
                    with self.subTest(path=path.name, at=at):
                        changed = bytearray(good)
                        changed[at] ^= 1 << at % 8
                        path.write_bytes(changed)
                        self.run_registry("attest", "verify", file, "--root", root, status=1)
                path.write_bytes(good)
            # What openssl says of a payload, of a signature, and of the file.
            for path, at in ((file, 30), (statement, 40), (statement, statement.read_bytes().index(b'"sig"') + 20)):
                good = path.read_bytes()
                path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
                self.assertNotEqual(self.openssl(file, public), 0, (path.name, at))
                path.write_bytes(good)
        with self.subTest("the other file's statement, another name, a stranger's key"):
            renamed = folder / "other.jsonl"
            renamed.write_bytes((folder / "audit.jsonl").read_bytes())
            renamed.with_name("other.jsonl.statement").write_bytes((folder / "audit.jsonl.statement").read_bytes())
            self.assertIn("is not the one that was signed", self.run_registry("attest", "verify", renamed, "--root", root, status=1))
            self.assertNotEqual(self.openssl(renamed, public), 0)
            self.run_registry("attest", "init", self.farm.folder / "strange")
            self.assertIn("A key that you do not trust", self.run_registry(
                "attest", "verify", folder / "audit.jsonl", "--root", self.farm.folder / "strange" / "root.json", status=1))

    def test_metadata_that_cannot_be_read_is_named_in_its_row_and_the_export_goes_on(self):
        names = ("damaged", "folder", "good", "missing")
        wheels = {name: self.upload(name, "License-Expression: MIT") for name in names}
        blobs = {}
        for name, wheel in wheels.items():
            sha256 = self.farm.files(name)[wheel.name]["core-metadata"]["sha256"]
            blobs[name] = self.farm.data / "blobs" / "sha256" / sha256[:2] / sha256
        self.farm.stop()
        for name in ("damaged", "folder", "missing"):
            blobs[name].unlink()
        blobs["damaged"].write_text("License-Expression: GPL-3.0-only")
        blobs["folder"].mkdir()
        text = self.run_registry("audit-export", self.farm.folder / "export", "--json", "--config", self.farm.config, status=3)
        self.assertIn("the metadata of 3 files cannot be read", text)
        self.assertEqual(json.loads(text.splitlines()[0])["unreadable"], 3)
        rows = [json.loads(line) for line in (self.farm.folder / "export" / "licenses.jsonl").read_text().splitlines()]
        self.assertEqual([(row["filename"], row["license"], row["license_from"], row.get("license_error")) for row in rows],
                         [(wheels["damaged"].name, None, "unreadable", "metadata.damaged"),
                          (wheels["folder"].name, None, "unreadable", "file.not_regular"),
                          (wheels["good"].name, "MIT", "License-Expression", None),
                          (wheels["missing"].name, None, "unreadable", "os.ENOENT")])
        self.assertFalse([path for path in self.farm.folder.iterdir() if ".tmp" in path.name])


if __name__ == "__main__":
    main()
