"""What a site's users get (`wheelyard-builder site user-files`), tested by using it: a real Lmod and real Environment Modules load the
modulefiles, bash sources the hooks, a real Slurm (two nodes, too) and recordings of a real PBS run the job script, a C++ compiler builds
the example. torch is a stand-in."""

import shutil
import unittest
from pathlib import Path

from support import pbs_replay
from support.case import main
from support.clients import twine_upload
from support.farm import CLIENTS
from support.ports import free_port
from support.site import PYTHON
from support.slurm_cluster import SlurmCluster, can_mount, missing_programs
from support.user_files import LMOD, UserFilesCase
from support.wheels import Wheel

ENVIRONMENT_MODULES = CLIENTS / "environment-modules/usr/share/modules/init/bash"
MODULE = "pytorch/2.4.0"
RATTLER = CLIENTS / "rattler/bin/python"
# What a shell runs to activate one prefix after another one.
ACTIVATION = """
import sys
from pathlib import Path
from rattler.shell import ActivationVariables, Shell, activate
into, *before = map(Path, sys.argv[1:])
print(activate(into, ActivationVariables(current_prefix=before[0] if before else None), Shell.bash).script)
"""
need_environment_modules = unittest.skipUnless(ENVIRONMENT_MODULES.exists(), "no Environment Modules here: scripts/prepare-clients")
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
# Every rank but the first goes to the first, by the address and port that the job says, and names its node.
MEETING = """
import socket, time
place = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
me = f'{os.environ["RANK"]} {os.environ["LOCAL_RANK"]} {os.environ["SLURMD_NODENAME"]}'
if os.environ["RANK"] == "0":
    received = [me]
    with socket.create_server(place) as server:
        server.settimeout(60)
        while len(received) < int(os.environ["WORLD_SIZE"]):
            with server.accept()[0] as other:
                received.append(other.makefile().readline().strip())
    with open(os.path.join(sys.argv[1], "received"), "w") as out:
        print(*sorted(received), sep="\\n", file=out)
else:
    deadline = time.monotonic() + 240
    while True:
        try:
            with socket.create_connection(place) as first:
                first.sendall(me.encode() + b"\\n")
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)  # until the first rank listens: nothing announces it
"""


@unittest.skipUnless(LMOD.exists(), "no Lmod here: apt-get install lmod")
class UserFilesTest(UserFilesCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = twine_upload(cls.farm, cls.token, Wheel("torch", "2.4.0+here", extra_members=TORCH).write(cls.farm.folder / "wheels"))
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        cls.place = cls.make_files("files")
        cls.place_tcl = cls.make_files("files-tcl", init=ENVIRONMENT_MODULES, tree="tcl")
        done = cls.run_program(cls.place / "install-environment", PIP_INDEX_URL=cls.farm.simple_url())
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)

    def assert_module_comes_and_goes(self, init: Path, modules: Path, library_path: str = "/opt/gcc:/opt/plugin/lib"):
        lines = self.bash(f'''module use {modules}
before=$PATH
module load pytorch
echo "$LOADEDMODULES" "$NCCL_SOCKET_IFNAME" "$WHEELYARD_INDEX_URL" "$LD_LIBRARY_PATH" "$GCC_HOME"
python -c 'import torch, sys; print(torch.value, sys.prefix)'
module unload pytorch
test "$PATH" = "$before" && echo "${{NCCL_SOCKET_IFNAME-gone}} ${{LD_LIBRARY_PATH-gone}} ${{WHEELYARD_ENVIRONMENT-gone}} ${{GCC_HOME-gone}}"
echo "left: ${{LOADEDMODULES-}}"
''', init)
        loaded, *rest = lines[0].split()
        self.assertEqual(set(loaded.split(":")), {"gcc/12.2", "pytorch/2.4.0"})
        self.assertEqual(rest, ["lo", self.farm.simple_url(), library_path, "/opt/gcc"])
        self.assertEqual(lines[1:], [f"24 {self.root}", "gone gone gone gone", "left: "])

    def test_lmod_brings_the_wheels_by_either_modulefile_and_takes_everything_away_again(self):
        tcl_alone = self.folder / "tcl" / "pytorch"
        tcl_alone.mkdir(parents=True)
        shutil.copy(self.place / "modulefiles/pytorch/2.4.0", tcl_alone)
        self.assert_module_comes_and_goes(LMOD, self.place / "modulefiles")
        # Lmod evaluates a Tcl modulefile before it loads the modules that this one names.
        self.assert_module_comes_and_goes(LMOD, tcl_alone.parent, "/opt/plugin/lib")

    @need_environment_modules
    def test_environment_modules_bring_the_wheels_and_take_everything_away_again(self):
        self.assert_module_comes_and_goes(ENVIRONMENT_MODULES, self.place_tcl / "modulefiles")

    @need_environment_modules
    def test_environment_modules_leave_what_the_user_had_loaded_before(self):
        lines = self.bash(f'''module use {self.farm.folder / "tcl"} {self.place_tcl / "modulefiles"}
module load gcc/12.2
module load pytorch/2.4.0
module unload pytorch
echo "$LOADEDMODULES"
''', ENVIRONMENT_MODULES)
        self.assertEqual(lines, ["gcc/12.2"])

    def assert_venv_is_extended(self, init: Path, place: Path):
        venv = self.folder / "venv"
        self.assert_ran(self.run_program(PYTHON, "-m", "venv", "--without-pip", venv))
        self.assert_ran(self.run_program(place / "extend-venv-activate", venv), "uses pytorch/2.4.0")
        self.assert_ran(self.run_program(place / "extend-venv-activate", venv), "already extended")
        lines = self.bash(f'''before=$PATH
. {venv}/bin/activate
echo "$LOADEDMODULES"
python -c 'import torch, sys; print(torch.value, sys.prefix)'
deactivate
test "$PATH" = "$before" && echo "left: ${{LOADEDMODULES-}} ${{WHEELYARD_LOADED-}}"
module use {place / "modulefiles"}
module load pytorch
. {venv}/bin/activate
deactivate
echo "$LOADEDMODULES"
''', init)
        self.assertIn("pytorch/2.4.0", lines[0])
        self.assertEqual(lines[1:3], [f"24 {venv}", "left:  "])
        self.assertIn("pytorch/2.4.0", lines[3])  # a module that was loaded before stays

    def test_a_users_own_venv_sees_the_wheels_after_extend_venv_activate_and_leaves_no_trace(self):
        self.assert_venv_is_extended(LMOD, self.place)
        lines = self.bash(f"module use {self.place / 'modulefiles'}; module load pytorch; extend-venv-activate {self.folder / 'venv'}", LMOD)
        self.assertIn("already extended", lines[0])  # the module has it on PATH

    @need_environment_modules
    def test_a_users_own_venv_sees_the_wheels_with_environment_modules_too(self):
        self.assert_venv_is_extended(ENVIRONMENT_MODULES, self.place_tcl)

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
export GCC_HOME=/opt/gcc
. {self.place}/conda/activate.d/pytorch.sh; show
. {self.place}/conda/deactivate.d/pytorch.sh; show
''')
        self.assertEqual(lines, ["lo /opt/plugin/lib", "mine none", "lo /opt/plugin/lib:/mine", "none /mine",
                                 "lo /opt/gcc:/opt/plugin/lib:/mine", "none /mine"])

    @unittest.skipUnless(RATTLER.exists(), "rattler is not here: WHEELYARD_FULL=1 scripts/prepare-clients")
    def test_condas_hooks_work_where_rattler_activates_and_leaves_the_environment(self):
        """Conda's other implementation, pixi's: no index of Python packages has a Conda that knows `conda activate`."""
        mine, other = self.folder / "mine", self.folder / "other"
        other.mkdir()
        for hooks in ("activate.d", "deactivate.d"):
            shutil.copytree(self.place / "conda" / hooks, mine / "etc/conda" / hooks)

        def activation(*prefixes: Path) -> str:
            done = self.run_program(RATTLER, "-c", ACTIVATION, *prefixes)
            self.assert_ran(done)
            return done.stdout
        lines = self.bash(f'''set -eu
export NCCL_SOCKET_IFNAME=before
show() {{ echo "$CONDA_PREFIX ${{NCCL_SOCKET_IFNAME-none}} ${{LD_LIBRARY_PATH-none}} ${{WHEELYARD_INDEX_URL-none}}"; }}
{activation(mine)}
show
{activation(other, mine)}
show
''')
        self.assertEqual(lines, [f"{mine} lo /opt/plugin/lib {self.farm.simple_url()}", f"{other} before none none"])

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

    @need_environment_modules
    @unittest.skipIf(missing_programs(), "no Slurm here")
    @unittest.skipUnless(can_mount(), "nodes with disks of their own need root")
    def test_slurm_runs_the_job_script_on_two_nodes_and_every_rank_finds_the_first(self):
        """On a site with Environment Modules. Each node has its own disk: what one gets or unpacks is not there for the other."""
        disk = self.folder / "nvme"
        disk.mkdir()
        place = self.make_files("two-nodes", init=ENVIRONMENT_MODULES, tree="tcl", node_local=disk,
                                users=f"nodes = 2\nmaster_port = {free_port()}\n")
        self.assert_ran(self.run_program(place / "pack-environment"), "environment.tar")
        program = self.folder / "program.py"
        program.write_text(PROGRAM + MEETING)
        with SlurmCluster(self.folder / "slurm", partitions=("standard",), nodes=2, own_disk=disk) as cluster:
            done = self.run_program("sbatch", "--wait", "--parsable", f"--output={self.folder / 'out'}", f"--chdir={self.folder}",
                                    place / "job.sh", program, self.folder, **cluster.environment)
        log = (self.folder / "out").read_text() if (self.folder / "out").exists() else ""
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + log)
        first, second = cluster.nodes
        self.assertEqual((self.folder / "received").read_text().splitlines(),
                         [f"0 0 {first}", f"1 1 {first}", f"2 0 {second}", f"3 1 {second}"])
        name = f"pytorch-2.4.0-{done.stdout.strip()}"
        for rank in range(4):
            words = (self.folder / f"rank{rank}").read_text().split()
            self.assertEqual((words[1], words[3], words[-2:]), ("4", first, [str(disk / name), "24"]))
        self.assertEqual(list(disk.iterdir()), [])
        for node in cluster.nodes:
            self.assertTrue((cluster.disk_of(node) / f"{name}.tar").exists(), node)  # sbcast brought it
            self.assertTrue((cluster.disk_of(node) / name / "bin" / "python").is_symlink(), node)

    @unittest.skipUnless(shutil.which("mpiexec"), "no MPI here")
    def test_pbs_runs_the_job_script_with_the_ranks_of_an_mpi(self):
        place = self.make_files("pbs", 'kind = "pbs"\naccount = "UXYZ0001"\n', "mpiexec --oversubscribe -n {ranks}")
        # Its arguments are in the script: qsub has none for it.
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
        self.assert_failed(self.run_program(self.place / "install-environment"), "already exists")
        self.assertTrue((self.root / ".complete").exists())

    def changed(self, name: str, *changes: tuple[str, str]) -> Path:
        """A copy of one of the files, with other words in it."""
        text = (self.place / name).read_text()
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        copy = self.folder / name
        copy.write_text(text)
        copy.chmod(0o755)
        return copy

    def test_an_installation_that_fails_leaves_nothing_and_can_be_repeated(self):
        root = self.folder / "environment"
        elsewhere = (str(self.root), str(root))
        broken = self.changed("install-environment", elsewhere, (self.requirement, "torch==2.4.0+nowhere"))
        self.assert_failed(self.run_program(broken, PIP_INDEX_URL=self.farm.simple_url()), "nowhere")
        self.assertFalse(root.exists())
        self.assert_ran(self.run_program(self.changed("install-environment", elsewhere), PIP_INDEX_URL=self.farm.simple_url()), "is ready")
        self.assertTrue((root / ".complete").exists())

    def test_a_job_without_its_module_starts_no_rank(self):
        job = self.changed("job.sh", (f"module load {MODULE}", f"module load {MODULE}-gone"), ("srun ", "echo a rank started: "))
        done = self.run_program("bash", job)
        self.assertEqual(done.returncode, 69, done.stdout + done.stderr)
        self.assertIn(f"module {MODULE} is not loaded", done.stdout + done.stderr)
        self.assertNotIn("a rank started", done.stdout)


if __name__ == "__main__":
    main()
