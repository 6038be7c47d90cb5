"""The wheels of `scripts/package`: our own check accepts them, our farm publishes them, and pip installs programs that start.

The whole compile takes half an hour and is done by hand: here the wheels hold the static programs of this build.
"""

import argparse
import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest
import unittest.mock
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import BIN, CLIENTS, COMMAND_TIMEOUT_S, INDEX, ROOT
from support.packages import head, set_rebuild, stand_ins, unpacked
from support.site import VENV_PYTHON

MACHINE = platform.machine()
sys.path.insert(0, str(ROOT / "packaging"))
import contents  # noqa: E402
import fetch  # noqa: E402
import libraries  # noqa: E402
import package  # noqa: E402
from fetch import LIBRARIES, pin  # noqa: E402
from programs import PROGRAMS, remove_outdated  # noqa: E402
PARSE = """import json, sys
from packageurl import PackageURL
for row in json.load(sys.stdin)["components"]:
    url = PackageURL.from_string(row["purl"])
    print(json.dumps([url.name, url.type, url.namespace, url.version, url.qualifiers, url.to_string() == row["purl"]]))"""


class PackageTest(FarmCase):
    indexes = (INDEX, "rebuilds")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.programs = Path(tempfile.mkdtemp(prefix="wheelyard-package-"))
        cls.addClassCleanup(shutil.rmtree, cls.programs)
        stand_ins(cls.programs)

    def run_package(self, out: Path, programs: Path, tree: Path = ROOT) -> subprocess.CompletedProcess:
        """Without scripts/package, which installs compilers before."""
        return subprocess.run([sys.executable, "-B", tree / "packaging/package.py", "wheels", "--machine", MACHINE, "--programs", programs, "--out", out],
                              capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)

    def package(self, out: Path, programs: Path, tree: Path = ROOT) -> list[Path]:
        self.assert_ran(self.run_package(out, programs, tree))
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

    def test_their_description_is_one_that_an_index_shows(self):
        checked = subprocess.run([CLIENTS / "twine/bin/twine", "check", "--strict", *self.package(self.folder / "described", self.programs)],
                                 capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        self.assert_ran(checked)

    def test_a_source_tarball_makes_packages_and_those_of_a_rebuild_are_newer_for_pip(self):
        tree, commit = unpacked(self.folder / "unpacked"), head()
        released = self.package(self.folder / "released", self.programs, tree)
        made = json.loads((self.folder / "released/made.json").read_text())
        self.assertTrue(all(each["commit"].endswith(f"{commit[0]}-archive") for each in made.values()), made)
        with unittest.mock.patch("fetch.ROOT", tree), unittest.mock.patch.dict(os.environ):
            os.environ.pop("SOURCE_DATE_EPOCH", None)
            fetch.archived.cache_clear()
            self.addCleanup(fetch.archived.cache_clear)
            self.assertEqual((fetch.commit(), fetch.environment()["SOURCE_DATE_EPOCH"]), (f"{commit[0]}-archive", commit[1]))
        set_rebuild(tree, 1)
        rebuilt = [wheel for wheel in self.package(self.folder / "released", self.programs, tree) if wheel not in released]
        self.assertEqual([wheel.name.split("-")[1] for wheel in rebuilt], [f"{released[0].name.split('-')[1]}.post1"] * 2)
        home, token = self.folder / "upgraded", self.farm.create_token("rebuilds")
        subprocess.run([VENV_PYTHON, "-m", "venv", home], check=True)
        for wheels, words in ((released, []), (rebuilt, ["--upgrade"])):
            for wheel in wheels:
                self.assertEqual(RawUpload(self.farm, token, wheel, index="rebuilds").send()[0], 200)
            self.assert_ran(subprocess.run([home / "bin/pip", "install", "--no-cache-dir", "--index-url", self.farm.simple_url("rebuilds"), *words, "wheelyard"],
                                           env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
            shown = subprocess.run([home / "bin/pip", "freeze"], check=True, capture_output=True, text=True).stdout
            version = wheels[0].name.split("-")[1]
            self.assertEqual(shown.split(), [f"avail-wheels=={version}", f"wheelyard=={version}"])

    def test_what_is_not_the_tag_of_a_released_version_is_not_packaged_as_it(self):
        clone = self.folder / "clone"
        subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
        git = ["git", "-C", clone, "-c", "user.name=x", "-c", "user.email=x@example.org"]
        subprocess.run([*git, "tag", f"v{fetch.VERSION}"], check=True)
        set_rebuild(clone, 0, also="# A row was changed.\n")
        refused = subprocess.run([sys.executable, "-B", clone / "packaging/package.py", "portable"], capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"{fetch.VERSION} is released, of another commit than this tree", refused.stderr)

    def test_a_suite_that_apt_lacks_is_told_before_anything_is_installed(self):
        """https://manpages.debian.org/bookworm/apt/apt.conf.5.en.html: a file of APT_CONFIG is read first."""
        (self.folder / "sources.list").write_text("deb http://127.0.0.1:1/debian bookworm main\n")
        (self.folder / "apt.conf").write_text(f'Dir::Etc::SourceList "{self.folder}/sources.list"; Dir::Etc::SourceParts "/dev/null";\n')
        refused = subprocess.run([ROOT / "scripts/package", "portable"], env=os.environ | {"APT_CONFIG": str(self.folder / "apt.conf")},
                                 capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("the sources of apt lack bookworm-updates bookworm-security. Add them", refused.stderr)

    def test_newer_rows_are_written_into_the_sources(self):
        text = (ROOT / "packaging/sources.toml").read_text()
        written = tomllib.loads(package.rewritten(text, {"zlib": ("1:2.0-1", "0" * 64), "openssl": ("4.0.0-1", "1" * 64)}, 3))
        before = tomllib.loads(text)
        self.assertEqual(written["rebuild"], 3)
        for row, old in zip(written["library"], before["library"], strict=True):
            new = {"zlib": ("1:2.0-1", "0" * 64), "openssl": ("4.0.0-1", "1" * 64)}.get(row["name"], (old["version"], old["sha256"]))
            self.assertEqual(row, old | {"version": new[0], "sha256": new[1]})

    @unittest.skipUnless((CLIENTS / "cyclonedx/.complete").is_file(), "scripts/prepare-clients could not fetch the parser of package URLs")
    def test_a_bill_of_materials_names_source_packages_of_debian_12_as_the_parser_of_package_urls_writes_them(self):
        bill = contents.bill_of_materials("wheelyard")
        parsed = subprocess.run([CLIENTS / "cyclonedx/bin/python", "-c", PARSE], input=bill, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        self.assert_ran(parsed)
        found = {name: rest for name, *rest in map(json.loads, parsed.stdout.splitlines())}
        for name, row in LIBRARIES.items():
            self.assertEqual(found[name], ["deb", "debian", row["version"], {"arch": "source", "distro": "debian-12"}, True])
        self.assertTrue(any(name.startswith("boost1.") for name in found), found)  # not the binary package libboost1.81-dev
        self.assertTrue(all(canonical for *_, canonical in found.values()), found)

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

    def test_a_library_is_compiled_once_for_its_pin_and_its_options_whatever_else_changes(self):
        compiled = []
        patches = (unittest.mock.patch.object(libraries, "KEPT", self.folder), unittest.mock.patch.object(libraries, "unpack", lambda name: self.folder),
                   unittest.mock.patch.object(libraries, "build_cmake", lambda *_: compiled.append("curl")),
                   unittest.mock.patch("fetch.archived", lambda: ("0" * 40, "1")))
        for patch in patches:
            self.enterContext(patch)
        other, own = ("libarchive", {"version": "2"}), ("curl", {"version": "2"})
        for rows, options, count in (((), (), 1), ((), (), 1), ((other,), ("libarchive",), 1), ((own,), (), 2), ((), (), 3), ((), ("curl",), 4)):
            with contextlib.ExitStack() as stack:
                for name, changed in rows:
                    stack.enter_context(unittest.mock.patch.dict(LIBRARIES[name], changed))
                for name in options:
                    stack.enter_context(unittest.mock.patch.dict(libraries.CMAKE_OPTIONS, {name: ["OTHER=ON"]}))
                libraries.build("curl", "x86_64", 1)
            self.assertEqual(len(compiled), count)

    def test_a_row_of_the_sources_with_another_version_or_another_hash_is_another_pin(self):
        row = LIBRARIES["zlib"]
        pins = set()
        for changed in ({}, {"version": "1:2"}, {"sha256": "0" * 64}):
            with unittest.mock.patch.dict(row, changed):
                pins.add(pin("zlib"))
        self.assertEqual(len(pins), 3)


if __name__ == "__main__":
    main()
