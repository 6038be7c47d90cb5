"""A site for the builder: site.toml, recipes and token in a folder of a farm."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from support.farm import BIN, CLIENTS, COMMAND_TIMEOUT_S, INDEX, Farm
from support.package_index import PackageIndex

# The distribution's Python, as in scripts/prepare-clients.
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"
PYTHON_VERSION = subprocess.run([PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
                                capture_output=True, text=True, check=True).stdout.strip()
# The same for agents that make environments: quick where scripts/prepare-clients has run (copied_venv.sh).
VENV_PYTHON = str(CLIENTS / "python") if (CLIENTS / "python").exists() else PYTHON


@dataclass
class Site:
    farm: Farm
    sources: PackageIndex
    token: str
    wants: dict[str, str]  # package → version
    recipes: dict[str, str] = field(default_factory=dict)  # package → TOML after the package's name
    scheduler: str = 'kind = "local"\nmax_jobs = 2\n'
    registry: str = ""  # more lines of [registry]
    name: str = "site"  # of its folder: a farm may have several agents
    site: str = ""  # what it calls itself; empty: as its index
    index: str = INDEX
    python_version: str = PYTHON_VERSION
    python: str = VENV_PYTHON
    programs: Path = BIN

    def __post_init__(self):
        self.folder = self.farm.folder / self.name
        (self.folder / "recipes").mkdir(parents=True)
        token_file = self.folder / "token"
        token_file.touch(mode=0o600)
        token_file.write_text(self.token + "\n")
        for package, text in self.recipes.items():
            (self.folder / "recipes" / f"{package}.toml").write_text(
                f'config_version = 1\npackage = "{package}"\n{text}')
        wants = "".join(f'\n[[want]]\npackage = "{package}"\nversions = ["{version}"]\n'
                        for package, version in self.wants.items())
        self.file.write_text(f'''config_version = 1
name = "{self.site or self.index}"
recipes = ["recipes"]

[registry]
url = "{self.farm.url}"
index = "{self.index}"
token_file = "token"
{self.registry}

[state]
directory = "state"

[work]
directory = "work"

[scheduler]
{self.scheduler}
[[python]]
version = "{self.python_version}"
executable = "{self.python}"
{wants}''')

    @property
    def file(self) -> Path:
        return self.folder / "site.toml"

    @property
    def environment(self) -> dict[str, str]:
        environment = self.farm.environment | self.sources.pip_environment
        del environment["PIP_CONFIG_FILE"]  # HOME is empty and no test relies on a file in /etc
        return environment

    def command(self, command: str, *arguments: str) -> list[str]:
        return [str(self.programs / "wheelyard-builder"), command, *map(str, arguments), "--site", str(self.file)]

    def builder(self, command: str, *arguments: str, failpoint: str = "",
                timeout: float = COMMAND_TIMEOUT_S) -> subprocess.CompletedProcess:
        environment = self.environment | ({"WHEELYARD_FAILPOINT": failpoint} if failpoint else {})
        return subprocess.run(self.command(command, *arguments), env=environment, capture_output=True, text=True, timeout=timeout)

    def start(self, command: str, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen(self.command(command, *arguments), env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def attempts(self) -> list[dict]:
        """What `status --json` prints."""
        done = self.builder("status", "--json")
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        return json.loads(done.stdout)["attempts"]

    def plan(self) -> dict[str, dict]:
        """package → its cell of `plan --json`."""
        done = self.builder("plan", "--json")
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        return {cell["package"]: cell for cell in json.loads(done.stdout)["cells"]}
