"""The files of a site's users with a real torch: the Python Package Index's own wheel for aarch64 (without CUDA: its last such version is 2.6),
imported into an index like Bede's, installed by pip into an aarch64 Python, computing under an emulator (label `full`: minutes).

    scripts/install-deps --full; scripts/other-nodes; WHEELYARD_FULL=1 scripts/prepare-clients      # once
    WHEELYARD_BIN=build/release/bin python3 tests/system/real_torch_test.py

What it takes that each file of its kind really leads to a torch that computes; how the files behave otherwise: user_files_test.py.
"""

import json
import shutil
import unittest
from pathlib import Path

from support import emulated, pbs_replay
from support.case import main
from support.farm import CLIENTS
from support.package_index import PackageIndex
from support.skips import not_here
from support.slurm_cluster import SlurmCluster, missing_programs
from support.user_files import LMOD, UserFilesCase
from support.wheels import sha256_of

WHEELS = CLIENTS / "torch-aarch64"
VERSION = "2.4.0"
SUM = "print(torch.__version__, platform.machine(), torch.matmul(torch.ones(64, 64), torch.ones(64, 64)).sum().item())"
COMPUTE = f"python -c 'import platform, torch; {SUM}'"
COMPUTED = f"{VERSION} aarch64 262144.0"
PROGRAM = "import runpy, sys, torch\nrunpy.run_path(sys.argv[1])\nprint('imported from', torch.__file__)\n"
ALL_REDUCED = f"2 ranks, torch {VERSION}, gloo, cpu"


@unittest.skipUnless(LMOD.exists(), "no Lmod here: apt-get install lmod")
class RealTorchTest(UserFilesCase):
    index = "bede-gh200"
    indexes = (index,)
    index_settings = '[index.policy]\npreset = "mirror"'
    python_version = emulated.PYTHON_VERSION
    requirement = f"torch=={VERSION}"
    # Ranks meet on this machine, which no name service knows by its node's name.
    variables = 'NCCL_SOCKET_IFNAME = "lo", GLOO_SOCKET_IFNAME = "lo", MASTER_ADDR = "127.0.0.1"'
    timeout_s = 1800  # everything here is emulated

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.python = emulated.make_python(cls.farm.folder / "python")
        [cls.wheel] = WHEELS.glob(f"torch-{VERSION}-*.whl")
        upstream = cls.serve("upstream", [cls.wheel])
        done = cls.farm.run("wheelyard-registry", "import", "-c", cls.farm.config, cls.index, cls.wheel.name, "--from", upstream.url, "--json")
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        [cls.imported] = json.loads(done.stdout)["wheels"]
        others = cls.serve("others", [path for path in WHEELS.glob("*.whl") if path != cls.wheel])
        cls.place = cls.make_files("files", users='options = ["--mem=3000"]\n')
        done = cls.run_program(cls.place / "install-environment", PIP_INDEX_URL=others.url, PIP_NO_COMPILE="1")
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)

    @classmethod
    def serve(cls, name: str, wheels: list[Path]) -> PackageIndex:
        folder = cls.farm.folder / name
        folder.mkdir()
        for wheel in wheels:
            (folder / wheel.name).symlink_to(wheel)
        return cls.enterClassContext(PackageIndex(folder))

    def test_its_facts_are_those_of_a_torch_for_aarch64_without_cuda(self):
        self.assertEqual((self.imported["sha256"], self.imported["state"]), (sha256_of(self.wheel), "active"))
        facts = self.imported["facts"]
        self.assertEqual((facts["machines"], facts["cuda_sm"], facts["cuda_ptx"], facts["hip_gfx"]), (["aarch64"], [], [], []))
        self.assertEqual(list(self.farm.files("torch", self.index)), [self.wheel.name])

    def test_the_module_brings_a_torch_that_computes(self):
        lines = self.bash(f"module use {self.place / 'modulefiles'}\nmodule load pytorch\n{COMPUTE}")
        self.assertEqual(lines, [COMPUTED])

    def test_a_users_own_venv_computes_after_extend_venv_activate(self):
        venv = self.folder / "venv"
        self.assert_ran(self.run_program(self.python, "-m", "venv", venv))
        self.assert_ran(self.run_program(self.place / "extend-venv-activate", venv), "uses pytorch/2.4.0")
        self.assertEqual(self.bash(f". {venv}/bin/activate\n{COMPUTE}"), [COMPUTED])

    def test_condas_hook_leaves_a_torch_that_computes(self):
        lines = self.bash(f"set -eu\n. {self.place}/conda/activate.d/pytorch.sh\nPATH={self.root}/bin:$PATH\n{COMPUTE}")
        self.assertEqual(lines, [COMPUTED])

    @unittest.skipIf(missing_programs(), "no Slurm here")
    def test_slurms_job_sums_over_its_ranks_from_the_nodes_own_disk(self):
        self.assert_ran(self.run_program(self.place / "pack-environment"), "environment.tar")
        (self.folder / "program.py").write_text(PROGRAM)
        with SlurmCluster(self.folder / "slurm", partitions=("standard",)) as cluster:
            done = self.run_program("sbatch", "--wait", "--parsable", f"--output={self.folder / 'out'}", f"--chdir={self.folder}",
                                    self.place / "job.sh", self.folder / "program.py", self.place / "all_reduce.py", **cluster.environment)
        log = (self.folder / "out").read_text() if (self.folder / "out").exists() else ""
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + log)
        self.assertIn(ALL_REDUCED, log)
        self.assertIn(f"imported from {self.farm.folder}/pytorch-2.4.0-{done.stdout.strip()}/lib/", log)

    @unittest.skipUnless(shutil.which("mpiexec"), "no MPI here")
    def test_pbss_job_sums_over_its_ranks(self):
        place = self.make_files("pbs", 'kind = "pbs"\naccount = "UXYZ0001"\n', "mpiexec --oversubscribe -n {ranks}")
        job = place / "job.sh"
        job.write_text(job.read_text().replace("\n. ", "\nexport OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1\n. "))
        batch = pbs_replay.PbsReplay(self.folder / "batch")
        self.addCleanup(batch.__exit__)
        done = self.run_program("qsub", job, PATH=f"{batch.programs}:{self.farm.environment['PATH']}")
        self.assert_ran(done)
        number = done.stdout.split(".")[0]
        pbs_replay.wait(lambda: batch.server.find(done.stdout.strip())["state"] == "F", self.timeout_s)
        log = (batch.server.folder / f"{number}.OU").read_text()
        self.assertEqual(batch.server.find(done.stdout.strip()).get("exit_status"), 0, log)
        self.assertIn(ALL_REDUCED, log)

    def test_the_libtorch_example_is_compiled_against_the_installed_wheel_and_computes(self):
        compiler = emulated.make_compiler(self.folder, "example")
        done = self.run_program(self.place / "libtorch" / "build", self.folder / "build", CXX=str(compiler))
        self.assert_ran(done, "sum 262144")
        self.assertEqual((self.folder / "build" / "example.aarch64").read_bytes()[18:20], b"\xb7\0")  # e_machine: EM_AARCH64


if __name__ == "__main__":
    missing = [str(path) for path in (emulated.NODE, WHEELS) if not path.exists()]
    if missing:
        not_here(f"{', '.join(missing)}: missing; scripts/install-deps --full, scripts/other-nodes, WHEELYARD_FULL=1 scripts/prepare-clients")
    main()
