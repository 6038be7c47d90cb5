"""EasyBuild installs the portable tarball by the easyconfig beside it, and Lmod's module puts the programs on PATH.

Only with WHEELYARD_FULL=1 (scripts/test --full), which also has scripts/prepare-clients fetch EasyBuild. The tarball holds the
programs of this build, which are not static: it is the easyconfig that is tested.
"""

import platform
import shutil
import subprocess
import sys
from pathlib import Path

from support.case import FarmCase, main
from support.farm import BIN, CLIENTS, COMMAND_TIMEOUT_S, ROOT
from support.full import full

PROGRAMS = ("avail_wheels", "wheelyard-builder", "wheelyard-governor", "wheelyard-indexer", "wheelyard-registry")
LMOD = Path("/usr/share/lmod/lmod")


@full
class EasyBuildTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.packages = self.folder / "packages"
        programs = self.folder / "programs"
        programs.mkdir()
        for name in PROGRAMS:  # without symbols, which take a minute to pack
            self.assert_ran(subprocess.run(["strip", "-o", programs / name, BIN / name], capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S))
        made = subprocess.run([sys.executable, "-B", ROOT / "packaging/package.py", "portable", "--machine", platform.machine(), "--programs", programs, "--out", self.packages],
                              capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        self.assert_ran(made)
        self.version = next(self.packages.glob("*.eb")).stem.removeprefix("wheelyard-")

    def easybuild(self) -> subprocess.CompletedProcess:
        """`eb`, into a folder of this test."""
        return subprocess.run(
            [CLIENTS / "easybuild/bin/eb", f"wheelyard-{self.version}.eb", "--prefix", self.folder / "easybuild", "--sourcepath", self.packages,
             "--modules-tool=Lmod", "--allow-use-as-root-and-accept-consequences", "--disable-mpi-tests"],
            env=self.farm.environment | {"EB_PYTHON": str(CLIENTS / "easybuild/bin/python"), "LMOD_CMD": str(LMOD / "libexec/lmod")}, cwd=self.packages, capture_output=True, text=True,
            timeout=COMMAND_TIMEOUT_S)

    def test_the_module_puts_the_programs_on_path(self):
        self.assert_ran(self.easybuild())
        shown = subprocess.run(
            ["bash", "-c", f'. "{LMOD}/init/bash"; module use "$1/modules/all"; module load "wheelyard/$2"; '
                           'command -v wheelyard-builder; wheelyard-builder --version | head -n 1; echo "$MANPATH"; echo "$XDG_DATA_DIRS"',
             "bash", self.folder / "easybuild", self.version],
            env=self.farm.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        software = self.folder / "easybuild/software/wheelyard" / self.version
        program, version, manual, data = shown.stdout.splitlines()
        self.assertEqual(program, str(software / "bin/wheelyard-builder"), shown.stderr)
        self.assertIn(self.version, version)
        self.assertIn(str(software / "share/man"), manual.split(":"))
        self.assertIn(str(software / "share"), data.split(":"))

    def test_another_tarball_is_refused(self):
        tarball = next(self.packages.glob("*.tar.xz"))
        shutil.copyfile(ROOT / "LICENSE", tarball)
        done = self.easybuild()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("checksum", (done.stdout + done.stderr).lower())


if __name__ == "__main__":
    main()
