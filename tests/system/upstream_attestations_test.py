"""Attestations that an upstream has of its files (PEP 740): verified here, passed on under addresses of the farm, and kept. The
upstream may lie, be slow, or change its mind."""

import json
import shutil

from support.case import OwnFarmsCase, main
from support.farm import ROOT, Farm
from support.live_tree import paths_in
from support.upstream import Upstream
from support.wheels import Wheel

BASE, SITE = "base", "gh200"
PUBLIC = "https://wheels.example.org/farm"
SAMPLES = ROOT / "tests" / "attest" / "sigstore" / "data"
PROJECT, VERSION = "circleci-sign-publish-example", "0.0.1.dev137"
WHEEL = "circleci_sign_publish_example-0.0.1.dev137-py3-none-any.whl"
JSON = "application/vnd.pypi.simple.v1+json"
INTEGRITY = "application/vnd.pypi.integrity.v1+json"


def attestation() -> dict:
    return json.loads((SAMPLES / f"{WHEEL}.publish.attestation").read_text())


def provenance(kind: str = "CircleCI", **changed) -> bytes:
    """As the public index has it: the publisher is what was registered there."""
    publisher = {"kind": kind, "project_id": "someone else's", "environment": "release", "claims": None}
    bundles = [{"publisher": publisher, "attestations": [attestation() | changed]}]
    return json.dumps({"version": 1, "attestation_bundles": bundles}, indent=2).encode()


def of_rekor_v2() -> dict:
    material = attestation()["verification_material"]
    [entry] = material["transparency_entries"]
    entry["kindVersion"] = {"kind": "hashedrekord", "version": "0.0.2"}
    return {"verification_material": material}


class UpstreamAttestationsTest(OwnFarmsCase):
    def setUp(self):
        super().setUp()
        self.upstream = self.enterContext(Upstream())
        self.own = f"http://127.0.0.1:{self.upstream.port}"

    def open_farm(self, settings: str = f'public_url = "{PUBLIC}"') -> None:
        table = f'[[index.upstream]]\nname = "public"\nurl = "{self.upstream.url}"\nprivate_hosts = ["127.0.0.1"]\n'
        self.farm = self.enterContext(Farm((BASE, SITE), settings=settings, index_settings={BASE: table, SITE: f'inherits = ["{BASE}"]'}))
        self.farm.create_token()
        self.farm.start()

    def offer(self, path, project: str, version: str, answer: tuple, url: str = "") -> str:
        """The path at which the upstream has the attestations, which is that of the farm below its index."""
        address = f"/integrity/{project}/{version}/{path.name}/provenance"
        self.upstream.offer(path, more={"provenance": url or self.own + address})
        self.upstream.answers[address] = answer
        return address

    def offer_sample(self, body: bytes) -> str:
        path = self.folder / WHEEL
        shutil.copy(SAMPLES / WHEEL, path)
        return self.offer(path, PROJECT, VERSION, (200, {"Content-Type": INTEGRITY}, body))

    def kept_metadata(self) -> list:
        return [path for path in paths_in(self.farm.data / "upstream") if path.parent.parent.name == "metadata" and path.is_file()]

    def refusal(self, address: str) -> tuple[int, str, str]:
        status, _, body = self.farm.get(f"/{BASE}{address}")
        problem = json.loads(body)
        return status, problem["code"], problem.get("value", "").partition(":")[0]

    def test_they_are_verified_when_somebody_asks_and_kept_and_every_index_has_its_own_address_of_them(self):
        address = self.offer_sample(provenance())
        self.open_farm()
        for index in (BASE, SITE):
            with self.subTest(index):
                file = self.farm.files(PROJECT, index)[WHEEL]
                beside = f"/{index}/files/{file['hashes']['sha256'][:2]}/{file['hashes']['sha256']}/{WHEEL}.pep740"
                self.assertEqual(file["provenance"], PUBLIC + beside)
                html = self.farm.get(f"/{index}/simple/{PROJECT}/", "text/html")[2].decode()
                self.assertIn(f'data-provenance="{PUBLIC}{beside}"', html)
        self.assertEqual(self.upstream.count(address), 0)  # no page waits for them

        status, headers, body = self.farm.get(f"/{SITE}{address}")
        self.assertEqual((status, headers["Content-Type"]), (200, INTEGRITY))
        [bundle] = json.loads(body)["attestation_bundles"]
        self.assertEqual(bundle["attestations"], [attestation()])
        self.assertEqual(bundle["publisher"], {  # of the certificate alone
            "kind": "CircleCI", "project_id": "fdd9283f-e619-46af-8f9c-851f7d3e8b2b",
            "pipeline_definition_id": "8e4f8ab2-8d7c-4827-9f15-de076d6d647f",
            "vcs_origin": "github.com/CircleCI-Public/sign-and-publish-examples", "vcs_ref": "refs/heads/pypi"})
        self.assertEqual(self.farm.get(beside)[::2], (200, body))
        self.assertEqual(self.farm.get(f"/{SITE}{address}", headers={"If-None-Match": headers["ETag"]})[0], 304)
        plain = self.farm.get(f"/{SITE}{address}", "application/json")
        self.assertEqual((plain[0], plain[1]["Content-Type"]), (200, "application/json"))
        for absent in (address.replace(VERSION, "0.0.2", 1), address.replace(WHEEL, WHEEL.replace("py3", "py2"))):
            self.assertEqual(self.farm.get(f"/{SITE}{absent}")[0], 404, absent)
        self.assertEqual(self.upstream.count(address), 1)

        # The same with the wheel in the store, after a change at the upstream, and without it.
        self.upstream.answers[address] = (200, {}, provenance("Jenkins"))
        self.assertEqual(self.farm.get(beside.removesuffix(".pep740"))[0], 200)
        self.farm.stop()
        self.farm.start()
        self.assertEqual(self.farm.get(f"/{BASE}{address}")[::2], (200, body))
        self.upstream.stop()
        self.assertEqual(self.farm.get(f"/{BASE}{address}")[::2], (200, body))
        self.assertEqual(self.farm.files(PROJECT, SITE)[WHEEL]["provenance"], PUBLIC + beside)
        self.farm.check_tree()
        # What changed on the disk is not served.
        [kept] = self.kept_metadata()
        kept.write_bytes(kept.read_bytes().replace(b'"version":1', b'"version":2'))
        self.assertEqual(self.farm.get(f"/{BASE}{address}")[0], 503)

    def test_a_file_in_quarantine_gives_neither_them_nor_its_metadata(self):
        address = self.offer_sample(provenance())
        self.upstream.files[WHEEL].metadata = b"Metadata-Version: 2.1\n"
        self.open_farm()
        sha256 = self.farm.files(PROJECT, BASE)[WHEEL]["hashes"]["sha256"]
        wheel = f"/files/{sha256[:2]}/{sha256}/{WHEEL}"
        about = (address, wheel + ".pep740", wheel + ".metadata")
        for place in (*about, wheel):
            self.assertEqual(self.farm.get(f"/{SITE}{place}")[0], 200, place)
        words = (f"{BASE}.public", WHEEL, "-c", self.farm.config, "--reason", "malware")
        self.assert_ran(self.farm.run("wheelyard-registry", "quarantine", *words))
        for index in (BASE, SITE):
            for place in (*about, wheel):
                with self.subTest(index=index, place=place):
                    status, _, problem = self.farm.get(f"/{index}{place}")
                    self.assertEqual((status, json.loads(problem)["code"]), (404, "upstream.quarantined"))
        self.assert_ran(self.farm.run("wheelyard-registry", "release", *words))
        self.assertEqual(self.farm.get(f"/{SITE}{address}")[0], 200)

    def test_what_does_not_hold_is_never_served(self):
        endless = f"/files/{Wheel('yard-endless').filename}"
        secret = Wheel("yard-secret").write(self.folder / "secret")
        self.upstream.offer(secret)
        table = {  # what the upstream answers, and what the farm does
            "of another file": ((200, {}, provenance()), (404, "upstream.attestations", "attestation.other_file")),
            "in Rekor v2": ((200, {}, provenance(**of_rekor_v2())), (404, "upstream.attestations", "attestation.rekor_v2")),
            "another version": ((200, {}, b'{"version":2}'), (404, "upstream.attestations", "attestation.version")),
            "none": ((200, {}, b'{"version":1,"attestation_bundles":[]}'), (404, "upstream.attestations", "attestation.form")),
            "garbage": ((200, {}, b"\0garbage"), (404, "upstream.attestations", "attestation.form")),
            "huge": ((200, {}, b" " * (1 << 20)), (404, "upstream.attestations", "attestation.too_large")),
            "gone": ((404, {}, b""), (404, "upstream.attestations", "upstream.status")),
            "forbidden": ((403, {}, b""), (502, "upstream.status", "yard_bad7-1.0-py3-none-any.whl")),
            "broken": ((500, {}, b""), (503, "upstream.unavailable", "yard_bad8-1.0-py3-none-any.whl")),
            "elsewhere": ((302, {"Location": "http://169.254.169.254/latest/"}, b""), (502, "upstream.redirect", "yard_bad9-1.0-py3-none-any.whl")),
            "at another port": ((302, {"Location": "http://127.0.0.1:1/"}, b""), (502, "upstream.redirect", "yard_bad10-1.0-py3-none-any.whl")),
            "a file": ((302, {"Location": f"{self.own}/files/{secret.name}"}, b""), (404, "upstream.attestations", "attestation.form")),
            "without end": ((302, {"Location": self.own + endless}, b""), (404, "upstream.attestations", "attestation.too_large")),
        }
        self.upstream.offer(Wheel("yard-endless").write(self.folder / "endless"))
        offered = self.upstream.files[Wheel("yard-endless").filename]
        offered.body, offered.chunked, offered.hold_after, offered.is_silent = b" " * (1 << 20), True, 1 << 19, True
        self.addCleanup(offered.go.set)
        self.open_farm()
        for number, (what, (answer, wanted)) in enumerate(table.items()):
            with self.subTest(what):
                wheel = Wheel(f"yard-bad{number}")
                address = self.offer(wheel.write(self.folder / "bad"), wheel.name, "1.0", answer)
                for _ in range(2):  # the upstream is not asked again at once
                    self.assertEqual(self.refusal(address), wanted)
                self.assertEqual(self.upstream.count(address), 1)
                sha256 = self.upstream.files[wheel.filename].sha256
                self.assertEqual(self.farm.get(f"/{BASE}/files/{sha256[:2]}/{sha256}/{wheel.filename}")[0], 200)
        self.assertEqual(self.kept_metadata(), [])

    def test_a_publisher_of_another_kind_than_the_certificate_says_is_refused_until_the_upstream_has_the_right_one(self):
        address = self.offer_sample(provenance("GitHub"))
        self.open_farm()
        self.assertEqual(self.refusal(address), (404, "upstream.attestations", "attestation.publisher"))
        self.farm.stop()
        self.upstream.answers[address] = (200, {}, provenance())
        self.farm.start()
        self.assertEqual(self.farm.get(f"/{BASE}{address}")[0], 200)

    def test_the_page_says_nothing_of_those_at_a_host_that_is_not_named_and_without_an_address_of_the_farm(self):
        wheel, attested = Wheel("yard-six"), self.offer_sample(provenance())
        address = self.offer(wheel.write(self.folder / "six"), wheel.name, "1.0", (200, {}, b"{}"), "https://other.example.org/p")
        self.open_farm()
        self.assertNotIn("provenance", self.farm.files("yard-six", BASE)[wheel.filename])
        self.assertEqual(self.refusal(address)[:2], (404, "file.not_found"))
        self.assertEqual(self.upstream.count(address), 0)
        self.farm.stop()
        self.farm.settings = ""
        self.farm.write_config(self.farm.port)
        self.farm.start()
        self.assertNotIn("provenance", self.farm.files(PROJECT, BASE)[WHEEL])
        self.assertEqual(self.farm.get(f"/{BASE}{attested}")[0], 200)


if __name__ == "__main__":
    main()
