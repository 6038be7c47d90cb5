"""What twine and commands print when the registry refuses; and that a refusal leaves nothing behind. Every code of an upload:
tests/registry/intake."""

import os
import pty
import subprocess

from support.case import FarmCase, main
from support.clients import RawUpload, twine_upload
from support.farm import BIN, COMMAND_TIMEOUT_S
from support.terminal import read_all
from support.wheels import Wheel, record_hash


class RefusalsTest(FarmCase):
    def tearDown(self):
        self.assertEqual(self.farm.staging_leftovers(), [])

    def upload(self, wheel, **fields) -> RawUpload:
        return RawUpload(self.farm, self.token, wheel, **fields)

    def test_what_a_wheel_contains_does_not_control_a_terminal(self):
        wheel = Wheel("lies", "1.0", extra_members={"lies\x1b[31m\u202e.py": b"x"}).write(self.folder)
        screen, terminal = pty.openpty()
        self.addCleanup(os.close, screen)
        done = subprocess.run([BIN / "wheelyard-registry", "check", wheel], stdout=terminal, stderr=terminal, timeout=COMMAND_TIMEOUT_S)
        os.close(terminal)
        shown = read_all(screen).decode()
        self.assertEqual(done.returncode, 1, shown)
        self.assertIn("[lies?[31m?.py]", shown)

    def test_twine_prints_why(self):
        wheel = Wheel("lie-hash", record_changes={"lie_hash/__init__.py": record_hash(b"other")})
        done = twine_upload(self.farm, self.token, wheel.write(self.folder))
        self.assert_failed(done, "400", "RECORD")
        self.assertEqual(self.farm.files(wheel.name), {})

    def test_what_old_clients_say_of_the_python_is_not_compared(self):
        self.assertEqual(self.upload(Wheel("old-client").write(self.folder), pyversion="3.8").send()[0], 200)

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
