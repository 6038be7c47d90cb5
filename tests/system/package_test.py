"""The wheels of `scripts/package`: our own check accepts them, our farm publishes them, and pip installs programs that start.

The whole compile takes half an hour and is done by hand: here the wheels hold the static programs of this build.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import BIN, COMMAND_TIMEOUT_S, INDEX, ROOT
from support.site import VENV_PYTHON

MACHINE = platform.machine()
sys.path.insert(0, str(ROOT / "packaging"))
import package  # noqa: E402
from fetch import LIBRARIES, pin  # noqa: E402
from programs import PROGRAMS, remove_outdated  # noqa: E402


class PackageTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.programs = Path(tempfile.mkdtemp(prefix="wheelyard-package-"))
        cls.addClassCleanup(shutil.rmtree, cls.programs)
        for name, program in (("avail_wheels", "avail_wheels-static"), ("wheelyard-governor", "wheelyard-governor")):
            shutil.copy(BIN / program, cls.programs / name)
        # There is no static wheelyard-builder: a script has its name.
        builder = cls.programs / "wheelyard-builder"
        builder.write_text('#!/bin/sh\nexec "$(dirname "$0")/wheelyard-governor" "$@"\n')
        builder.chmod(0o755)

    def run_package(self, out: Path, programs: Path) -> subprocess.CompletedProcess:
        """Without scripts/package, which installs compilers before."""
        return subprocess.run([sys.executable, "-B", ROOT / "packaging/package.py", "wheels", "--machine", MACHINE, "--programs", programs, "--out", out],
                              capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)

    def package(self, out: Path, programs: Path) -> list[Path]:
        self.assert_ran(self.run_package(out, programs))
        return sorted(out.glob("*.whl"))

    def test_our_check_accepts_them_and_our_farm_publishes_and_pip_installs_them(self):
        wheels = self.package(self.folder / "out", self.programs)
        self.assertEqual([wheel.name.split("-")[0] for wheel in wheels], ["avail_wheels", "wheelyard"])
        for wheel in wheels:
            with self.subTest(wheel=wheel.name):
                checked = self.farm.run("wheelyard-registry", "check", wheel)
                self.assert_ran(checked)
                self.assertNotIn("warning", checked.stdout)
                self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
        home = self.folder / "venv"
        subprocess.run([VENV_PYTHON, "-m", "venv", home], check=True)
        self.assert_ran(subprocess.run([home / "bin/pip", "install", "--index-url", self.farm.simple_url(INDEX), "wheelyard"],
                                       env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
        for name in ("avail_wheels", "wheelyard-governor"):  # the first came as a requirement of `wheelyard`
            self.assert_ran(subprocess.run([home / "bin" / name, "--help"], capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
        self.assertTrue((home / "share/wheelyard/site-configs/debian12/site.toml").is_file())
        self.assertTrue((home / "share/man/man1/avail_wheels.1").is_file())

    def test_the_same_commit_gives_the_same_bytes(self):
        first, second = (self.package(self.folder / each, self.programs) for each in ("first", "second"))
        self.assertEqual([wheel.read_bytes() for wheel in first], [wheel.read_bytes() for wheel in second])

    def test_a_program_that_needs_this_systems_libraries_is_refused(self):
        programs = self.folder / "dynamic"
        shutil.copytree(self.programs, programs)
        shutil.copy(BIN / "wheelyard-builder", programs)
        made = self.run_package(self.folder / "out-dynamic", programs)
        self.assertEqual((made.returncode, list((self.folder / "out-dynamic").glob("wheelyard-*"))), (1, []), made.stderr)
        self.assertIn(f"{programs / 'wheelyard-builder'} needs this system's C library", made.stderr)

    def test_a_package_of_named_programs_is_of_their_commit(self):
        tree, folder, out = "0123456789ab" + "0" * 28, self.folder / "said", self.folder / "noted"
        for path in (folder, out):
            path.mkdir()
        (out / "a.deb").write_text("x")
        for said, commit in ((["0123456789ab"] * 2, tree), (["f" * 12] * 2, f"{'f' * 12}, with files of {tree}"),
                             (["0123456789ab", "f" * 12], None), (["0123456789ab", "unknown"], None)):
            with self.subTest(said=said), unittest.mock.patch("fetch.commit", lambda: tree):
                for name, word in zip(PROGRAMS, said, strict=False):
                    (folder / name).write_text(f"#!/bin/sh\necho '{name} 0.1.0'\necho commit {word}\n")
                    (folder / name).chmod(0o755)
                package.note_commit([out / "a.deb"], package.commit_of(argparse.Namespace(programs=folder)), out)
                self.assertEqual(json.loads((out / "made.json").read_text())["a.deb"].get("commit"), commit)

    def test_a_program_that_is_older_than_a_library_is_linked_again(self):
        stamps = [self.folder / f"{name}.stamp" for name in ("zlib", "xz-utils")]
        bin_folder = self.folder / "bin"
        bin_folder.mkdir()
        for time, path in enumerate([stamps[0], *(bin_folder / name for name in PROGRAMS[:3]), stamps[1], bin_folder / PROGRAMS[3]]):
            path.touch()
            os.utime(path, (time, time))
        remove_outdated(bin_folder, stamps)
        self.assertEqual([path.name for path in bin_folder.iterdir()], [PROGRAMS[3]])

    def test_a_row_of_the_sources_with_another_version_or_another_hash_is_another_pin(self):
        row = LIBRARIES["zlib"]
        pins = set()
        for changed in ({}, {"version": "1:2"}, {"sha256": "0" * 64}):
            with unittest.mock.patch.dict(row, changed):
                pins.add(pin("zlib"))
        self.assertEqual(len(pins), 3)


if __name__ == "__main__":
    main()
