"""Wheels made by gcc with libraries of their own: avail_wheels says what the real loader does with each, ld.so(8)."""

import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile
from pathlib import Path

from support.case import main
from support.farm import BIN, COMMAND_TIMEOUT_S, scrubbed_environment
from support.package_index import FAST_C
from support.wheels import Wheel

PYTHON = Path(sys.executable)
TAG = f"cp3{sys.version_info.minor}-cp3{sys.version_info.minor}-linux_x86_64"
MODULE = "loads/_fast" + sysconfig.get_config_var("EXT_SUFFIX")
RUNPATH, RPATH = "-Wl,--enable-new-dtags", "-Wl,--disable-new-dtags"
# Of each file the library that it needs, and how it is linked; _fast needs libdep, and that libsec.
FAST_C = FAST_C.replace("#include <Python.h>", "#include <Python.h>\nint dep(void);").replace("FromLong(42)", "FromLong(dep())")
SOURCES = {"libsec.so": "int sec(void) { return 40; }", "libdep.so": "int sec(void); int dep(void) { return sec() + 2; }", "_fast": FAST_C}
PRELOAD = "import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), 'r.libs', 'libsec.so'))\n"
LIBS, OWN = "-Wl,-rpath,$ORIGIN/r.libs", "-Wl,-rpath,$ORIGIN"
ABOVE = "-Wl,-rpath,$ORIGIN/../../../../lib"
# name: options of _fast, of libdep; the folder of the libraries; the start of __init__
CASES = {
    "RUNPATH is not inherited": ([RUNPATH, LIBS], [], "loads/r.libs", ""),
    "RPATH is": ([RPATH, LIBS], [], "loads/r.libs", ""),
    "RPATH is not beside RUNPATH": ([RPATH, LIBS], [RUNPATH, "-Wl,-rpath,/nowhere"], "loads/r.libs", ""),
    "a RUNPATH of its own": ([RUNPATH, LIBS], [RUNPATH, OWN], "loads/r.libs", ""),
    "an RPATH of its own": ([RUNPATH, LIBS], [RPATH, OWN], "loads/r.libs", ""),
    "the module has loaded it": ([RUNPATH, LIBS, "-Wl,--no-as-needed", "-lsec"], [], "loads/r.libs", ""),
    "another folder": ([RUNPATH, "-Wl,-rpath,$ORIGIN/other"], [RUNPATH, OWN], "loads/r.libs", ""),
    "ctypes has loaded it": ([RUNPATH, LIBS], [], "loads/r.libs", PRELOAD),
    "the environment's lib": ([RUNPATH, ABOVE], [RUNPATH, OWN], "loads-1.0.data/data/lib", ""),
    "the environment's lib, too high": ([RUNPATH, ABOVE + "/../lib"], [RUNPATH, OWN], "loads-1.0.data/data/lib64", ""),
}


class OwnLibrariesTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-libraries-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def made(self, files: dict[str, list[str]]) -> Path:
        """A folder with these files, each linked with its options."""
        made = Path(tempfile.mkdtemp(dir=self.folder))
        for name, options in files.items():
            (made / "source.c").write_text(SOURCES[name])
            soname = [f"-Wl,-soname,{name}"] if name.startswith("lib") else []
            subprocess.run(["gcc", "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}", "source.c", "-o", name, f"-L{made}",
                            f"-Wl,-rpath-link,{made}", *soname, *options], cwd=made, check=True, timeout=COMMAND_TIMEOUT_S)
        return made

    def wheel(self, of_fast: list[str], of_dep: list[str], place: str, init: str) -> Path:
        made = self.made({"libsec.so": [], "libdep.so": [*of_dep, "-lsec"], "_fast": ["-ldep", *of_fast]})
        members = {f"{place}/{name}": (made / name).read_bytes() for name in ("libsec.so", "libdep.so")}
        members |= {MODULE: (made / "_fast").read_bytes(), "loads/__init__.py": f"{init}from loads import _fast\n".encode()}
        return Wheel("loads", "1.0", tags=(TAG,), extra_members=members).write(made / "wheels")

    def imports(self, wheel: Path, environment: dict[str, str]) -> bool:
        prefix = wheel.parent / "prefix"
        site = prefix / "lib" / "python3" / "site-packages"
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(site)
        if (data := site / "loads-1.0.data/data").is_dir():
            shutil.copytree(data, prefix, dirs_exist_ok=True)
        done = subprocess.run([PYTHON, "-c", "import loads; assert loads._fast.answer() == 42"],
                              env=environment | {"PYTHONPATH": str(site)}, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        self.assertTrue(done.returncode == 0 or "cannot open shared object file" in done.stderr, done.stderr)
        return done.returncode == 0

    def runs(self, wheel: Path, environment: dict[str, str], name: str = "loads") -> tuple[str, str]:
        done = subprocess.run([BIN / "avail_wheels", "--wheelhouse", wheel.parent, name, "--why", "--column", "runs", "why", "--format", "tsv"],
                              env=environment | {"PATH": f"{PYTHON.parent}:/usr/bin:/bin"}, capture_output=True, text=True,
                              timeout=COMMAND_TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        runs, _, why = done.stdout.splitlines()[-1].partition("\t")
        return runs.strip(), why.strip()

    def check(self, *wheels: Path) -> str:
        return subprocess.run([BIN / "wheelyard-registry", "check", *wheels], env=scrubbed_environment(self.folder), capture_output=True,
                              text=True, timeout=COMMAND_TIMEOUT_S).stdout

    def test_avail_wheels_says_what_the_loader_does(self):
        for name, case in CASES.items():
            with self.subTest(name):
                wheel = self.wheel(*case)
                environment = scrubbed_environment(wheel.parent.parent)
                real = "yes" if self.imports(wheel, environment) else "no"
                runs, why = self.runs(wheel, environment)
                self.assertIn(runs, {real, "unknown"} if case[3] else {real}, why)
                self.assertEqual("elf.own_library_not_found" in self.check(wheel), real == "no" or bool(case[3]))

    def test_a_module_with_a_SONAME_is_found_once_it_is_loaded(self):
        made = self.made({"libsec.so": []})
        core, sub = (name + sysconfig.get_config_var("EXT_SUFFIX") for name in ("_core", "_sub"))
        (made / "core.c").write_text(FAST_C.replace("_fast", "_core").replace("FromLong(dep())", "FromLong(42)").replace("int dep(void);", "int dep(void) { return 42; }"))
        (made / "sub.c").write_text(FAST_C)
        for source, name, options in (("core.c", core, [f"-Wl,-soname,{core}"]), ("sub.c", "_fast", [f"-l:{core}"])):
            subprocess.run(["gcc", "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}", source, "-o", name, f"-L{made}", *options], cwd=made,
                           check=True, timeout=COMMAND_TIMEOUT_S)
        wheel = Wheel("loads", "1.0", tags=(TAG,), extra_members={
            f"loads/{core}": (made / core).read_bytes(), MODULE: (made / "_fast").read_bytes(),
            "loads/__init__.py": b"from loads import _core\nfrom loads import _fast\n"}).write(made / "wheels")
        environment = scrubbed_environment(self.folder)
        self.assertTrue(self.imports(wheel, environment))
        self.assertEqual(self.runs(wheel, environment)[0], "yes")
        self.assertNotIn("elf.own_library_not_found", self.check(wheel))

    def test_LD_LIBRARY_PATH_brings_it(self):
        wheel = self.wheel(*CASES["RUNPATH is not inherited"])
        environment = scrubbed_environment(wheel.parent.parent) | {"LD_LIBRARY_PATH": str(wheel.parent.parent)}
        self.assertTrue(self.imports(wheel, environment))
        self.assertEqual(self.runs(wheel, environment)[0], "yes")

    def test_a_library_that_a_required_wheel_of_the_folder_has_counts(self):
        made = self.made({"libsec.so": [], "libdep.so": ["-lsec"]})
        tag = TAG.replace("linux", "manylinux_2_17")
        brings = Wheel("brings", tags=(tag,), extra_members={"x.prefix/lib/libsec.so": (made / "libsec.so").read_bytes()}).write(made)
        needs = Wheel("needs", tags=(tag,), extra_members={f"needs/_dep{sysconfig.get_config_var('EXT_SUFFIX')}": (made / "libdep.so").read_bytes(),
                                                           "needs/__init__.py": b"from needs import _dep"},
                      metadata_lines=("Requires-Dist: brings",)).write(made)
        environment = scrubbed_environment(self.folder)
        self.assertEqual(self.runs(needs, environment, "needs"), ("yes", ""))
        self.assertNotIn("elf.needed_unknown", self.check(needs, brings))
        self.assertIn("elf.needed_unknown", self.check(needs))
        brings.unlink()
        self.assertEqual(self.runs(needs, environment, "needs")[0], "unknown")


if __name__ == "__main__":
    main()
