"""`audit-osv` finds which published files known vulnerabilities hit, themselves or through what their SBOMs state, with published
records of OSV."""

import json
import shutil
import unittest

from support.case import main
from support.clients import RawUpload
from support.farm import INDEX, ROOT, Farm
from support.wheels import Wheel

RECORDS = ROOT / "tests/registry/commands/advisories/data"


def sbom(*purls: str) -> bytes:
    components = [{"name": purl.split("@")[0].split("/")[-1], "version": purl.split("@")[1], "purl": purl} for purl in purls]
    return json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.5", "components": components}).encode()


class AuditOsvTest(unittest.TestCase):
    def setUp(self):
        self.farm = self.enterContext(Farm())
        self.token = self.farm.create_token(INDEX)
        self.farm.start()

    def upload(self, name: str, version: str, *purls: str) -> str:
        members = {f"{name}-{version}.dist-info/sboms/x.cdx.json": sbom(*purls)} if purls else {}
        wheel = Wheel(name, version, extra_members=members).write(self.farm.folder)
        status, problem = RawUpload(self.farm, self.token, wheel, INDEX).send()
        self.assertEqual(status, 200, problem)
        return wheel.name

    def audit(self, path, *more):
        return self.farm.run("wheelyard-registry", "audit-osv", path, "--config", self.farm.config, *more)

    def test_files_are_hit_themselves_and_through_components(self):
        hit_torch = self.upload("torch", "2.5.1+cu124")
        self.upload("torch", "2.6.0+cu126")
        by_zlib = self.upload("grafted", "1.0", "pkg:rpm/almalinux/zlib@1.2.11-18.el8_5", "pkg:deb/debian/libjansson4@2.14-2")
        self.upload("patched", "1.0", "pkg:rpm/almalinux/zlib@1.2.11-25.el8", "pkg:cargo/libwebp-sys@0.9.4")
        by_crate = self.upload("images", "2.0", "pkg:cargo/libwebp-sys@0.9.2")
        done = self.audit(RECORDS, "--json")
        self.assertEqual(done.returncode, 3, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual(sorted((one["filename"], one["advisory"], (one["component"] or {}).get("name"), one["fixed"]) for one in found["hits"]),
                         sorted([(hit_torch, "GHSA-53q9-r3pm-6pq6", None, "2.6.0"),
                                 (by_zlib, "ALSA-2022:7106", "zlib", "1.2.11-19.el8_6"),
                                 (by_crate, "GHSA-j7hp-h8jx-5ppr", "libwebp-sys", "0.9.3")]))
        self.assertEqual((found["records"], found["files"], found["components_without_package"]), (4, 5, {"pkg:deb": 1}))
        text = self.audit(RECORDS)
        self.assertEqual(text.returncode, 3)
        for words in (hit_torch, "CVE-2025-32434", "the file itself", "zlib 1.2.11-18.el8_5", "files hit: 3 of 5; records read: 4",
                      "not judged: components with pkg:deb, of which no versions are compared: 1"):
            self.assertIn(words, text.stdout)
        with self.subTest("one record, and a vulnerability under its other name"):
            folder = self.farm.folder / "records"
            folder.mkdir()
            shutil.copy(RECORDS / "GHSA-53q9-r3pm-6pq6.json", folder)
            record = json.loads((RECORDS / "GHSA-53q9-r3pm-6pq6.json").read_text())
            (folder / "other.json").write_text(json.dumps(record | {"id": "PYSEC-2025-41", "aliases": ["GHSA-53q9-r3pm-6pq6"]}))
            hits = json.loads(self.audit(folder, "--json").stdout)["hits"]
            self.assertEqual([(one["filename"], one["advisory"]) for one in hits], [(hit_torch, "GHSA-53q9-r3pm-6pq6")])
        with self.subTest("a file that is no record is named, after the answer"):
            (folder / "package.json").write_text('{"name": "x"}')
            done = self.audit(folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("files hit: 1 of 5; records read: 2", done.stdout)
            self.assertIn("1 of 3 files are no records of OSV", done.stderr)
            self.assertIn("package.json", done.stderr)

    def test_no_hit_is_status_0_and_wrong_input_is_said(self):
        self.upload("six", "1.16.0")
        done = self.audit(RECORDS / "ALSA-2022_7106.json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("files hit: 0 of 1; records read: 1", done.stdout)
        empty = self.farm.folder / "empty"
        empty.mkdir()
        for path, words in ((empty, "has no record"), (self.farm.config, "no records of OSV")):
            done = self.audit(path)
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stderr)
        self.assertIn("configured: ", self.audit(RECORDS, "--index", "nowhere").stderr)


if __name__ == "__main__":
    main()
