"""What both the newest pip and uv refuse, no preset takes; what one of them installs, `mirror` takes, unless it is something else than
what was checked (installed_test.py). Both are asked here."""

import json
import subprocess
import zipfile
from pathlib import Path

from support.case import FarmCase, main
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, Farm
from support.wheels import Wheel

INFO = "six-1.0.dist-info"
# Other members of a right wheel; RECORD lists them.
MEMBERS = {
    "nothing": {},
    "two .dist-info": {"vendored-1.0.dist-info/METADATA": b"x"},
    "a file below a file": {"six/__init__.py/inner": b"x"},
    "a component of 256 bytes": {"six/" + "n" * 256: b"x"},
    "another scheme": {"six-1.0.data/etc/six.conf": b"x"},
    "no scheme": {"six-1.0.data/six.conf": b"x"},
    "another scheme of another project": {"other-1.0.data/etc/six.conf": b"x"},
    "an entry point without =": {f"{INFO}/entry_points.txt": b"[six.plugins]\nsix\n"},
    "a script without an object": {f"{INFO}/entry_points.txt": b"[console_scripts]\nsix = six\n"},
    "a script with an odd object": {f"{INFO}/entry_points.txt": b"[console_scripts]\nsix = six:1main\n"},
    "a script outside": {f"{INFO}/entry_points.txt": b"[console_scripts]\n../six = six:main\n"},
    "a script in a folder": {f"{INFO}/entry_points.txt": b"[console_scripts]\nsub/six = six:main\n"},
}
# Names of members that the archive has in another form: as many bytes.
RENAMED = {
    "another project's .dist-info": (INFO, "sox-1.0.dist-info"),
    "another version's .dist-info": (INFO, "six-2.0.dist-info"),
    ".dist-info in capitals": (INFO, "six-1.0.DIST-INFO"),
}
LEFT_OUT = {"no WHEEL": f"{INFO}/WHEEL", "no RECORD": f"{INFO}/RECORD"}


class MirrorTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        cls.farm = cls.enterClassContext(Farm())

    def write(self, members: dict[str, bytes]) -> Path:
        path = self.folder / "six-1.0-py3-none-any.whl"
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return path

    def wheels(self):
        for what, members in MEMBERS.items():
            yield what, self.write(Wheel("six", extra_members=members).members())
        right = Wheel("six").members()
        for what, (old, new) in RENAMED.items():
            yield what, self.write({name.replace(old, new): data.replace(old.encode(), new.encode()) for name, data in right.items()})
        for what, name in LEFT_OUT.items():
            yield what, self.write({other: data for other, data in right.items() if other != name})
        path = self.write(right)
        path.write_bytes(path.read_bytes().replace(b"six/__init__.py", b"sox/__init__.py", 1))
        yield "another name in the local header", path

    def installs(self, *command) -> bool:
        return subprocess.run([*command, "--no-deps", "--no-index", "--target", self.folder / command[0].parts[-3]], env=self.farm.environment,
                              capture_output=True, timeout=COMMAND_TIMEOUT_S).returncode == 0

    def test_a_preset_takes_what_an_installer_takes(self):
        pip, uv = CLIENTS / "pip-new/bin/python", CLIENTS / "uv/bin/uv"
        refused = set()
        for what, wheel in self.wheels():
            with self.subTest(what):
                takes = (self.installs(pip, "-m", "pip", "--isolated", "install", "--no-compile", wheel) or
                         self.installs(uv, "pip", "install", "--no-config", "--no-cache", "--python", pip, wheel))
                done = self.farm.run("wheelyard-registry", "check", "--json", "--policy", "mirror", wheel)
                outcome = json.loads(done.stdout)["wheels"][0]["outcome"]
                self.assertEqual(outcome, "accepted" if takes else "refused", done.stdout)
                if not takes:
                    refused.add(what)
        self.assertGreater(len(refused), 10)  # else the installers changed
        self.assertIn("two .dist-info", refused)
        self.assertIn("another name in the local header", refused)


if __name__ == "__main__":
    main()
