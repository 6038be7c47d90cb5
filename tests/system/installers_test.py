"""poetry, pdm and pip-tools lock and install from our index, with the lines that `client-config` prints for them.

Only with WHEELYARD_FULL=1 (scripts/test --full), which also has scripts/prepare-clients fetch them; index_clients_test.py has the
ones that every run tries.
"""

import re
import subprocess
import sys
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, INDEX
from support.full import full
from support.wheels import Wheel, sha256_of

PROJECT = """[project]
name = "demo"
version = "1"
requires-python = ">=3.9,<4"
dependencies = ["extra-ful[more]", "local==2.0+site.1"]

"""


@full
class InstallersTest(FarmCase):
    def setUp(self):
        super().setUp()
        self.wheels = [wheel.write(self.folder) for wheel in (
            Wheel("choice", "1.0"), Wheel("choice", "1.1"), Wheel("choice", "2.0"), Wheel("choice", "3.0rc1"), Wheel("local", "2.0"),
            Wheel("local", "2.0+site.1"),
            Wheel("Extra_Ful", "1.0", metadata_lines=("Provides-Extra: more", 'Requires-Dist: choice<2; extra == "more"')))]
        for wheel in self.wheels:  # the same for each test: an upload that is there already is no error
            self.assertEqual(RawUpload(self.farm, self.token, wheel).send()[0], 200)
        self.assert_ran(self.farm.run("wheelyard-registry", "yank", INDEX, "choice-1.1-py3-none-any.whl", "--reason", "bad", "-c",
                                      self.farm.config))
        self.project = self.folder / "project"
        self.project.mkdir()

    def run_client(self, *command, **more) -> subprocess.CompletedProcess:
        done = subprocess.run([str(word) for word in command], cwd=self.project, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S,
                              env=self.farm.environment | {"VIRTUAL_ENV": "", "POETRY_VIRTUALENVS_IN_PROJECT": "1",
                                                           "PDM_CHECK_UPDATE": "0"} | more)
        self.assert_ran(done)
        return done

    def write_project(self, kind: str, place: str = "") -> None:
        lines = self.farm.run("wheelyard-indexer", "client-config", "--node", f"farm={place or self.farm.simple_url(INDEX)}", "--kind", kind)
        self.assert_ran(lines)
        (self.project / "pyproject.toml").write_text(PROJECT + lines.stdout)

    def assert_locked(self, text: str) -> None:
        for wheel in (self.wheels[0], self.wheels[5], self.wheels[6]):
            self.assertIn(sha256_of(wheel), text)
        self.assertNotIn(sha256_of(self.wheels[1]), text)

    def assert_installed(self, venv: Path) -> None:
        done = self.run_client(next(venv.glob("bin/python")), "-c", "import choice, local, extra_ful")
        self.assertEqual(done.returncode, 0)

    def test_pip_tools(self):
        (self.project / "requirements.in").write_text("extra-ful[more]\nlocal==2.0+site.1\n")
        self.run_client(CLIENTS / "pip-tools/bin/pip-compile", "--generate-hashes", "--no-header", "--index-url", self.farm.simple_url(INDEX), "--no-emit-index-url")
        lock = (self.project / "requirements.txt").read_text()
        self.assert_locked(lock)
        self.assertTrue(re.search(r"^choice==1\.0 ", lock, re.M), lock)
        venv = self.folder / "venv"
        self.run_client(sys.executable, "-m", "venv", venv)
        self.run_client(CLIENTS / "pip-tools/bin/pip-sync", "--python-executable", venv / "bin/python", "--index-url", self.farm.simple_url(INDEX))
        self.assert_installed(venv)

    def test_poetry(self):
        self.write_project("poetry")
        self.run_client(CLIENTS / "poetry/bin/poetry", "lock", "--no-interaction", "--no-cache")
        self.assertIn("2.0+site.1", (self.project / "poetry.lock").read_text())
        self.run_client(CLIENTS / "poetry/bin/poetry", "install", "--no-interaction", "--no-root", "--no-cache")
        self.assert_installed(self.project / ".venv")

    def pdm_locks_and_installs(self):
        self.run_client(CLIENTS / "pdm/bin/pdm", "lock")
        self.assert_locked((self.project / "pdm.lock").read_text())
        self.run_client(CLIENTS / "pdm/bin/pdm", "sync", "--no-self")
        self.assert_installed(self.project / ".venv")

    def test_pdm(self):
        self.write_project("pdm")
        self.pdm_locks_and_installs()

    def test_pdm_without_a_server(self):
        tree = self.folder / "tree"
        self.assert_ran(self.farm.run("wheelyard-indexer", "publish", "--store", self.farm.data, "--to", tree))
        self.write_project("pdm", f"{tree / INDEX}")
        self.pdm_locks_and_installs()


if __name__ == "__main__":
    main()
