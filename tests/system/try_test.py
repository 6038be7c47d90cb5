"""`wheelyard-try`, the first command of the README: a registry, an agent, one wheel, and pip installs it."""

import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import tomllib
import unittest
import urllib.request
from pathlib import Path

from support.case import main
from support.farm import BIN, COMMAND_TIMEOUT_S, ROOT, scrubbed_environment
from support.few_programs import link_programs
from support.full import IS_FULL
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
            for folder in ("wheelyard-trial", "it's a second") if IS_FULL else ("it's a second",):  # each has a state of its own
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
            done = subprocess.run([*shell, f"{cd}; PATH=\"{BIN}\":$PATH\n{command}"], env=self.environment, cwd=self.folder, capture_output=True,
                                  text=True, timeout=COMMAND_TIMEOUT_S)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr + "".join(said))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=COMMAND_TIMEOUT_S)
        self.assertIn("stopped", (folder / "registry.log").read_text())
        found = subprocess.run([folder / "venv/bin/python", "-c", f"import {package} as it; print(it.value)"], capture_output=True, text=True)
        self.assertEqual(found.stdout, "7\n", "".join(said))
        again = subprocess.Popen([*shell, f"{cd}; PATH=\"{BIN}\":$PATH\nexec {serve.replace(' serve ', ' serve --ready-file again ', 1)}"],
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
    def test_the_first_two_tutorials_to_the_letter(self):
        """From `mkdir ~/farm` on, with sources of the same names and versions from an index of this test."""
        # A person is longer in writing a file than the registry in starting.
        until_it_serves = "until (exec 3<>/dev/tcp/127.0.0.1/8080) 2>&-; do sleep 0.1; done\n"
        first = self.blocks("first-farm.md", "mkdir ~/farm", ["cat >site.toml"])
        second = self.blocks("first-recipe.md", "cd ~/farm", ["sed -i '/^name = /r /dev/stdin' site.toml", "cat >>site.toml",
                                                              "mkdir recipes; cat >recipes/msgpack.toml", "cat >>recipes/msgpack.toml"])
        wrong_digest, *builds = second.split("wheelyard-builder run --site site.toml\n")
        self.assertEqual(len(builds), 3, second)
        source = self.write_sources()
        pin = f"sed -i 's/0\\{{64\\}}/{source}/' recipes/msgpack.toml\n"
        wish = "sed -i 's/\"1.1.0\"\\]/\"1.1.0\", \"1.1.1\"]/' site.toml\n"
        self.typed(first.replace("wheelyard-builder site", until_it_serves + "wheelyard-builder site", 1) + "wait\n", "2 wanted", "2 have",
                   "&lt;a&gt;", "markupsafe  3.0.2      cp311     x86_64", "packaging   24.2")
        again = [f"{wrong_digest}{until_it_serves}", builds[0].replace("wheelyard-builder retry", pin + "wheelyard-builder retry"),
                 builds[1].replace("wheelyard-builder plan", wish + "wheelyard-builder plan"), f"{builds[2]}kill %1\n"]
        run = "wheelyard-builder run --site site.toml"
        self.typed(f"{again[0]}{run} || test $? = 1\n{again[1]}{run}\n{again[2]}{run}\n{again[3]}", "1 given up", source, "3 have", "4 have")

    def typed(self, script: str, *phrases: str) -> None:
        done = subprocess.run(["bash", "-c", f"set -e\n{script}"], env=self.environment | {"PIP_INDEX_URL": self.sources.url}, cwd=self.folder,
                              text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=COMMAND_TIMEOUT_S)
        self.assertEqual(done.returncode, 0, script + done.stdout)
        for phrase in phrases:
            self.assertIn(phrase, done.stdout)
        self.assertNotIn("FAIL", done.stdout)

    def test_the_smallest_file_of_the_third_tutorial_is_a_site(self):
        page = (ROOT / "docs/tutorials/first-site.md").read_text()
        (self.folder / "site.toml").write_text(re.search(r"^```toml\n(config_version.*?)^```$", page, re.DOTALL | re.MULTILINE).group(1))
        done = subprocess.run(["wheelyard-builder", "plan", "--explain", "--site", "site.toml"], env=self.environment, cwd=self.folder, text=True,
                              capture_output=True, timeout=COMMAND_TIMEOUT_S)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("https://wheels.example.org", done.stdout)

    @staticmethod
    def blocks(name: str, begin: str, writers: list[str]) -> str:
        """A tutorial's commands; what it says to write goes to each writer in turn."""
        page = (ROOT / "docs/tutorials" / name).read_text()
        page = page[page.index(f"```sh\n{begin}"):]
        found = re.findall(r"^```(sh|toml)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        write = iter(writers)
        script = "".join(text if kind == "sh" else f"{next(write)} <<'END'\n{text}END\n" for kind, text in found)
        assert next(write, None) is None, f"{name} has fewer files"
        return script

    def write_sources(self) -> str:
        """The SHA-256 of msgpack's first."""
        self.sources = self.enterContext(PackageIndex(self.folder / "sources"))
        write_sdist(self.sources.folder, "packaging", "24.2")
        write_sdist(self.sources.folder, "markupsafe", "3.0.2", c_source=FAST_C, module_source=(
            "import sys\nfrom . import _fast\nsys.modules['markupsafe._speedups'] = _fast\n"
            "def escape(text):\n    return text.replace('<', '&lt;').replace('>', '&gt;')\n"))
        extension = "import sys\nfrom . import _fast\nsys.modules['msgpack._cmsgpack'] = _fast\npackb = unpackb = lambda value: value\n"
        pinned, _ = (write_sdist(self.sources.folder, "msgpack", version, c_source=FAST_C, module_source=extension)
                     for version in ("1.1.0", "1.1.1"))
        return hashlib.sha256(pinned.read_bytes()).hexdigest()

    def test_where_the_port_is_taken_another_one_is_and_what_is_printed_works(self):
        with PackageIndex(self.folder / "sources") as sources, socket.socket() as taken:
            taken.bind(("127.0.0.1", 8080))
            taken.listen()
            write_sdist(sources.folder, "markupsafe", "3.0.2", value=7)
            self.environment |= sources.pip_environment
            process = self.start()
            said = []
            for line in process.stdout:
                said.append(line)
                if "serve -c" in line:
                    break
            [url] = re.findall(r"^  avail_wheels --index-url (\S+)$", "".join(said), re.MULTILINE)
            self.assertNotIn(":8080/", url)
            with urllib.request.urlopen(f"{url}markupsafe/") as answer:
                self.assertIn(b"markupsafe-3.0.2", answer.read())
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=COMMAND_TIMEOUT_S)


if __name__ == "__main__":
    if not CAN_CUT:
        not_here(WHY_NOT)
    move_to_island()
    main()
