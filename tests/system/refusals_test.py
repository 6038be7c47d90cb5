"""What the registry refuses, with its status and its stable code; and that a refusal leaves nothing behind."""

import os
import pty
import subprocess

from support.case import FarmCase, main
from support.clients import RawUpload, twine_upload
from support.farm import BIN, COMMAND_TIMEOUT_S
from support.wheels import Wheel, record_hash

OTHER_INDEX = "other"

# (what is wrong, the wheel, the code, what the evidence names)
LYING_WHEELS = [
    ("RECORD gives a file another hash", Wheel("lie-hash", record_changes={"lie_hash/__init__.py": record_hash(b"other")}),
     "record.hash_mismatch", ["lie_hash/__init__.py"]),
    ("RECORD leaves a file out", Wheel("lie-unlisted", record_changes={"lie_unlisted/__init__.py": None}),
     "record.unlisted", ["lie_unlisted/__init__.py"]),
    ("METADATA has another name", Wheel("lie-name", metadata_name="somebody-else"),
     "metadata.name_mismatch", ["somebody-else"]),
    ("METADATA has another version", Wheel("lie-version", metadata_version="9.9"),
     "metadata.version_mismatch", ["9.9"]),
    ("WHEEL has other tags", Wheel("lie-tags", wheel_tags=("cp311-cp311-linux_x86_64",)),
     "wheel_info.tags_differ", ["cp311-cp311-linux_x86_64"]),
]


class RefusalsTest(FarmCase):
    indexes = ("debian12", OTHER_INDEX)

    def tearDown(self):
        self.assertEqual(self.farm.staging_leftovers(), [])

    def upload(self, wheel, **fields) -> RawUpload:
        return RawUpload(self.farm, self.token, wheel, **fields)

    def test_a_wheel_that_lies_is_refused_with_the_evidence(self):
        for what, wheel, code, evidence in LYING_WHEELS:
            with self.subTest(what):
                self.assert_refused(self.upload(wheel.write(self.folder)), 400, code, *evidence)
                self.assertEqual(self.farm.files(wheel.name), {})

    def test_what_a_wheel_contains_does_not_control_a_terminal(self):
        wheel = Wheel("lies", "1.0", extra_members={"lies\x1b[31m\u202e.py": b"x"}).write(self.folder)
        screen, terminal = pty.openpty()
        self.addCleanup(os.close, screen)
        done = subprocess.run([BIN / "wheelyard-registry", "check", wheel], stdout=terminal, stderr=terminal, timeout=COMMAND_TIMEOUT_S)
        os.close(terminal)
        shown = os.read(screen, 1 << 16).decode()
        self.assertEqual(done.returncode, 1, shown)
        self.assertIn("[lies?[31m?.py]", shown)

    def test_twine_prints_why(self):
        done = twine_upload(self.farm, self.token, LYING_WHEELS[0][1].write(self.folder))
        self.assert_failed(done, "400", "RECORD")

    def test_a_truncated_wheel_is_refused_wherever_it_is_cut(self):
        whole = Wheel("cut").write(self.folder).read_bytes()
        cut = self.folder / "cut" / "cut-1.0-py3-none-any.whl"
        cut.parent.mkdir()
        for length in (len(whole) - 1, len(whole) - 22, len(whole) // 2, 30, 4, 1):
            with self.subTest(length=length):
                cut.write_bytes(whole[:length])
                status, problem = self.upload(cut).send()
                self.assertEqual(status, 400, problem)
                self.assertTrue(problem["code"].startswith("zip."), problem)

    def test_what_is_no_zip_is_refused(self):
        path = self.folder / "nozip-1.0-py3-none-any.whl"
        for content in (b"", b"not a zip", b"\x7fELF" + bytes(4096), b"PK\x03\x04" + bytes(4096)):
            with self.subTest(content[:8]):
                path.write_bytes(content)
                status, problem = self.upload(path).send()
                self.assertEqual(status, 400, problem)
                self.assertTrue(problem["code"] and problem["advice"], problem)

    def test_a_digest_that_differs_is_refused(self):
        wheel = Wheel("digest").write(self.folder)
        for field, value in (("sha256_digest", "0" * 64), ("md5_digest", "0" * 32)):
            with self.subTest(field):
                self.assert_refused(self.upload(wheel, **{field: value}), 400, "upload.digest_mismatch", value)
        self.assertEqual(self.farm.files("digest"), {})

    def test_no_credentials_are_401_and_wrong_ones_403(self):
        wheel = Wheel("credentials").write(self.folder)
        for token in (None, ""):
            self.assert_refused(RawUpload(self.farm, token, wheel), 401, "auth.missing")
        wrong_secret = self.token[:-1] + ("0" if self.token[-1] != "0" else "1")
        for token in ("nonsense", "wy_000000000000_" + "0" * 64, wrong_secret):
            with self.subTest(token[:6]):
                self.assert_refused(RawUpload(self.farm, token, wheel), 403, "auth.token_refused")
        self.assertEqual(self.farm.files("credentials"), {})

    def test_a_token_for_another_index_is_403(self):
        token = self.farm.create_token(OTHER_INDEX, name="other")
        wheel = Wheel("elsewhere").write(self.folder)
        self.assert_refused(RawUpload(self.farm, token, wheel), 403, "auth.index_refused", "debian12")
        self.assertEqual(RawUpload(self.farm, token, wheel, index=OTHER_INDEX).send()[0], 200)

    def test_a_revoked_token_is_refused_on_the_next_request(self):
        token = self.farm.create_token(name="short-lived")
        wheel = Wheel("revoked").write(self.folder)
        self.assertEqual(RawUpload(self.farm, token, wheel).send()[0], 200)
        identity = token.rpartition("_")[0]
        self.assert_ran(self.farm.run("wheelyard-registry", "token", "revoke", "--config", self.farm.config, identity))
        self.assertEqual(RawUpload(self.farm, token, wheel).send()[0], 403)

    def test_what_old_clients_say_of_the_python_is_not_compared(self):
        self.assertEqual(self.upload(Wheel("old-client").write(self.folder), pyversion="3.8").send()[0], 200)

    def test_a_second_serve_is_refused_while_the_first_runs(self):
        done = self.farm.run("wheelyard-registry", "serve", "--config", self.farm.config)
        self.assert_failed(done, "stop it first")

    def test_the_help_of_token_create_lists_the_actions(self):
        done = self.farm.run("wheelyard-registry", "token", "create", "--help")
        self.assert_ran(done, "upload", "promote", "build", "task", "audit")

    def test_an_index_that_does_not_exist_is_404(self):
        status, _ = RawUpload(self.farm, self.token, Wheel("nowhere").write(self.folder), index="nowhere").send()
        self.assertEqual(status, 404)

    def test_the_same_file_again_is_200_and_changes_nothing(self):
        wheel = Wheel("again").write(self.folder)
        self.assert_ran(twine_upload(self.farm, self.token, wheel))
        before = self.farm.files("again")
        self.assert_ran(twine_upload(self.farm, self.token, wheel))
        self.assertEqual(self.upload(wheel).send()[0], 200)
        self.assertEqual(self.farm.files("again"), before)

    def test_the_same_name_with_other_bytes_is_409_and_the_first_stay(self):
        first = Wheel("taken", value=1).write(self.folder)
        other = Wheel("taken", value=2).write(self.folder / "other")
        self.assert_ran(twine_upload(self.farm, self.token, first))
        before = self.farm.files("taken")
        self.assert_refused(self.upload(other), 409, "upload.name_taken", first.name)
        self.assert_failed(twine_upload(self.farm, self.token, other), "409", "already exists")
        self.assertEqual(self.farm.files("taken"), before)

    def test_no_secret_is_in_the_log(self):
        self.assertNotIn(self.token.rpartition("_")[2], self.farm.log.read_text())


if __name__ == "__main__":
    main()
