"""A wheel is accepted if what pip and uv install of it is what was checked, and refused if a `.data` folder or other metadata changes
that. Each wheel is installed by both; what they leave there decides what is right, not the checker. All rows:
tests/inspect/dist_info/installed_tree_test.cpp.
"""

import csv
import importlib.util
import json
import marshal
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import BIN, CLIENTS, COMMAND_TIMEOUT_S, INDEX
from support.wheels import Wheel, record_hash, sha256_of

INFO = "vic-1.0.dist-info"
DATA = "vic-1.0.data"
PYTHON_FOLDER = "lib/python%d.%d/site-packages" % sys.version_info[:2]
SCRIPT = b"#!python\nprint(1)\n"


def metadata_of(name: str, version: str) -> bytes:
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()


def scripts(*lines: str) -> dict:
    return {f"{INFO}/entry_points.txt": "\n".join(("[console_scripts]", *lines, "")).encode()}


SAME = {
    "nothing more": {},
    "every scheme": {f"{DATA}/purelib/vic/b.py": b"1\n", f"{DATA}/platlib/vic/c.py": b"1\n", f"{DATA}/scripts/vic-run": SCRIPT,
                     f"{DATA}/headers/vic.h": b"", f"{DATA}/data/share/vic/x": b"1", f"{DATA}/data/vic/a.py": b"of the prefix\n"},
    "a script and the one that setuptools wrote for it": {**scripts("vic = vic:run"), f"{DATA}/scripts/vic": SCRIPT},
    "vendored metadata": {"vic/_vendor/six-1.0.dist-info/METADATA": metadata_of("six", "1.0")},
}
OTHER = {
    "another version": {f"{DATA}/purelib/{INFO}/METADATA": metadata_of("vic", "7.7")},
    "another distribution": {f"{DATA}/platlib/pip-99.dist-info/METADATA": metadata_of("pip", "99")},
    "another distribution by the data scheme": {f"{DATA}/data/{PYTHON_FOLDER}/pip-99.dist-info/METADATA": metadata_of("pip", "99")},
    "another distribution in capitals": {"pip-99.DIST-INFO/METADATA": metadata_of("pip", "99")},
    "entry points": {f"{DATA}/purelib/{INFO}/entry_points.txt": b"[vic.plugins]\nls = vic:x\n"},
    "egg-info of another": {"evil-9.0.egg-info/PKG-INFO": metadata_of("evil", "9.0")},
    "egg-info of its own name": {"vic.egg-info/PKG-INFO": metadata_of("vic", "7.7")},
    "a file that is an egg-info": {"evil.egg-info": metadata_of("evil", "9.0")},
    "a module": {f"{DATA}/purelib/vic/a.py": b"evil = 1\n"},
    "a module by the data scheme": {f"{DATA}/data/{PYTHON_FOLDER}/vic/a.py": b"evil = 1\n"},
    "a module by lib64": {f"{DATA}/data/{PYTHON_FOLDER.replace('lib/', 'lib64/')}/vic/a.py": b"evil = 1\n"},
    "a module by ./": {"./vic/a.py": b"evil = 1\n"},
    "a module by //": {f"{DATA}/purelib//vic/a.py": b"evil = 1\n"},
    "a module by ..": {"vic/../vic/a.py": b"evil = 1\n"},
    "a folder where a file is": {f"{DATA}/purelib/vic/a.py/b.py": b"1\n"},
    "a .data folder in capitals": {"Vic-1.0.data/purelib/vic/b.py": b"1\n"},
    "two .data folders": {"Vic-1.0.data/purelib/vic/b.py": b"1\n", f"{DATA}/purelib/vic/c.py": b"1\n"},
    "the .data folder of another": {"other-2.0.data/purelib/vic/a.py": b"evil = 1\n"},
    "an unknown scheme": {f"{DATA}/etc/vic": b"1"},
    "a file for a scheme": {f"{DATA}/scripts": b"1"},
    "a program over a script": {f"{DATA}/scripts/vic": SCRIPT, f"{DATA}/data/bin/vic": b"evil\n"},
    "a script over the interpreter": {f"{DATA}/scripts/python": b"#!/bin/sh\n"},
    "an entry point over the interpreter": scripts("python3 = vic:run"),
    "the environment's configuration": {f"{DATA}/data/pyvenv.cfg": b"home = /\n"},
}


def run(*command) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)


class InstalledTest(FarmCase):
    index_settings = '[index.policy]\npreset = "mirror"'

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.empty = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="wheelyard-case-"))) / "empty"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", cls.empty], check=True)

    def wheel(self, name: str, members: dict) -> Path:
        return Wheel("vic", extra_members={"vic/a.py": b"good = 1\n", **members}).write(self.folder / name.replace(" ", "-"))

    def installed(self, wheel: Path, tool: str) -> Path:
        """An environment with the wheel, or with what the tool had installed when it stopped."""
        place = wheel.parent / tool
        shutil.copytree(self.empty, place, symlinks=True)
        pip = (CLIENTS / "pip-new/bin/python", "-m", "pip", "--isolated", "--python", place, "install", "--no-compile")
        uv = (CLIENTS / "uv/bin/uv", "pip", "install", "--no-config", "--no-cache", "--python", place)
        run(*(pip if tool == "pip" else uv), "--no-index", "--no-deps", wheel)
        return place

    @staticmethod
    def is_same(file: Path, empty: Path) -> bool:
        try:
            return file.is_symlink() == empty.is_symlink() and file.read_bytes() == empty.read_bytes()
        except OSError:  # a loop of links
            return False

    def deviations(self, wheel: Path) -> list:
        """In what the environments that pip and uv made differ from the wheel that was checked."""
        found = []
        trees = []
        with zipfile.ZipFile(wheel) as archive:
            checked = {name: archive.read(name) for name in archive.namelist()}
        for tool in ("pip", "uv"):
            place = self.installed(wheel, tool)
            packages = place / PYTHON_FOLDER
            listed = run(CLIENTS / "pip-new/bin/python", "-m", "pip", "--isolated", "list", "--path", packages, "--format", "json")
            if json.loads(listed.stdout or "[]") != [{"name": "vic", "version": "1.0"}]:
                found.append((tool, "pip list", listed.stdout))
            for file in ("pyvenv.cfg", "bin/python", "bin/python3"):
                if not self.is_same(place / file, self.empty / file):
                    found.append((tool, "other bytes", file))
            for name in checked:
                if not name.startswith(DATA) and not name.endswith("RECORD"):
                    if not (packages / name).is_file() or (packages / name).read_bytes() != checked[name]:
                        found.append((tool, "other bytes", name))
            record = packages / INFO / "RECORD"
            rows = list(csv.reader(record.read_text().splitlines())) if record.is_file() else []
            names = [row[0] for row in rows]
            for name, digest, _ in rows:
                if name == f"{DATA}/scripts/vic":
                    continue  # pip's row of a script that it left out
                if digest and not ((packages / name).is_file() and record_hash((packages / name).read_bytes()) == digest):
                    found.append((tool, "not as in RECORD", name))
            if len(set(names)) != len(names):
                found.append((tool, "twice in RECORD", str(names)))
            ours = {name for name in names if name != f"{DATA}/scripts/vic" and Path(name).name not in ("INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")}
            trees.append(ours)
            metadata = {f"{INFO}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")} & set(checked)
            more = {name for name in ours if name.split("/")[0].endswith(".dist-info")} - metadata
            if more:
                found.append((tool, "more metadata", str(more)))
        if trees[0] != trees[1]:
            found.append(("pip and uv", "other files", str(trees[0] ^ trees[1])))
        return found

    def check(self, wheel: Path, policy: str) -> subprocess.CompletedProcess:
        return run(BIN / "wheelyard-registry", "check", "--policy", policy, wheel)

    def test_what_is_installed_as_checked_is_accepted(self):
        for name, members in SAME.items():
            with self.subTest(name):
                wheel = self.wheel(name, members)
                self.assertEqual(self.deviations(wheel), [])
                for policy in ("linux", "manylinux-strict", "mirror"):
                    self.assert_ran(self.check(wheel, policy))

    def test_what_is_installed_otherwise_is_refused_under_every_policy(self):
        for name, members in OTHER.items():
            with self.subTest(name):
                wheel = self.wheel(name, members)
                self.assertNotEqual(self.deviations(wheel), [])
                for policy in ("linux", "manylinux-strict", "mirror"):
                    self.assert_failed(self.check(wheel, policy), "reject")

    def test_what_runs_in_the_place_of_other_code_is_not_published(self):
        """But by a mirror, with a warning."""
        tag = sys.implementation.cache_tag
        compiled = importlib.util.MAGIC_NUMBER + struct.pack("<III", 1, 0, 0) + marshal.dumps(compile("good = 2", "a.py", "exec"))
        code = self.wheel("compiled", {f"vic/__pycache__/a.{tag}.pyc": compiled})
        shown = run(self.installed(code, "uv") / "bin/python", "-c", "import vic.a; print(vic.a.good)")
        self.assertEqual(shown.stdout, "2\n", shown.stderr)
        activate = self.wheel("activate", scripts("activate = vic.a:run"))
        for tool in ("pip", "uv"):
            self.assertFalse(self.is_same(self.installed(activate, tool) / "bin/activate", self.empty / "bin/activate"))
        other = self.wheel("another Python's folder", {f"{DATA}/data/lib/python3.1/site-packages/vic/b.py": b"1\n"})
        for wheel, severity in ((code, "quarantine"), (activate, "reject"), (other, "quarantine")):
            self.assert_failed(self.check(wheel, "linux"), severity)
            self.assert_ran(self.check(wheel, "mirror"))

    def test_pip_list_record_and_metadata_agree_after_an_install_from_the_index(self):
        refused = self.wheel("a module", OTHER["a module"])
        self.assertEqual(RawUpload(self.farm, self.token, refused).send()[0], 400)
        wheel = self.wheel("every scheme", SAME["every scheme"])
        self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
        sha256 = sha256_of(wheel)
        status, _, served = self.farm.get(f"/{INDEX}/files/{sha256[:2]}/{sha256}/{wheel.name}.metadata")
        self.assertEqual(status, 200)
        place = self.installed(wheel, "pip")
        self.assertEqual((place / PYTHON_FOLDER / INFO / "METADATA").read_bytes(), served)


if __name__ == "__main__":
    main()
