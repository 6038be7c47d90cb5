"""`wheelyard-try`, the first command of the README: a registry, an agent, one wheel, and pip installs it."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import tomllib
import unittest
from pathlib import Path

from support.case import main
from support.farm import BIN, COMMAND_TIMEOUT_S, ROOT, scrubbed_environment
from support.few_programs import link_programs
from support.island import CAN_CUT, WHY_NOT, move_to_island
from support.package_index import FAST_C, PackageIndex, write_sdist
from support.skips import not_here


class TryTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-try-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        home = self.folder / "home"
        home.mkdir()
        self.environment = scrubbed_environment(home) | {"PATH": f"{BIN}:{os.environ['PATH']}"}
        del self.environment["PIP_CONFIG_FILE"]

    def start(self, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen([ROOT / "packaging/wheelyard-try", *arguments], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def hide_the_cxx_compiler(self) -> None:
        """`site init` lists it as missing; a wheel without extensions needs none."""
        few = self.folder / "bin"
        link_programs(few, "c++", "g++")
        self.environment["PATH"] = f"{BIN}:{few}"

    def test_one_command_builds_a_wheel_and_pip_installs_it_and_an_interrupt_ends_the_registry(self):
        self.hide_the_cxx_compiler()
        shown = subprocess.run([BIN / "wheelyard-builder", "site", "init", "--yes", "--to", "-"], env=self.environment, cwd=self.folder,
                               capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        [want] = tomllib.loads(shown.stdout)["want"]
        with PackageIndex(self.folder / "sources") as sources:
            write_sdist(sources.folder, want["package"], want["versions"][0], value=7)
            self.environment |= sources.pip_environment
            for folder in ("wheelyard-trial", "it's a second"):  # each has a state of its own
                with self.subTest(folder):
                    self.try_in(folder, want["package"])

    def try_in(self, name: str, package: str) -> None:
        process = self.start(*([] if name == "wheelyard-trial" else [name]))
        said = []
        for line in process.stdout:
            said.append(line)
            if "serve -c" in line:  # the last of the next steps
                break
        folder = self.folder / name
        cd, run, look, serve = [line.strip() for line in said if line.startswith("  ") and " farm " not in line][-4:]
        # The programs of the test are not beside the script, so their folder is added as the reader's PATH has it.
        shell = ["sh", "-c"]
        for command in (run, look):
            done = subprocess.run([*shell, f"{cd}; PATH={BIN}:$PATH\n{command}"], env=self.environment, cwd=self.folder, capture_output=True,
                                  text=True, timeout=COMMAND_TIMEOUT_S)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr + "".join(said))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=COMMAND_TIMEOUT_S)
        self.assertIn("stopped", (folder / "registry.log").read_text())
        found = subprocess.run([folder / "venv/bin/python", "-c", f"import {package} as it; print(it.value)"], capture_output=True, text=True)
        self.assertEqual(found.stdout, "7\n", "".join(said))
        again = subprocess.Popen([*shell, f"{cd}; PATH={BIN}:$PATH\nexec {serve.replace(' serve ', ' serve --ready-file again ', 1)}"],
                                 env=self.environment, cwd=self.folder, stderr=subprocess.PIPE, text=True)
        while not (folder / "again").exists() and again.poll() is None:
            time.sleep(0.05)
        again.terminate()
        self.assertTrue((folder / "again").exists(), again.communicate()[1])
        self.assertEqual(sorted(path.name for path in (self.folder / "home").iterdir()), [".cache"])  # of pip and the governor

    def test_the_help_and_a_wrong_word_start_nothing(self):
        for words, status in ((["--help"], 0), (["--hlep"], 2)):
            process = self.start(*words)
            said, _ = process.communicate(timeout=COMMAND_TIMEOUT_S)
            self.assertEqual(process.returncode, status, said)
            self.assertIn("usage: wheelyard-try [FOLDER]", said)
        (self.folder / "there").mkdir()
        process = self.start("there")
        self.assertIn("wheelyard-try: there exists", process.communicate(timeout=COMMAND_TIMEOUT_S)[0])
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["home", "there"])

    @unittest.skipUnless(Path("/usr/bin/python3.11").exists(), "the tutorial is for Debian 12, with its Python 3.11")
    def test_the_first_tutorial_to_the_letter(self):
        """From `mkdir ~/farm` on, with sources of the same names and versions from an index of this test."""
        page = (ROOT / "docs/tutorials/first-farm.md").read_text()
        page = page[page.index("mkdir ~/farm") - len("```sh\n"):]
        script = "set -e\n"
        for kind, text in re.findall(r"^```(sh|toml)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
            # A person is longer in writing the file than the registry in starting.
            script += text if kind == "sh" else f"cat >site.toml <<'END'\n{text}END\nuntil (exec 3<>/dev/tcp/127.0.0.1/8080) 2>&-; do sleep 0.1; done\n"
        with PackageIndex(self.folder / "sources") as sources:
            write_sdist(sources.folder, "packaging", "24.2")
            write_sdist(sources.folder, "markupsafe", "3.0.2", c_source=FAST_C, module_source=(
                "import sys\nfrom . import _fast\nsys.modules['markupsafe._speedups'] = _fast\n"
                "def escape(text):\n    return text.replace('<', '&lt;').replace('>', '&gt;')\n"))
            done = subprocess.run(["bash", "-c", script], env=self.environment | sources.pip_environment, cwd=self.folder, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=COMMAND_TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stdout)
        for phrase in ("2 wanted", "2 have", "&lt;a&gt;", "markupsafe  3.0.2      cp311     x86_64", "packaging   24.2"):
            self.assertIn(phrase, done.stdout)
        self.assertNotIn("FAIL", done.stdout)

    def test_where_the_port_is_taken_the_reason_is_shown_and_nothing_is_left_running(self):
        taken = subprocess.Popen(["python3", "-m", "http.server", "--bind", "127.0.0.1", "8080"], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, env=self.environment | {"PYTHONUNBUFFERED": "1"})
        try:
            taken.stdout.readline()  # it listens
            process = self.start()
            said, _ = process.communicate(timeout=COMMAND_TIMEOUT_S)
        finally:
            taken.kill()
            taken.communicate()
        self.assertEqual(process.returncode, 1, said)
        self.assertIn("127.0.0.1 port 8080", said)


if __name__ == "__main__":
    if not CAN_CUT:
        not_here(WHY_NOT)
    move_to_island()
    main()
