"""What both the newest pip and uv refuse, no preset takes; what one of them installs, `mirror` takes, unless it is something else than
what was checked (installed_test.py); what `linux` takes, both install. Both are asked here."""

import json
import struct
import subprocess
import tempfile
import zipfile
from pathlib import Path

from support.case import FarmCase, main
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, Farm
from support.wheels import Wheel, record_hash

INFO = "six-1.0.dist-info"
HEAD = "Metadata-Version: 2.1\nName: six\nVersion: 1.0\n"


def scripts(line: str) -> dict:
    return {f"{INFO}/entry_points.txt": f"[console_scripts]\n{line}\n".encode()}


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
MEMBERS |= {
    "a name that ends in ..": {"six/..": b"x"},
    "a name that ends in .": {"six/.": b"x"},
    "a name with ./": {"six/./x": b"x"},
    "a name with //": {"six//x": b"x"},
    "a direction mark": {"six/a\u202eb": b"x"},
    "a byte order mark": {"\ufeffsix.py": b"x"},
    "600 folders": {"six/" + "a/" * 600 + "x": b"x"},
    "a script in a folder of .data": {"six-1.0.data/scripts/a/b": b"x"},
    "a file for a scheme": {"six-1.0.data/scripts": b"x"},
    "a file and a folder in .data": {"six/d/e": b"x", "six-1.0.data/purelib/six/d": b"x"},
    "a file for the environment's lib": {"six-1.0.data/data/lib": b"x"},
    "a file that ends in .data": {"x.data": b"x"},
    "a folder of entry points": {f"{INFO}/entry_points.txt/x": b"x"},
    "a script named .": scripts(". = six:main"),
    "a script of 256 bytes": scripts("s" * 256 + " = six:main"),
    "a script with half an extra": scripts("six = six:main [x"),
    "a script with an extra": scripts("six = six:main [x-y, z]"),
    "a script with a bracket": scripts("si] = six:main"),
    "a comment of INI files": scripts("; six"),
    "a value of two lines": {f"{INFO}/entry_points.txt": b"[x]\na = b\n c\n"},
    "an entry point without a name": {f"{INFO}/entry_points.txt": b"[x]\n= b\n"},
    "a script with a zero byte": scripts("a\0b = six:main"),
    "a script with a space": scripts("a b = six:main"),
    "a script with two colons": scripts("six = six:main:sub"),
    "a script with a variable": scripts("six = %(x)s:main"),
    "a script with spaces around the colon": scripts("six = six : main"),
    "a script with two equals signs": scripts("six==six:main"),
    "an object with an equals sign": scripts("six = =six:main"),
    "a script twice": scripts("six = six:a\nsix = six:b"),
    "a section twice": scripts("six = six:a\n[console_scripts]\nsix2 = six:b"),
    "entry points in Latin-1": {f"{INFO}/entry_points.txt": b"[x]\na = \xe9\n"},
}
# Files of .dist-info in another form.
REPLACED = {
    "a requirement on this machine": ("METADATA", HEAD + "Requires-Dist: six-file @ file:///nowhere/six_file-1.0-py3-none-any.whl\n"),
    "a marker 5,000 deep": ("METADATA", HEAD + "Requires-Dist: a; " + "(" * 5000 + "os_name=='x'" + ")" * 5000 + "\n"),
    "a requirement by a path": ("METADATA", HEAD + "Requires-Dist: six-file @ ./six_file-1.0-py3-none-any.whl\n"),
    "a version that is none": ("METADATA", HEAD + "Requires-Dist: pytz (>=2011k)\n"),
    "a version with a star": ("METADATA", HEAD + "Requires-Dist: pytz >=1.*\n"),
    "half a marker": ("METADATA", HEAD + "Requires-Dist: pytz; os_name\n"),
    "a marker 300 deep": ("METADATA", HEAD + "Requires-Dist: a; " + "(" * 300 + "os_name=='x'" + ")" * 300 + "\n"),
    "100,000 headers": ("METADATA", HEAD + "Classifier: x\n" * 100_000),
    "METADATA with CR": ("METADATA", HEAD.replace("\n", "\r")),
    "METADATA of a mailbox": ("METADATA", "From six Thu Jan 1 00:00:00 1970\n" + HEAD),
    "Wheel-Version 0.1": ("WHEEL", "Wheel-Version: 0.1\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
    "Wheel-Version 1.0.0": ("WHEEL", "Wheel-Version: 1.0.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
    "Wheel-Version 01.0": ("WHEEL", "Wheel-Version: 01.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
    "WHEEL in lower case": ("WHEEL", "wheel-version: 1.0\nroot-is-purelib: true\ntag: py3-none-any\n"),
    "Wheel-Version 2.0": ("WHEEL", "Wheel-Version: 2.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
}
# What one of them or both install, and no preset takes: rules.md has each rule, with the reason.
EXCEPTIONS = {
    "zip.name_path": {"x/../six/x": b"x"},
    "zip.name_case": {"six-1.0.data/purelib/SIX/__init__.py": b"x"},
    "dist_info.several": {"OTHER-2.0.DIST-INFO/METADATA": b"x"},
    "data_folder.name_mismatch": {"other-1.0.data/purelib/x": b"x"},
    "installed.distribution": {"six-1.0.data/purelib/other-2.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: other\nVersion: 2.0\n"},
    "installed.path_twice": {"six-1.0.data/purelib/six/__init__.py": b"x"},
    "installed.interpreter": {"six-1.0.data/data/pyvenv.cfg": b"x"},
    "metadata.invalid": {f"{INFO}/METADATA": (HEAD + "Classifier: x\n" * 200_001).encode()},
    "metadata.version_mismatch": {f"{INFO}/METADATA": HEAD.replace("1.0", "2.0").encode()},
    "wheel_info.invalid": {f"{INFO}/WHEEL": b"Wheel-Version: +1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
}
# Installed with what they require.
WITH_REQUIREMENTS = {"a requirement on this machine"}
# Installs the wheels that standard input names, each into a folder of its own, and prints what each one's status is.
PIP = """
import contextlib, io, sys
from pip._internal.cli.main import main
for line in sys.stdin:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        status = main(line.split())
    print(int(status == 0), flush=True)
"""
# Where in a central entry, where in a local header, and two bytes there.
FIELDS = {
    "version needed 9.9": (6, 4, 99),
    "patched data": (8, 6, 1 << 5),
    "masked headers": (8, 6, 1 << 13),
}
# Names of members that the archive has in another form: as many bytes.
RENAMED = {
    "another project's .dist-info": (INFO, "sox-1.0.dist-info"),
    "another version's .dist-info": (INFO, "six-2.0.dist-info"),
    ".dist-info in capitals": (INFO, "six-1.0.DIST-INFO"),
}
LEFT_OUT = {"no WHEEL": f"{INFO}/WHEEL", "no RECORD": f"{INFO}/RECORD"}


class Pipe:
    """Cannot go back, so that a member's sizes follow its data."""

    def __init__(self, file):
        self.write, self.flush = file.write, file.flush


class MirrorTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        cls.farm = cls.enterClassContext(Farm())

    def write(self, members: dict[str, bytes], method: int = zipfile.ZIP_STORED, way=lambda file: file) -> Path:
        path = Path(tempfile.mkdtemp(dir=self.folder)) / "six-1.0-py3-none-any.whl"
        with open(path, "wb") as file, zipfile.ZipFile(way(file), "w", method) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return path

    def write_changed(self, changed: dict[str, bytes]) -> Path:
        """A wheel with those members in place of its own; RECORD is right."""
        members = {name: data for name, data in (Wheel("six").members() | changed).items() if not name.endswith("RECORD")}
        record = "".join(f"{name},{record_hash(data)},{len(data)}\n" for name, data in members.items())
        return self.write(members | {f"{INFO}/RECORD": (record + f"{INFO}/RECORD,,\n").encode()})

    def wheels(self):
        for what, members in MEMBERS.items():
            yield what, self.write(Wheel("six", extra_members=members).members())
        right = Wheel("six").members()
        for what, (old, new) in RENAMED.items():
            yield what, self.write({name.replace(old, new): data.replace(old.encode(), new.encode()) for name, data in right.items()})
        for what, name in LEFT_OUT.items():
            yield what, self.write({other: data for other, data in right.items() if other != name})
        for what, (name, text) in REPLACED.items():
            yield what, self.write_changed({f"{INFO}/{name}": text.encode()})
        record = right[f"{INFO}/RECORD"]
        yield "a blank line in RECORD", self.write(right | {f"{INFO}/RECORD": record + b"\n"})
        yield "RECORD in Latin-1", self.write(right | {f"{INFO}/RECORD": record + b"six/\xe9,,\n"})
        for what, (in_central, in_local, value) in FIELDS.items():
            path = self.write(right)
            data = bytearray(path.read_bytes())
            struct.pack_into("<H", data, data.index(b"PK\1\2") + in_central, value)
            struct.pack_into("<H", data, in_local, value)
            path.write_bytes(data)
            yield what, path
        path = self.write(right)
        yield "tags in capitals", path.rename(path.with_name("six-1.0-PY3-NONE-ANY.whl"))
        for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
            yield f"written to a pipe by method {method}", self.write(right, method, Pipe)
        path = self.write(right)
        path.write_bytes(path.read_bytes().replace(b"six/__init__.py", b"sox/__init__.py", 1))
        yield "another name in the local header", path

    def installed(self, wheels: dict) -> dict:
        """By what was done to the wheel: whether pip installs it, and uv."""
        python, uv = CLIENTS / "pip-new/bin/python", CLIENTS / "uv/bin/uv"

        def arguments(what, tool):
            options = () if what in WITH_REQUIREMENTS else ("--no-deps",)
            return ["install", "--no-index", *options, "--target", str(wheels[what].parent / tool), str(wheels[what])]

        lines = "".join(" ".join(["--isolated", *arguments(what, "pip"), "--no-compile"]) + "\n" for what in wheels)
        done = subprocess.run([python, "-c", PIP], input=lines, env=self.farm.environment, capture_output=True, text=True,
                              timeout=4 * COMMAND_TIMEOUT_S)  # for all of them
        by_pip = dict(zip(wheels, (answer == "1" for answer in done.stdout.split()), strict=True))
        return {what: (by_pip[what], subprocess.run([uv, "pip", *arguments(what, "uv"), "--no-config", "--no-cache", "--python", python],
                                                    env=self.farm.environment, capture_output=True, timeout=COMMAND_TIMEOUT_S).returncode == 0)
                for what in wheels}

    def outcomes(self, wheels: dict, policy: str) -> dict:
        done = self.farm.run("wheelyard-registry", "check", "--json", "--policy", policy, *wheels.values())
        return dict(zip(wheels, (wheel["outcome"] for wheel in json.loads(done.stdout)["wheels"]), strict=True))

    def test_a_preset_takes_what_an_installer_takes(self):
        wheels = dict(self.wheels())
        mirror, linux = self.outcomes(wheels, "mirror"), self.outcomes(wheels, "linux")
        installed = self.installed(wheels)
        for what, (by_pip, by_uv) in installed.items():
            with self.subTest(what, pip=by_pip, uv=by_uv):
                if what not in WITH_REQUIREMENTS:  # on another machine they may be installed
                    self.assertEqual(mirror[what], "accepted" if by_pip or by_uv else "refused")
                if linux[what] == "accepted":
                    self.assertTrue(by_pip and by_uv)
        refused = {what for what, taken in installed.items() if not any(taken)}
        self.assertGreater(len(refused), 10)  # else the installers changed
        self.assertIn("two .dist-info", refused)
        self.assertIn("another name in the local header", refused)

    def test_what_no_preset_takes_though_it_installs_is_listed_with_its_reason(self):
        wheels = {code: self.write_changed(changed) for code, changed in EXCEPTIONS.items()}
        rules = self.farm.run("wheelyard-registry", "check", "--explain", "all", "--markdown").stdout
        listed = rules[rules.index("## Refused in every preset"):]
        done = self.farm.run("wheelyard-registry", "check", "--json", "--policy", "mirror", *wheels.values())
        found = dict(zip(wheels, json.loads(done.stdout)["wheels"], strict=True))
        for code, taken in self.installed(wheels).items():
            with self.subTest(code):
                self.assertTrue(any(taken))  # else it is no exception any more
                self.assertEqual(found[code]["outcome"], "refused")
                self.assertIn({"code": code, "severity": "reject"},
                              [{key: verdict[key] for key in ("code", "severity")} for verdict in found[code]["verdicts"]])
                self.assertIn(f"`{code}`", listed)


if __name__ == "__main__":
    main()
