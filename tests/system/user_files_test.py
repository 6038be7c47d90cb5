"""What a site's users get (`wheelyard-builder site user-files`), tested by using it: a real Lmod loads the modulefiles, bash sources the
hooks, a real Slurm and recordings of a real PBS run the job script, a C++ compiler builds the example. torch is a stand-in."""

import shutil
import subprocess
import unittest
from pathlib import Path

from support import pbs_replay
from support.case import FarmCase, main
from support.clients import twine_upload
from support.farm import COMMAND_TIMEOUT_S, INDEX
from support.site import PYTHON, PYTHON_VERSION
from support.slurm_cluster import SlurmCluster, missing_programs
from support.wheels import Wheel

LMOD = Path("/usr/share/lmod/lmod/init/bash")
TORCH_CONFIG = """set(TORCH_LIBRARIES "")
set(TORCH_CXX_FLAGS "-DSTAND_IN=1")
include_directories(${CMAKE_CURRENT_LIST_DIR}/../../../include)
set(Torch_FOUND TRUE)
"""
TORCH_HEADER = """#ifdef STAND_IN
#include <initializer_list>
namespace torch {
enum Device { kCPU, kCUDA };
namespace cuda { inline bool is_available() { return false; } }
struct Tensor { double n, value; Tensor sum() const { return {1, n * n * value}; } template <class T> T item() const { return value; } };
inline Tensor ones(std::initializer_list<long> sizes, Device) { return {double(*sizes.begin()), 1}; }
inline Tensor matmul(const Tensor& a, const Tensor& b) { return {a.n, a.n * a.value * b.value}; }
}
#endif
"""
TORCH = {"torch/utils.py": b"import os\ncmake_prefix_path = os.path.join(os.path.dirname(__file__), 'share', 'cmake')\n",
         "torch/__init__.py": b"value = 24\nfrom torch import utils\n",
         "torch/share/cmake/Torch/TorchConfig.cmake": TORCH_CONFIG.encode(),
         "torch/include/torch/torch.h": TORCH_HEADER.encode()}
# What each rank writes down of itself.
PROGRAM = """import os, sys, torch
names = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "NCCL_SOCKET_IFNAME", "MIOPEN_USER_DB_PATH"]
with open(os.path.join(sys.argv[1], "rank" + os.environ["RANK"]), "w") as out:
    print(*(os.environ[name] for name in names), os.path.isdir(os.environ["MIOPEN_USER_DB_PATH"]), sys.prefix, torch.value, file=out)
"""


@unittest.skipUnless(LMOD.exists(), "no Lmod here: apt-get install lmod")
class UserFilesTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = twine_upload(cls.farm, cls.token, Wheel("torch", "2.4.0+here", extra_members=TORCH).write(cls.farm.folder / "wheels"))
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        tree = cls.farm.folder / "tree" / "gcc"
        tree.mkdir(parents=True)
        (tree / "12.2.lua").write_text('setenv("GCC_HOME", "/opt/gcc")\n')
        cls.place = cls.make_files("files", 'kind = "slurm"\npartition = "standard"\naccount = "z19"\n',
                                   "srun --nodes={nodes} --ntasks={ranks}")
        cls.root = cls.farm.folder / "environment"
        done = cls.run_program(cls.place / "install-environment", PIP_INDEX_URL=cls.farm.simple_url())
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)

    @classmethod
    def make_files(cls, name: str, scheduler: str, launcher: str) -> Path:
        """The files of a site with this machine's paths, in a folder of the farm."""
        folder = cls.farm.folder / name
        folder.mkdir()
        (folder / "site.toml").write_text(f'''config_version = 1
name = "{INDEX}"
[registry]
url = "{cls.farm.url}"
index = "{INDEX}"
token_file = "token"
[state]
directory = "state"
[work]
directory = "work"
[scheduler]
{scheduler}[modules]
init = "{LMOD}"
use = ["{cls.farm.folder / "tree"}"]
load = ["gcc/12.2"]
[mpi]
launcher = "{launcher}"
[[python]]
version = "{PYTHON_VERSION}"
executable = "{PYTHON}"
[users]
directory = "{cls.farm.folder / "environment"}"
module = "pytorch/2.4.0"
requirements = ["torch==2.4.0+here"]
environment = {{ NCCL_SOCKET_IFNAME = "lo" }}
library_path = ["/opt/plugin/lib"]
job_folders = ["MIOPEN_USER_DB_PATH"]
node_local = "{cls.farm.folder}"
ranks_per_node = 2
''')
        place = folder / "files"
        done = cls.farm.run("wheelyard-builder", "site", "user-files", "--site", folder / "site.toml", "--to", place)
        if done.returncode != 0 or "job.sh" not in done.stdout:
            raise AssertionError(done.stdout + done.stderr)
        return place

    @classmethod
    def run_program(cls, *words, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run([str(word) for word in words], env=cls.farm.environment | environment, capture_output=True, text=True,
                              timeout=COMMAND_TIMEOUT_S)

    def bash(self, script: str, **environment: str) -> list[str]:
        done = self.run_program("/bin/bash", "-c", f". {LMOD}\n{script}", **environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout.splitlines()

    def test_both_modulefiles_bring_the_wheels_and_take_everything_away_again(self):
        for kind in ("modulefiles", "modulefiles-tcl"):
            with self.subTest(kind):
                lines = self.bash(f'''module use {self.place / kind}
before=$PATH
module load pytorch/2.4.0
echo "$LOADEDMODULES" "$NCCL_SOCKET_IFNAME" "$WHEELYARD_INDEX_URL" "$LD_LIBRARY_PATH"
python -c 'import torch, sys; print(torch.value, sys.prefix)'
module unload pytorch
test "$PATH" = "$before" && echo "${{NCCL_SOCKET_IFNAME-gone}} ${{LD_LIBRARY_PATH-gone}} ${{WHEELYARD_ENVIRONMENT-gone}}"
''')
                loaded, *rest = lines[0].split()
                self.assertEqual(set(loaded.split(":")), {"gcc/12.2", "pytorch/2.4.0"})
                self.assertEqual(rest, ["lo", self.farm.simple_url(), "/opt/plugin/lib"])
                self.assertEqual(lines[1:], [f"24 {self.root}", "gone gone gone"])

    def test_a_users_own_venv_sees_the_wheels_after_extend_venv_activate_and_leaves_no_trace(self):
        venv = self.folder / "venv"
        self.assert_ran(self.run_program(PYTHON, "-m", "venv", "--without-pip", venv))
        self.assert_ran(self.run_program(self.place / "extend-venv-activate", venv), "uses pytorch/2.4.0")
        self.assert_ran(self.run_program(self.place / "extend-venv-activate", venv), "extended already")
        lines = self.bash(f'''before=$PATH
. {venv}/bin/activate
echo "$LOADEDMODULES"
python -c 'import torch, sys; print(torch.value, sys.prefix)'
deactivate
test "$PATH" = "$before" && echo "left: ${{LOADEDMODULES-}} ${{WHEELYARD_LOADED-}}"
module use {self.place / "modulefiles"}
module load pytorch
. {venv}/bin/activate
deactivate
echo "$LOADEDMODULES"
''')
        self.assertIn("pytorch/2.4.0", lines[0])
        self.assertEqual(lines[1:3], [f"24 {venv}", "left:  "])
        self.assertIn("pytorch/2.4.0", lines[3])  # a module that was loaded before stays

    def test_condas_hooks_set_the_variables_and_bring_back_what_was_there(self):
        lines = self.bash(f'''set -eu
export NCCL_SOCKET_IFNAME=mine
show() {{ echo "${{NCCL_SOCKET_IFNAME-none}} ${{LD_LIBRARY_PATH-none}}"; }}
. {self.place}/conda/activate.d/pytorch.sh; show
. {self.place}/conda/deactivate.d/pytorch.sh; show
unset NCCL_SOCKET_IFNAME
export LD_LIBRARY_PATH=/mine
. {self.place}/conda/activate.d/pytorch.sh; show
. {self.place}/conda/deactivate.d/pytorch.sh; show
''')
        self.assertEqual(lines, ["lo /opt/plugin/lib", "mine none", "lo /opt/plugin/lib:/mine", "none /mine"])

    def assert_ranks(self, job: str, prefix: str):
        """Two ranks of one job, with the same words about each other and a cache of their own job's, gone by now."""
        ranks = [(self.folder / f"rank{rank}").read_text().split() for rank in (0, 1)]
        self.assertEqual([rank[:3] for rank in ranks], [["0", "2", "0"], ["1", "2", "1"]])
        self.assertEqual(ranks[0][3:], ranks[1][3:])
        address, port, interface, cache, was_there, where, value = ranks[0][3:]
        self.assertTrue(address)
        self.assertEqual((int(port), interface, was_there, value), (20_000 + int(job) % 10_000, "lo", "True", "24"))
        self.assertRegex(cache, rf"/wheelyard-\w+-{job}/miopen_user_db_path$")
        self.assertFalse(Path(cache).exists())
        self.assertEqual(where, prefix)

    @unittest.skipIf(missing_programs(), "no Slurm here")
    def test_slurm_runs_the_job_script_from_the_nodes_own_disk(self):
        self.assert_ran(self.run_program(self.place / "pack-environment"), "environment.tar")
        program = self.folder / "program.py"
        program.write_text(PROGRAM)
        with SlurmCluster(self.folder / "slurm", partitions=("standard",)) as cluster:
            words = ["sbatch", "--wait", "--parsable", f"--output={self.folder / 'out'}", f"--chdir={self.folder}"]
            tried = self.run_program("sbatch", "--test-only", self.place / "job.sh", **cluster.environment)
            self.assert_ran(tried)
            done = self.run_program(*words, self.place / "job.sh", program, self.folder, **cluster.environment)
        log = (self.folder / "out").read_text() if (self.folder / "out").exists() else ""
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + log)
        job = done.stdout.strip()
        self.assert_ranks(job, str(self.farm.folder / f"pytorch-2.4.0-{job}"))
        self.assertTrue((self.farm.folder / f"pytorch-2.4.0-{job}.tar").exists())  # sbcast brought it

    @unittest.skipUnless(shutil.which("mpiexec"), "no MPI here")
    def test_pbs_runs_the_job_script_with_the_ranks_of_an_mpi(self):
        place = self.make_files("pbs", 'kind = "pbs"\naccount = "UXYZ0001"\n', "mpiexec --oversubscribe -n {ranks}")
        # Its arguments stand in the script: qsub has none for it.
        job = place / "job.sh"
        job.write_text(job.read_text().replace(f"set -- {place}/all_reduce.py", f"set -- {self.folder}/program.py {self.folder}")
                       .replace("\n. ", "\nexport OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n. "))
        (self.folder / "program.py").write_text(PROGRAM)
        batch = pbs_replay.PbsReplay(self.folder / "batch")
        self.addCleanup(batch.__exit__)
        words = self.farm.environment
        done = self.run_program("qsub", job, PATH=f"{batch.programs}:{words['PATH']}")
        self.assert_ran(done)
        number = done.stdout.split(".")[0]
        pbs_replay.wait(lambda: batch.server.find(done.stdout.strip())["state"] == "F")
        log = (batch.server.folder / f"{number}.OU").read_text()
        self.assertEqual(batch.server.find(done.stdout.strip()).get("exit_status"), 0, log)
        self.assert_ranks(number, str(self.root))

    def test_the_libtorch_example_is_built_against_the_installed_wheel(self):
        done = self.run_program(self.place / "libtorch" / "build", self.folder / "build")
        self.assert_ran(done, "sum 262144")

    def test_an_environment_that_is_there_is_not_made_over(self):
        self.assert_failed(self.run_program(self.place / "install-environment"), "is there already")
        self.assertTrue((self.root / ".complete").exists())


if __name__ == "__main__":
    main()
