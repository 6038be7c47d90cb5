"""What each upload client prints when the registry accepts, knows or refuses a wheel: docs/reference/client-answers.md.

twine and uv in every run; flit, hatch, pdm and poetry with WHEELYARD_FULL=1 (scripts/test --full). With
WHEELYARD_UPDATE_GOLDEN=1 and WHEELYARD_FULL=1 the page is written.
"""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from support.case import FarmCase, main
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, ROOT
from support.full import IS_FULL
from support.wheels import Wheel, record_hash

PAGE = ROOT / "docs/reference/client-answers.md"
MODULE = '"""Made for a test."""\n__version__ = "1.0"\nvalue = {value}\n'
PROJECT = '[project]\nname = "{name}"\nversion = "1.0"\ndescription = "Made for a test."\n'
FLIT = '[build-system]\nrequires = ["flit_core >=3.2,<4"]\nbuild-backend = "flit_core.buildapi"\n'

# (case, whether the client succeeds, what it must print: the status, and of the reason phrase its sentence or offending value)
CASES = [("accepted", True, ()), ("the same file again", True, ()), ("the name with other bytes", False, ("409", "File already exists")),
         ("a bad token", False, ("403", "Invalid or expired token")), ("a refused wheel", False, ("400", "_lie/"))]

# The lines about the result, and what clients print beside it: progress, tracebacks, files of this machine.
RESULT = re.compile(r"\b(400|401|403|409)\b|error|already|upload|success|token|RECORD|member", re.IGNORECASE)
NOISE = re.compile(r"^File \"|^raise |^See |Virtualenv|more information|WARNING|^Uploading distributions|record of files| 0%|^type:|upload(_file)?\(")
MAX_SHOWN = 200

HEAD = """# What upload clients print

*Reference for people who upload and for operators: what each client prints when the registry accepts a wheel, has it
already, or refuses it. Use it to recognise a message.*

Written by [client_answers_test.py](../../tests/system/client_answers_test.py), which checks exit code and status in
every `scripts/test --full`. Of each output the lines about the result are shown. The registry's sentence is in the
reason phrase of the status, since most clients print nothing else.

"""


class ClientAnswersTest(FarmCase):
    def run_client(self, *words: str | Path, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(words, env=self.farm.environment | {"COLUMNS": "300"} | environment, cwd=self.work, capture_output=True, text=True,
                              timeout=COMMAND_TIMEOUT_S)

    def twine(self, wheel: Path, token: str) -> subprocess.CompletedProcess:
        return self.run_client(CLIENTS / "twine/bin/python", "-m", "twine", "upload", "--non-interactive", "--disable-progress-bar",
                               "--repository-url", self.farm.upload_url(), wheel, TWINE_USERNAME="__token__", TWINE_PASSWORD=token)

    def uv(self, wheel: Path, token: str) -> subprocess.CompletedProcess:
        return self.run_client(CLIENTS / "uv/bin/uv", "publish", "--publish-url", self.farm.upload_url(), wheel,
                               UV_PUBLISH_TOKEN=token, UV_NO_CONFIG="1", UV_NO_CACHE="1")

    def flit(self, _wheel: Path, token: str) -> subprocess.CompletedProcess:
        """Uploads what it builds from pyproject.toml."""
        return self.run_client(CLIENTS / "flit/bin/flit", "publish", "--format", "wheel", FLIT_INDEX_URL=self.farm.upload_url(),
                               FLIT_USERNAME="__token__", FLIT_PASSWORD=token, SOURCE_DATE_EPOCH="1700000000")

    def hatch(self, wheel: Path, token: str) -> subprocess.CompletedProcess:
        return self.run_client(CLIENTS / "hatch/bin/hatch", "--no-color", "publish", "--no-prompt", "--repo", self.farm.upload_url(),
                               "--user", "__token__", "--auth", token, wheel)

    def pdm(self, _wheel: Path, token: str) -> subprocess.CompletedProcess:
        return self.run_client(CLIENTS / "pdm/bin/pdm", "publish", "--no-build", PDM_PUBLISH_REPO=self.farm.upload_url(),
                               PDM_PUBLISH_USERNAME="__token__", PDM_PUBLISH_PASSWORD=token, PDM_CHECK_UPDATE="0")

    def poetry(self, wheel: Path, token: str) -> subprocess.CompletedProcess:
        return self.run_client(CLIENTS / "poetry/bin/poetry", "publish", "--repository", "farm", "--no-interaction", "--no-ansi",
                               "--dist-dir", wheel.parent, POETRY_REPOSITORIES_FARM_URL=self.farm.upload_url(),
                               POETRY_HTTP_BASIC_FARM_USERNAME="__token__", POETRY_HTTP_BASIC_FARM_PASSWORD=token,
                               POETRY_KEYRING_ENABLED="false")

    def prepare(self, case: str, name: str) -> Path:
        """A project of its own, with the case's wheel in dist/."""
        value = 2 if case == "the name with other bytes" else 1
        project = name if case not in ("a bad token", "a refused wheel") else name + ("_denied" if "token" in case else "_lie")
        self.work = self.folder / f"{name}-{case.replace(' ', '-')}"
        package = self.work / project
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(MODULE.format(value=value))
        lie = {}
        if case == "a refused wheel":
            lie = {f"{project}/__init__.py": record_hash(b"other")}
            (package / "control\x1b.py").write_text("")  # flit builds its own wheel, with this member
        (self.work / "pyproject.toml").write_text((FLIT if name == "by_flit" else "") + PROJECT.format(name=project))
        return Wheel(project, value=value, record_changes=lie).write(self.work / "dist")

    def said(self, done: subprocess.CompletedProcess) -> str:
        """The lines about the result, without paths, ports and tokens."""
        text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr).replace(self.token, "TOKEN")
        text = text.replace(self.farm.url.split("://")[1], "wheels.example.org")
        text = re.sub(re.escape(str(self.folder)) + r"[^\s'\"`]*/", "", text)
        text = re.sub(r"\s*(b')?\{\"type\".*", "", text)  # the problem document, where a client adds it
        lines = [re.sub(r"[\s│┃|]+", " ", line).strip() for line in text.splitlines()]
        about = [line for line in lines if RESULT.search(line) and not NOISE.search(line)]
        kept = [line if len(line) <= MAX_SHOWN else line[:MAX_SHOWN] + "…" for line in about[-2:]]
        return " <br> ".join(f"`{line.replace('`', chr(39))}`" for line in kept) or "(nothing)"

    def answers_of(self, client: Callable[[Path, str], subprocess.CompletedProcess], name: str) -> list[str]:
        cells = []
        for case, succeeds, phrases in CASES:
            with self.subTest(f"{name}: {case}"):
                wheel = self.prepare(case, name)
                done = client(wheel, "wy_000000000000_" + "0" * 64 if case == "a bad token" else self.token)
                cells.append(f"{done.returncode}: {self.said(done)}")
                (self.assert_ran if succeeds else self.assert_failed)(done, *phrases)
        return cells

    def test_each_client_shows_what_became_of_the_wheel(self):
        clients = {"twine": self.twine, "uv": self.uv}
        if IS_FULL:
            clients |= {"flit": self.flit, "hatch": self.hatch, "pdm": self.pdm, "poetry": self.poetry}
        answers = {client: self.answers_of(run, f"by_{client}") for client, run in clients.items()}
        if IS_FULL and os.environ.get("WHEELYARD_UPDATE_GOLDEN") == "1":
            text = HEAD
            for client, cells in answers.items():
                text += f"## {client}\n\n| case | exit code, and what it prints |\n|---|---|\n"
                text += "".join(f"| {case} | {cell} |\n" for (case, _, _), cell in zip(CASES, cells)) + "\n"
            PAGE.write_text(text.rstrip() + "\n")
        for client in answers:
            self.assertIn(f"## {client}\n", PAGE.read_text())


if __name__ == "__main__":
    main()
