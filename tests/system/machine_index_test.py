"""A farm before the package index that this machine's pip uses: with the lines that `client-config` prints and nothing else, pip, uv, poetry
and pdm each install 100 packages, five of which are the farm's own. Then the way out is closed, and what was installed is still installed.

Only with scripts/test --full, which also has scripts/prepare-clients fetch poetry and pdm; upstream_test.py has what every run tries.
"""

import json
import re
import subprocess
import sys
import unittest
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

from support.case import FarmCase, main
from support.clients import CLIENTS, RawUpload
from support.farm import COMMAND_TIMEOUT_S, Farm
from support.full import full
from support.island import CAN_CUT, WHY_NOT, on_island
from support.upstream import JSON, normalised
from support.wheels import Wheel

BASE, SITE = "base", "gh200"
# Small, with wheels, and they need nothing that is not among them.
OTHERS = """annotated-types anyio appdirs asgiref async-timeout attrs backoff beautifulsoup4 blinker cachetools certifi charset-normalizer click
cloudpickle colorama croniter decorator defusedxml dill distro docutils dnspython editables einops et-xmlfile exceptiongroup execnet
fastjsonschema filelock flask fsspec h11 h2 hpack httpcore httpx humanize hyperframe idna importlib-metadata iniconfig isodate itsdangerous
jinja2 jmespath joblib jsonpatch jsonpointer loguru mako markdown markdown-it-py markupsafe mdurl mistune more-itertools nodeenv oauthlib
packaging pathspec pexpect platformdirs pluggy prettytable ptyprocess pycparser pygments pyparsing pytest python-dateutil pytz pyyaml requests
rich semver six sniffio sortedcontainers soupsieve tabulate tenacity termcolor toml tomli tomlkit toolz tqdm typing-extensions tzdata urllib3
wcwidth werkzeug wrapt xmltodict zipp""".split()
# The index has a torch, too, with higher versions.
OWN = (Wheel("torch", "0.1+farm", metadata_lines=("Requires-Dist: filelock", "Requires-Dist: jinja2"), value=7),
       Wheel("yard-vision", metadata_lines=("Requires-Dist: torch==0.1+farm",), value=7),
       Wheel("yard-audio", metadata_lines=("Requires-Dist: torch==0.1+farm",), value=7),
       Wheel("yard-mpi", metadata_lines=("Requires-Dist: packaging",), value=7), Wheel("yard-tools", value=7))
PACKAGES = [*OTHERS, *(wheel.name for wheel in OWN)]
PIP_SETTINGS = """import json; from pip._internal.commands import create_command
options, _ = create_command("install").parse_args([]); print(json.dumps([options.index_url, options.cert]))"""
NOWHERE = "http://127.0.0.1:9"  # no client may ask anything but the farm
LONG_S = 4 * COMMAND_TIMEOUT_S


def machine_index() -> tuple[str, str | None]:
    """URL and CA certificates of the index, as this machine's own pip is configured: not with the tests' scrubbed environment."""
    done = subprocess.run([CLIENTS / "pip-new/bin/python", "-c", PIP_SETTINGS], capture_output=True, text=True, check=True)
    url, certificates = json.loads(done.stdout)
    return url.rstrip("/") + "/", certificates


def hosts_of_files(url: str) -> list[str]:
    request = urllib.request.Request(url + "requests/", headers={"Accept": f"{JSON}, text/html;q=0.1"})
    with urllib.request.urlopen(request, timeout=COMMAND_TIMEOUT_S) as answer:
        page = answer.read().decode()
    return sorted({urlsplit(found).netloc.rpartition("@")[2].lower() for found in re.findall(r"""https?://[^\s"'<>]+""", page)} - {""})


@full
class MachineIndexTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        url, certificates = machine_index()
        hosts = hosts_of_files(url)
        cls.farm = cls.enterClassContext(Farm((BASE, SITE), index_settings={
            BASE: f'[[index.upstream]]\nname = "public"\nurl = {json.dumps(url)}\nhosts = {json.dumps(hosts)}\n'
                  f'private_hosts = {json.dumps([*hosts, urlsplit(url).hostname])}\n',  # a mirror may be in the machine's own network
            SITE: 'inherits = ["base"]\nowns = ["torch"]'}))
        token = cls.farm.create_token()
        cls.certificates = {"SSL_CERT_FILE": certificates} if certificates else {}
        cls.farm.start(environment=cls.certificates)
        for wheel in OWN:
            status, problem = RawUpload(cls.farm, token, wheel.write(cls.farm.folder / "own"), SITE).send()
            assert status == 200, problem
        cls.configured = cls.farm.folder / "configured"
        done = cls.farm.run("wheelyard-indexer", "client-config", "--node", f"farm={cls.farm.simple_url(SITE)}", "--site", "yard", "--to",
                            cls.configured)
        assert done.returncode == 0, done.stderr

    def setUp(self):
        super().setUp()
        self.requirements = self.folder / "requirements.txt"
        self.requirements.write_text("\n".join(PACKAGES))

    def environment(self) -> dict[str, str]:
        made = self.configured / "farm"
        return self.farm.environment | {
            "PIP_CONFIG_FILE": str(made / "pip.conf"), "UV_CONFIG_FILE": str(made / "uv.toml"), "VIRTUAL_ENV": "", "PDM_CHECK_UPDATE": "0",
            "POETRY_VIRTUALENVS_IN_PROJECT": "1", "http_proxy": NOWHERE, "https_proxy": NOWHERE, "all_proxy": NOWHERE}

    def run_client(self, *command, folder: Path | None = None) -> None:
        self.assert_ran(subprocess.run([str(word) for word in command], env=self.environment(), cwd=folder or self.folder, capture_output=True,
                                       text=True, timeout=LONG_S))

    def assert_all_there(self, packages: Path) -> None:
        found = {normalised(path.name.split("-")[0]): path for path in packages.glob("*.dist-info")}
        self.assertEqual(sorted({normalised(name) for name in PACKAGES} - set(found)), [])
        for wheel in OWN:
            self.assertTrue((packages / f"{wheel.module}-{wheel.version}.dist-info").is_dir(), wheel.name)
            self.assertEqual((packages / wheel.module / "__init__.py").read_text(), "value = 7\n")

    def install_with_pip(self, *what) -> tuple:
        return (CLIENTS / "pip-new/bin/python", "-m", "pip", "install", "--no-cache-dir", "--disable-pip-version-check", "--target",
                self.folder / "target", *what)

    def project_of(self, kind: str) -> Path:
        folder = self.folder / "project"
        folder.mkdir()
        names = json.dumps(PACKAGES)
        (folder / "pyproject.toml").write_text(
            f'[project]\nname = "demo"\nversion = "1"\nrequires-python = ">=3.{sys.version_info.minor},<3.{sys.version_info.minor + 1}"\n'
            f"dependencies = {names}\n\n" + (self.configured / f"farm/{kind}.toml").read_text())
        return folder

    def test_0_there_are_100_of_which_five_are_our_own(self):
        self.assertEqual((len(set(PACKAGES)), len(OWN)), (100, 5))

    def test_1_pip(self):
        self.run_client(*self.install_with_pip("-r", self.requirements))
        self.assert_all_there(self.folder / "target")

    def test_2_uv(self):
        self.run_client(CLIENTS / "uv/bin/uv", "pip", "install", "--no-cache", "--python", CLIENTS / "pip-new/bin/python", "--target",
                        self.folder / "target", "-r", self.requirements)
        self.assert_all_there(self.folder / "target")

    def test_3_poetry(self):
        folder = self.project_of("poetry")
        self.run_client(CLIENTS / "poetry/bin/poetry", "lock", "--no-interaction", "--no-cache", folder=folder)
        self.run_client(CLIENTS / "poetry/bin/poetry", "install", "--no-interaction", "--no-root", "--no-cache", folder=folder)
        [packages] = (folder / ".venv").glob("lib/python*/site-packages")
        self.assert_all_there(packages)

    def test_4_pdm(self):
        folder = self.project_of("pdm")
        self.run_client(CLIENTS / "pdm/bin/pdm", "lock", folder=folder)
        self.run_client(CLIENTS / "pdm/bin/pdm", "sync", "--no-self", folder=folder)
        [packages] = (folder / ".venv").glob("lib/python*/site-packages")
        self.assert_all_there(packages)

    def test_5_the_tree_is_whole_and_has_only_what_was_installed(self):
        self.farm.check_tree()
        self.assertEqual(self.farm.get(f"/{BASE}/simple/torch/")[0], 200)  # of the upstream, for who asks `base`
        self.assertEqual(list(self.farm.files("torch", SITE)), ["torch-0.1+farm-py3-none-any.whl"])

    @unittest.skipUnless(CAN_CUT, WHY_NOT)
    def test_6_pip_installs_requests_while_the_index_is_dead(self):
        self.run_client(*self.install_with_pip("requests"))  # alive
        dead = on_island(self.farm, *self.install_with_pip("--upgrade", "requests", "yard-vision"), environment=self.environment(),
                         timeout=LONG_S)
        self.farm.start(environment=self.certificates)
        self.assert_ran(dead)
        self.run_client(CLIENTS / "pip-new/bin/python", "-I", "-c",
                        f"import sys; sys.path.insert(0, {str(self.folder / 'target')!r}); import requests, yard_vision, torch")


if __name__ == "__main__":
    main()
