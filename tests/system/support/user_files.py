"""The files that a site's users get, and the words to use them: a site file with this machine's paths, modules of one compiler in either
language, bash with the site's `module`."""

import subprocess
from pathlib import Path

from support.case import FarmCase
from support.farm import COMMAND_TIMEOUT_S, INDEX
from support.site import PYTHON, PYTHON_VERSION

LMOD = Path("/usr/share/lmod/lmod/init/bash")


class UserFilesCase(FarmCase):
    index = INDEX
    python, python_version = PYTHON, PYTHON_VERSION
    requirement = "torch==2.4.0+here"
    variables = 'NCCL_SOCKET_IFNAME = "lo"'  # of users.environment
    timeout_s = COMMAND_TIMEOUT_S
    root: Path  # of the environment

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.root = cls.farm.folder / "environment"
        for file, text in (("lua/gcc/12.2.lua", 'setenv("GCC_HOME", "/opt/gcc")\n'),
                           ("tcl/gcc/12.2", "#%Module1.0\nsetenv GCC_HOME /opt/gcc\n")):
            (cls.farm.folder / file).parent.mkdir(parents=True)
            (cls.farm.folder / file).write_text(text)

    @classmethod
    def make_files(cls, name: str, scheduler: str = 'kind = "slurm"\npartition = "standard"\naccount = "z19"\n',
                   launcher: str = "srun --nodes={nodes} --ntasks={ranks}", init: Path = LMOD, tree: str = "lua",
                   node_local: Path | None = None, users: str = "") -> Path:
        """The files of a site, in a folder of the farm."""
        folder = cls.farm.folder / name
        folder.mkdir()
        (folder / "site.toml").write_text(f'''config_version = 1
name = "{cls.index}"
[registry]
url = "{cls.farm.url}"
index = "{cls.index}"
token_file = "token"
[state]
directory = "state"
[work]
directory = "work"
[scheduler]
{scheduler}[modules]
init = "{init}"
use = ["{cls.farm.folder / tree}"]
load = ["gcc/12.2"]
[mpi]
launcher = "{launcher}"
[[python]]
version = "{cls.python_version}"
executable = "{cls.python}"
[users]
directory = "{cls.root}"
module = "pytorch/2.4.0"
requirements = ["{cls.requirement}"]
environment = {{ {cls.variables} }}
library_path = ["${{GCC_HOME}}", "/opt/plugin/lib"]
job_folders = ["MIOPEN_USER_DB_PATH"]
node_local = "{node_local or cls.farm.folder}"
ranks_per_node = 2
{users}''')
        place = folder / "files"
        done = cls.farm.run("wheelyard-builder", "site", "user-files", "--site", folder / "site.toml", "--to", place)
        if done.returncode != 0 or "job.sh" not in done.stdout:
            raise AssertionError(done.stdout + done.stderr)
        return place

    @classmethod
    def run_program(cls, *words, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run([str(word) for word in words], env=cls.farm.environment | environment, capture_output=True, text=True,
                              timeout=cls.timeout_s)

    def bash(self, script: str, init: Path = LMOD, **environment: str) -> list[str]:
        done = self.run_program("/bin/bash", "-c", f". {init}\n{script}", **environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout.splitlines()
