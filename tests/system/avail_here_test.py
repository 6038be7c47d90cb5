"""What avail_wheels says of this node, beside what pip says and does: no registry, only folders, fakes and a terminal."""

import json
import os
import pty
import random
import select
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import pip_agrees
from support.case import main
from support.farm import BIN, CLIENTS, COMMAND_TIMEOUT_S, scrubbed_environment
from support.wheels import Wheel

SMI = "NVIDIA A100-SXM4-40GB, 8.0, 550.54.15\n"


class HereCase(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-here-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.house = self.folder / "house"
        self.environment = scrubbed_environment(self.folder)

    def ask(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
        done = subprocess.run([BIN / "avail_wheels", "--wheelhouse", self.house, *arguments], capture_output=True, text=True,
                              env={**self.environment, **environment}, timeout=COMMAND_TIMEOUT_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.args)
        return done


class PipAgreesTest(HereCase):
    """pip's own choice among wheels of every kind of tag is the newest that `--here` lists."""

    PIP = CLIENTS / "pip-new"  # a virtual environment of the newest pip
    PROJECTS = 60

    def test_pip_takes_what_is_listed(self):
        seed = int(os.environ.get("WHEELYARD_SEED", "20261120"))
        done = subprocess.run([self.PIP / "bin/python", "-c", "import sys; print(sys.version_info.minor)"], capture_output=True,
                              text=True, timeout=COMMAND_TIMEOUT_S, check=True)
        names = pip_agrees.fill(self.house, random.Random(seed), self.PROJECTS, int(done.stdout), os.uname().machine)
        report = self.folder / "report.json"
        done = subprocess.run([self.PIP / "bin/python", "-m", "pip", *pip_agrees.pip_arguments(self.house, report, names)],
                              capture_output=True, text=True, env=self.environment, timeout=COMMAND_TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        taken = pip_agrees.taken_by_pip(report.read_text())
        document = self.ask("yard*", "--here", "--json", VIRTUAL_ENV=str(self.PIP),
                            PATH=f"{self.PIP}/bin:{os.environ['PATH']}").stdout
        self.assertEqual(pip_agrees.listed(document), taken, f"seed {seed}")
        chosen = sum(version != "0.1" for version in taken.values())
        self.assertGreater(chosen, self.PROJECTS // 6)  # the question was a real one
        self.assertLess(chosen, self.PROJECTS)


class NodeTest(HereCase):
    def install_fakes(self) -> Path:
        """nvidia-smi and python3 that note that they ran; nothing else is on PATH."""
        self.calls = self.folder / "calls"
        programs = self.folder / "bin"
        programs.mkdir()
        for name, answer in (("nvidia-smi", SMI), ("python3", json.dumps({"name": "cpython", "version": "3.12.1"}))):
            program = programs / name
            program.write_text(f"#!/bin/sh\necho {name} >> '{self.calls}'\nprintf '%s' '{answer}'\n")
            program.chmod(0o755)
        return programs

    def test_the_second_call_starts_no_process(self):
        Wheel("yard-any").write(self.house)
        path = str(self.install_fakes())
        first = self.ask("--here", "--raw", PATH=path).stdout
        self.assertEqual(sorted(self.calls.read_text().split()), ["nvidia-smi", "python3"])
        self.calls.unlink()
        trace = self.folder / "trace"
        done = subprocess.run([shutil.which("strace"), "-f", "-o", trace, "-e", "trace=execve,fork,vfork,clone,clone3,connect",
                               BIN / "avail_wheels", "--wheelhouse", self.house, "--here", "--raw"], capture_output=True, text=True,
                              env={**self.environment, "PATH": path, "ASAN_OPTIONS": "detect_leaks=0"}, timeout=COMMAND_TIMEOUT_S)
        self.assertEqual((done.returncode, done.stdout), (0, first), done.stderr)
        calls = [line for line in trace.read_text().splitlines() if "(" in line and "+++" not in line]
        self.assertEqual(len(calls), 1, calls)  # its own start
        self.assertFalse(self.calls.exists())

    def test_a_named_query_touches_no_file_of_another_name(self):
        self.house.mkdir(exist_ok=True)
        for number in range(2000):
            (self.house / f"other{number}-1.0-py3-none-any.whl").write_text("PK")
        for version in ("1.0", "1.1", "2.0"):
            (self.house / f"yard-{version}-py3-none-any.whl").write_text("PK")
        trace = self.folder / "trace"
        done = subprocess.run([shutil.which("strace"), "-f", "-o", trace, "-e", "trace=%file,%desc", BIN / "avail_wheels",
                               "--wheelhouse", self.house, "yard", "--raw", "--all-versions"], capture_output=True, text=True,
                              env={**self.environment, "ASAN_OPTIONS": "detect_leaks=0"}, timeout=COMMAND_TIMEOUT_S)
        self.assertEqual((done.returncode, len(done.stdout.split())), (0, 3), done.stderr)
        calls = trace.read_text().splitlines()
        self.assertEqual([call for call in calls if "/other" in call or '"other' in call], [])
        # A folder of 2,003 names costs reading it, and no call for each.
        self.assertLess(len([call for call in calls if "yard-" in call or "getdents" in call]), 40)

    def test_a_faked_gpu_and_python_decide(self):
        for tag in ("cp311-cp311", "cp312-cp312"):
            Wheel("yard", "1.0", tags=(f"{tag}-linux_{os.uname().machine}",)).write(self.house)
        Wheel("roc", "1.0+rocm5.7", tags=(f"cp312-cp312-linux_{os.uname().machine}",)).write(self.house)
        path = str(self.install_fakes())
        self.assertEqual(self.ask("--here", "--raw", PATH=path).stdout, f"yard-1.0-cp312-cp312-linux_{os.uname().machine}.whl\n")
        why = json.loads(self.ask("--why", "--json", PATH=path).stdout)["wheels"]
        answers = {wheel["filename"].split("-linux")[0]: wheel["here"] for wheel in why}
        self.assertEqual(answers["yard-1.0-cp312-cp312"], {"runs": "yes"})
        self.assertEqual(answers["yard-1.0-cp311-cp311"]["code"], "python")
        self.assertEqual(answers["roc-1.0+rocm5.7-cp312-cp312"]["code"], "gpu")
        self.assertIn("sm_80", answers["roc-1.0+rocm5.7-cp312-cp312"]["why"])


class LibrariesTest(HereCase):
    """Beside a real import: what the loader of this Python finds decides. All pairs are in bench/avail_imports.py."""

    PYTHON = shutil.which("python3", path="/usr/bin:/bin")

    def compile(self, name: str, *options: str) -> bytes:
        source = self.folder / f"{name}.c"
        source.write_text(f"extern int yard_answer(void) __attribute__((weak)); int {name}(void) {{ return yard_answer ? 1 : 2; }}\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.folder / f"{name}.so", source, "-Wl,--no-as-needed", *options], check=True,
                       timeout=COMMAND_TIMEOUT_S)
        return (self.folder / f"{name}.so").read_bytes()

    def write_wheel(self, name: str, library: bytes) -> None:
        loads = "import ctypes, os\nctypes.CDLL(os.path.join(os.path.dirname(__file__), 'code.so'))\n"
        Wheel(name, tags=(f"py3-none-linux_{os.uname().machine}",),
              extra_members={f"{name}/__init__.py": loads.encode(), f"{name}/code.so": library}).write(self.house)

    def answer(self, name: str, **environment: str) -> dict:
        document = self.ask(name, "--why", "--json", **environment).stdout
        return json.loads(document)["wheels"][0]["here"]

    def imports(self, name: str, **environment: str) -> bool:
        site = self.folder / "site"
        shutil.unpack_archive(next(self.house.glob(f"{name}-*.whl")), site, "zip")
        done = subprocess.run([self.PYTHON, "-c", f"import {name}"], capture_output=True, timeout=COMMAND_TIMEOUT_S,
                              env={**self.environment, "PYTHONPATH": str(site), **environment})
        return done.returncode == 0

    def test_a_needed_library_is_searched_for_as_the_loader_does_it(self):
        apart = self.folder / "apart"
        apart.mkdir()
        (apart / "libyard_apart.so.1").write_bytes(self.compile("apart", "-Wl,-soname,libyard_apart.so.1"))
        (apart / "libyard_apart.so").symlink_to("libyard_apart.so.1")
        needs = ["-L", str(apart), "-lyard_apart"]
        self.write_wheel("yard_needs", self.compile("needs", *needs))
        self.write_wheel("yard_path", self.compile("path", *needs, f"-Wl,-rpath,{apart}"))
        path = {"PATH": f"{Path(self.PYTHON).parent}:/bin"}
        cases = [("yard_needs", {}, "unknown"), ("yard_needs", {"LD_LIBRARY_PATH": str(apart)}, "yes"), ("yard_path", {}, "yes"),
                 ("yard_needs", {}, "unknown")]
        for name, environment, expected in cases:
            with self.subTest(name=name, environment=environment):
                answer = self.answer(name, **path, **environment)
                self.assertEqual(answer["runs"], expected, answer)
                self.assertEqual(self.imports(name, **environment), expected == "yes")
                if expected == "unknown":  # its code opens the library by ctypes, and might do without
                    self.assertIn("needs libyard_apart.so.1, which is not here", answer["why"])


class TerminalTest(HereCase):
    def on_terminal(self, *arguments: str, **environment: str) -> str:
        """Everything that comes on a terminal of 5 rows."""
        child, terminal = pty.fork()
        if child == 0:
            import fcntl
            import struct
            import termios
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 5, 80, 0, 0))
            os.execve(BIN / "avail_wheels", ["avail_wheels", "--wheelhouse", str(self.house), *arguments],
                      {**self.environment, **environment})
        out = b""
        while select.select([terminal], [], [], 60)[0]:
            try:
                piece = os.read(terminal, 65536)
            except OSError:  # the other end is gone
                break
            if not piece:
                break
            out += piece
        os.close(terminal)
        os.waitpid(child, 0)
        return out.decode().replace("\r\n", "\n")

    def test_colour_and_pager_only_on_a_terminal(self):
        Wheel("yard", "1.0").write(self.house)
        plain = self.ask().stdout
        self.assertNotIn("\x1b", plain)
        shown = self.on_terminal(PAGER="sed s/^/PAGED:/")
        self.assertNotIn("PAGED", shown)
        self.assertTrue(shown.startswith("\x1b[1mname"), shown)
        self.assertEqual(self.on_terminal(NO_COLOR="1"), plain)
        for number in range(9):
            Wheel(f"more{number}", "1.0").write(self.house)
        self.assertIn("PAGED:yard", self.on_terminal(PAGER="sed s/^/PAGED:/"))
        self.assertNotIn("PAGED", self.on_terminal("--no-pager", PAGER="sed s/^/PAGED:/"))
        self.assertIn("yard", self.on_terminal(PAGER="/no/such/pager"))

    def test_bash_completes_options_values_and_names(self):
        index = self.folder / "house" / "simple"
        index.mkdir(parents=True)
        wheel = "torch-2.4.0-py3-none-any.whl\t\t\n"
        project = f"torch\t1\t0\t{len(wheel)}\t0\t1\n"
        (index / "catalogue.txt").write_text(
            f"wheelyard.catalogue/1\t1\t0\t\tmain\t1\t1\t{len(project)}\t{len(wheel)}\t1\n{project}{wheel}\n")
        script = ('eval "$(avail_wheels --completion bash)"; for word in to --no-p "--format git"; do '
                  'set -- $word; COMP_WORDS=(avail_wheels "$@"); COMP_CWORD=$#; COMPREPLY=(); _avail_wheels; echo "${COMPREPLY[*]}"; done')
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S,
                              env={**self.environment, "PATH": f"{BIN}:{os.environ['PATH']}", "WHEELHOUSE": str(self.house)})
        self.assertEqual(done.stdout.split("\n")[:3], ["torch", "--no-pager", "github"], done.stderr)


if __name__ == "__main__":
    main()
