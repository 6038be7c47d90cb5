"""`reproduce` builds a wheel again and compares: identical, or the members with the path or the time of their build, and
diffoscope's command for the rest; what the causes advise makes them identical."""

import fcntl
import hashlib
import io
import json
import os
import shlex
import tarfile
from pathlib import Path

from support.case import FarmCase, main
from support.farm import Farm
from support.full import full
from support.package_index import FAST_C, PackageIndex, write_sdist
from support.site import PYTHON_VERSION, Site

TAG = "cp" + PYTHON_VERSION.replace(".", "")

# setup.py that writes a module of its own before it packs.
WRITES = """
import os, time
from setuptools import setup
with open("{module}/made.py", "w") as made:
    made.write("made = %r\\n" % ({stamp},))
setup(name="{name}", version="1.0", packages=["{module}"])
"""
PYPROJECT = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
CLOCK = "time.time_ns() / 1e9"
EPOCH = 'os.environ["SOURCE_DATE_EPOCH"]'
PREFIX_MAP = '[build]\nenvironment = { CFLAGS = "-ffile-prefix-map=${build}=." }\n'


class ReproduceTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.sources = self.enterContext(PackageIndex(self.folder / "sources"))

    def site(self, *packages: str, recipes: dict[str, str] | None = None) -> Site:
        farm = self.enterContext(Farm())
        token = farm.create_token()
        farm.start()
        site = Site(farm, self.sources, token, dict.fromkeys(packages, "1.0"), recipes=recipes or {})
        self.assert_ran(site.builder("run"))
        return site

    def write(self, name: str, stamp: str) -> None:
        """A pure package whose setup.py writes `stamp`, an expression, into the wheel."""
        module = name.replace("-", "_")
        members = {"pyproject.toml": PYPROJECT, "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
                   "setup.py": WRITES.format(name=name, stamp=stamp, module=module), f"{module}/__init__.py": ""}
        with tarfile.open(self.sources.folder / f"{module}-1.0.tar.gz", "w:gz") as archive:
            for member, text in members.items():
                info = tarfile.TarInfo(f"{module}-1.0/{member}")
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))

    def reproduce(self, site: Site, name: str, *arguments: str):
        done = site.builder("reproduce", name, "--json", *arguments)
        return done, json.loads(done.stdout) if done.stdout else {}

    def codes(self, report: dict) -> set[str]:
        return {cause["code"] for cause in report["causes"]}

    def test_a_pure_package_is_identical_and_its_reproduction_is_an_attempt_that_uploads_nothing(self):
        write_sdist(self.sources.folder, "yard-pure", "1.0")
        site = self.site("yard-pure")
        before = site.farm.files("yard-pure")
        done, report = self.reproduce(site, "yard-pure")  # part of the cell's name
        self.assert_ran(done, "identical")
        self.assertTrue(report["identical"])
        self.assertEqual(report["recorded"]["sha256"], report["rebuilt"]["sha256"])
        self.assertEqual(site.farm.files("yard-pure"), before)
        build, again = sorted(site.attempts(), key=lambda attempt: attempt["id"])
        self.assertEqual((again["purpose"], again["state"]), ("reproduction", "done"))
        self.assertEqual((again["reproduced"]["attempt"], again["reproduced"]["identical"]), (build["id"], True))
        self.assertEqual(again["source"]["sha256"], build["source"]["sha256"])
        self.assertIn("identical to the wheel of attempt", site.builder("status").stdout)
        self.assertEqual({cell["state"] for cell in site.plan().values()}, {"have"})
        self.assert_ran(site.builder("run"))  # no request is left

    def test_the_time_of_a_build_is_named_and_source_date_epoch_cures_it(self):
        self.write("yard-clock", CLOCK)
        self.write("yard-epoch", EPOCH)
        site = self.site("yard-clock", "yard-epoch")
        done, report = self.reproduce(site, "yard-clock")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.codes(report), {"time.build"})
        cause, = (one for one in report["causes"] if one["code"] == "time.build")
        self.assertEqual(cause["examples"][0]["member"], "yard_clock/made.py")
        self.assertIn("SOURCE_DATE_EPOCH", cause["cure"])
        command, *wheels = shlex.split(report["diffoscope"])
        self.assertEqual(command, "diffoscope")
        self.assertEqual([hashlib.sha256(Path(wheel).read_bytes()).hexdigest() for wheel in wheels],
                         [report[side]["sha256"] for side in ("recorded", "rebuilt")])
        text = (site.folder / "work/attempts" / report["rebuilt"]["attempt"] / "differences.txt").read_text()
        self.assertIn("time.build: ", text)
        self.assertIn(report["diffoscope"], text)
        self.assertIn("yard_clock/made.py", text)
        done, report = self.reproduce(site, "yard-epoch")
        self.assertTrue(report["identical"], report)
        self.assertEqual(done.returncode, 0)

    @full
    def test_the_folder_of_a_build_in_debug_information_is_named_and_a_prefix_map_cures_it(self):
        for name in ("yard-fast", "yard-mapped"):
            write_sdist(self.sources.folder, name, "1.0", c_source=FAST_C)
        flags = '[build]\nenvironment = { CFLAGS = "-g" }\n'
        site = self.site("yard-fast", "yard-mapped",
                         recipes={"yard-fast": flags, "yard-mapped": PREFIX_MAP.replace('CFLAGS = "', 'CFLAGS = "-g ')})
        done, report = self.reproduce(site, "yard-fast")
        self.assertTrue(report["identical"], json.dumps(report, indent=1))  # at the same path
        def at_other_paths(name: str):
            """As if a lost job still ran in the tree of the recorded build."""
            with open(site.folder / f"work/trees/{name}-1/fence", "r+b") as fence:
                fcntl.flock(fence, fcntl.LOCK_EX)
                return self.reproduce(site, name)
        done, report = at_other_paths("yard-fast")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.codes(report), {"path.build"}, json.dumps(report, indent=1))
        cause, = (one for one in report["causes"] if one["code"] == "path.build")
        self.assertIn("-ffile-prefix-map", cause["cure"])
        self.assertIn("/yard-fast-1/", cause["examples"][0]["recorded"])
        self.assertIn("/yard-fast-2/", cause["examples"][0]["rebuilt"])
        done, report = at_other_paths("yard-mapped")
        self.assertTrue(report["identical"], json.dumps(report, indent=1))

    @full
    def test_a_reproduction_that_cannot_be_made_says_why(self):
        write_sdist(self.sources.folder, "yard-pure", "1.0")
        site = self.site("yard-pure")
        self.assert_failed(site.builder("reproduce", "no-such-cell"), "No attempt of this name has made a wheel here")
        write_sdist(self.sources.folder, "yard-pure", "1.0", value=2)  # the same version with other bytes
        done = site.builder("reproduce", "yard-pure")
        self.assert_failed(done, "The source has changed since the recorded wheel was built")
        self.assertEqual(done.returncode, 1)
        self.assertEqual({cell["state"] for cell in site.plan().values()}, {"have"})
        self.assert_failed(site.builder("retry", f"yard-pure-1.0-{TAG}-reproduction"), f" --site {site.folder / 'site.toml'}` repeats it")

    @full
    def test_a_killed_reproduction_goes_on_in_any_later_tick(self):
        write_sdist(self.sources.folder, "yard-pure", "1.0")
        site = self.site("yard-pure")
        done = site.builder("reproduce", "yard-pure", failpoint="journal.prepared")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("active", site.builder("plan").stdout)
        self.assert_ran(site.builder("run"))
        again, = (attempt for attempt in site.attempts() if attempt["purpose"] == "reproduction")
        self.assertEqual((again["state"], again["reproduced"]["identical"]), ("done", True))


if __name__ == "__main__":
    os.umask(0o022)
    main()
