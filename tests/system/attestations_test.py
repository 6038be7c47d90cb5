"""A real wheel with its real attestation, sent by twine and by uv: verified, served as PyPI does, and asked for by an index;
every pip and uv installs as before."""

import json
import shutil
import subprocess
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from support.case import main
from support.clients import CLIENTS, PIPS, pip_install, twine_upload, uv_publish
from support.farm import COMMAND_TIMEOUT_S, INDEX, ROOT, Farm
from support.wheels import Wheel

STRICT, SECRET = "strict", "secret"
SAMPLES = ROOT / "tests" / "attest" / "sigstore" / "data"
PROJECT, VERSION = "circleci-sign-publish-example", "0.0.1.dev137"
WHEEL = "circleci_sign_publish_example-0.0.1.dev137-py3-none-any.whl"
ATTESTATION = f"{WHEEL}.publish.attestation"
ORIGIN = """
[[index.attested_by]]
issuer = "https://oidc.circleci.com"
repository = "github.com/CircleCI-Public/sign-and-publish-examples"
"""


class AttestationsTest(unittest.TestCase):
    def setUp(self):
        self.farm = self.enterContext(Farm((INDEX, STRICT, SECRET), settings='public_url = "https://wheels.example.org/farm"',
                                           index_settings={STRICT: ORIGIN, SECRET: 'read = "token"'}))
        self.token = self.farm.create_token(INDEX, STRICT, SECRET, actions=("upload", "read"))
        self.folder = self.farm.folder / "dist"
        self.folder.mkdir()
        for name in (WHEEL, ATTESTATION):
            shutil.copy(SAMPLES / name, self.folder)
        self.files = (self.folder / WHEEL, self.folder / ATTESTATION)
        self.farm.start()

    def get(self, path: str, accept: str = "*/*", token: str = "") -> tuple[int, dict, bytes]:
        headers = {"Accept": accept} | ({"Authorization": f"Bearer {token}"} if token else {})
        try:
            with urllib.request.urlopen(urllib.request.Request(self.farm.url + path, headers=headers)) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), error.read()

    def check_served(self, index: str):
        status, headers, body = self.get(f"/{index}/integrity/{PROJECT}/{VERSION}/{WHEEL}/provenance")
        self.assertEqual((status, headers["Content-Type"]), (200, "application/vnd.pypi.integrity.v1+json"))
        document = json.loads(body)
        self.assertEqual(document["version"], 1)
        (bundle,) = document["attestation_bundles"]
        self.assertEqual(bundle["publisher"]["kind"], "CircleCI")
        self.assertEqual(bundle["attestations"], [json.loads((SAMPLES / ATTESTATION).read_text())])
        page = json.loads(self.get(f"/{index}/simple/{PROJECT}/", "application/vnd.pypi.simple.v1+json")[2])
        url = page["files"][0]["provenance"]
        self.assertTrue(url.startswith(f"https://wheels.example.org/farm/{index}/files/"), url)
        self.assertIn(f'data-provenance="{url}"', self.get(f"/{index}/simple/{PROJECT}/", "text/html")[2].decode())
        beside = url.removeprefix("https://wheels.example.org/farm")
        self.assertEqual(self.get(beside)[2], body)
        self.assertEqual((self.farm.tree / beside.lstrip("/")).read_bytes(), body)
        return document

    def test_what_twine_and_uv_send_is_served_as_on_the_public_index_and_every_installer_installs(self):
        done = twine_upload(self.farm, self.token, *self.files, options=("--attestations",), index=STRICT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        by_twine = self.check_served(STRICT)
        done = uv_publish(self.farm, self.token, *self.files)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.check_served(INDEX), by_twine)
        # Again: the same bytes are there.
        done = twine_upload(self.farm, self.token, *self.files, options=("--attestations",), index=STRICT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = self.farm.run("avail_wheels", "verify", self.files[0], "--index-url", self.farm.simple_url(STRICT))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "attestation +github.com/CircleCI-Public/sign-and-publish-examples .*says https://oidc.circleci.com")
        for pip in PIPS:
            with self.subTest(pip=pip):
                target = self.farm.folder / pip
                done = pip_install(self.farm, pip, target, PROJECT, options=("--pre",), index=STRICT)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        target = self.farm.folder / "uv-target"
        done = subprocess.run([CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--no-deps", "--prerelease", "allow",
                               "--index-url", self.farm.simple_url(STRICT), "--target", target, PROJECT],
                              env=self.farm.environment | {"PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
                              timeout=COMMAND_TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        checked = self.farm.run("wheelyard-registry", "verify", "--config", self.farm.config)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        checked = self.farm.run("wheelyard-indexer", "check", "--to", self.farm.tree)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_a_file_comes_into_the_index_neither_by_promotion_nor_by_import_nor_out_of_quarantine_without_the_proof(self):
        wheel, attestation = self.files
        other = Wheel("demo").write(self.folder / "other")
        done = twine_upload(self.farm, self.token, other)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = twine_upload(self.farm, self.token, wheel, attestation, options=("--attestations",))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        promoter = self.farm.create_token(INDEX, STRICT, name="promoter", actions=("promote",))
        address = f"/api/v1/indexes/{INDEX}/files/{other.name}/promote"
        body = json.dumps({"format": "wheelyard.change/1", "to": STRICT}).encode()
        request = urllib.request.Request(self.farm.url + address, data=body, headers={
            "Authorization": f"Bearer {promoter}", "Content-Type": "application/json"})
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        with refused.exception as answer:
            self.assertEqual((answer.code, json.load(answer)["code"]), (403, "upload.not_attested"))

        def run(*words):
            return self.farm.run("wheelyard-registry", *words, "-c", self.farm.config)

        for words in (("promote", INDEX, other.name, "--to", STRICT), ("import", STRICT, other), ("import", STRICT, wheel)):
            with self.subTest(words=words):
                done = run(*words)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("from other origins only: `strict: no agent`", done.stdout + done.stderr)
        self.assertEqual(self.get(f"/{STRICT}/simple/")[2].count(b"<a "), 0)
        done = run("promote", INDEX, wheel.name, "--to", STRICT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.check_served(STRICT)
        # What came before the table stays where it is, and does not come out of quarantine.
        self.farm.stop()
        done = run("quarantine", INDEX, other.name, "--reason", "looked at")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.farm.index_settings[INDEX] = ORIGIN
        self.farm.write_config(self.farm.port)
        done = run("release", INDEX, other.name, "--reason", "looks good")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("This index takes demo from other origins only", done.stdout + done.stderr)

    def test_only_who_may_read_a_private_index_reads_its_attestations(self):
        done = twine_upload(self.farm, self.token, *self.files, options=("--attestations",), index=SECRET)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        page = json.loads(self.get(f"/{SECRET}/simple/{PROJECT}/", "application/vnd.pypi.simple.v1+json", self.token)[2])
        beside = page["files"][0]["provenance"].removeprefix("https://wheels.example.org/farm")
        for path in (f"/{SECRET}/integrity/{PROJECT}/{VERSION}/{WHEEL}/provenance", beside):
            with self.subTest(path=path):
                self.assertEqual(self.get(path)[0], 401)
                self.assertEqual(self.get(path, token=self.token)[0], 200)

    def test_what_does_not_hold_or_is_not_of_the_named_publisher_is_refused_with_the_reason(self):
        attestation = json.loads(self.files[1].read_text())
        entry = attestation["verification_material"]["transparency_entries"][0]
        entry["kindVersion"] = {"kind": "hashedrekord", "version": "0.0.2"}
        self.files[1].write_text(json.dumps(attestation))
        done = twine_upload(self.farm, self.token, *self.files, options=("--attestations",), index=STRICT)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Rekor v2, which is not supported", done.stdout + done.stderr)
        done = twine_upload(self.farm, self.token, self.files[0], index=STRICT)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"This index takes {PROJECT} from other origins only", done.stdout + done.stderr)
        other = Wheel("demo").write(self.folder / "other")
        beside = Path(f"{other}.publish.attestation")
        shutil.copy(SAMPLES / ATTESTATION, beside)
        done = uv_publish(self.farm, self.token, other, beside)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("The attestation is about a file of another name", done.stdout + done.stderr)
        self.assertEqual(self.get(f"/{STRICT}/simple/{PROJECT}/")[0], 404)


if __name__ == "__main__":
    main()
