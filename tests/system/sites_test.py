"""The site configurations on real parts: modules by a real Lmod whose tree has each site's names, sources by a real git, jobs by the
agent: ARCHER2's and Frontier's through a real Slurm as their files say, Derecho's through recordings of a real PBS. Compilers and Python's
build commands record what they were given. mpi4py is compiled by a real MPI, and two ranks talk, inside a job: with WHEELYARD_FULL=1 the real
one from its sdist, else a small extension in its place."""

import json
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from support.box.stand_ins import PROCESS_GROUP_MPI
from support.case import main
from support.farm import BIN, CLIENTS, ROOT, COMMAND_TIMEOUT_S, scrubbed_environment
from support.full import full
from support.pbs_replay import PbsReplay
from support.site import PYTHON, PYTHON_VERSION
from support.slurm_cluster import SlurmCluster, missing_programs
from support.wheels import Wheel

LMOD = Path("/usr/share/lmod/lmod/init/bash")
HAS_MPI = shutil.which("mpicc") and shutil.which("mpiexec")
NO_MPI = "no MPI here: apt-get install openmpi-bin libopenmpi-dev"
REAL_BUILD_TIMEOUT_S = 600
TAG = "cp" + PYTHON_VERSION.replace(".", "")

# A Python whose venv, pip and setup.py are these lines; what a build gets is in RECORD afterwards.
RECORDING_PYTHON = """#!/bin/bash
set -eu
record=@RECORD@
case " $* " in
*" -m venv "*)
    folder=${!#}
    mkdir -p "$folder/bin"
    cp "$0" "$folder/bin/python"
    ;;
*" -m pip install "*) echo "install ${*:4}" >> "$record/commands" ;;
*" -m pip download "*|*" setup.py bdist_wheel "*|*" -m build "*|*" -m pip wheel "*)
    echo "$*" >> "$record/commands"
    env > "$record/environment"
    while test "$1" != --dest && test "$1" != --dist-dir && test "$1" != --outdir && test "$1" != --wheel-dir; do shift; done
    mkdir -p "$2"
    cp "$record"/prebuilt/*.whl "$2"
    ;;
*" setup.py "*|*" tools/amd_build/"*)
    echo "python $*" >> "$record/commands"
    mkdir -p build
    ${CC:-cc} --version-of-cc
    ${CXX:-c++} --version-of-cxx
    ;;
*" - "*) cat > /dev/null ;;
*" -I -c "*) exec @PYTHON@ "$@" ;; # the agent's own questions
*" -c import "*|*" -c "*"import torch"*) ;;
*) exec @PYTHON@ "$@" ;;
esac
"""
RECORDING_PROGRAM = '#!/bin/bash\necho "${0##*/} $*" >> @RECORD@/commands\n'
CONDA_SH = """conda() {
    test "$1" = activate || return 1
    echo "$undefined_in_conda_activate" > /dev/null
    false # as scripts in activate.d may end
    export CONDA_PREFIX=$2 PATH=$2/bin:$PATH
}
"""


def modules_of(text: str) -> list[str]:
    """Every module that a site file names."""
    names = []
    for line in re.findall(r"^(?:load|modules) = \[(.*)\]$", text, re.MULTILINE):
        names += re.findall(r'"([^"]+)"', line)
    return names


@unittest.skipUnless(LMOD.exists(), "no Lmod here: apt-get install lmod")
class SitesTest(unittest.TestCase):
    batch: SlurmCluster | PbsReplay | None = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-sites-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.record = self.folder / "record"
        (self.record / "prebuilt").mkdir(parents=True)
        self.environment = scrubbed_environment(self.folder) | {
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"}

    def program(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("@RECORD@", str(self.record)).replace("@PYTHON@", PYTHON))
        path.chmod(0o755)

    def make_modules(self, names: list[str]) -> Path:
        """A tree of modulefiles, Lua and Tcl by turns, whose programs record themselves."""
        tree = self.folder / "modules"
        for number, name in enumerate(names):
            project, _, version = name.partition("/")
            version = version or "1.0"
            variable = re.sub(r"[^A-Z0-9]", "_", project.upper())
            home = self.folder / "opt" / project / version
            home.mkdir(parents=True, exist_ok=True)
            (tree / project).mkdir(parents=True, exist_ok=True)
            if number % 2:
                (tree / project / version).write_text(
                    f"#%Module1.0\nsetenv {variable}_ROOT {home}\nprepend-path PATH {home}/bin\n")
            else:
                (tree / project / f"{version}.lua").write_text(
                    f'setenv("{variable}_ROOT", "{home}")\nprepend_path("PATH", "{home}/bin")\n')
            for program in ("cc", "c++", "CC", "ftn", "cmake", "mpicc", "mpicxx", "gcc", "g++", "make"):
                self.program(home / "bin" / program, RECORDING_PROGRAM)
            self.program(home / "bin" / f"python{PYTHON_VERSION}", RECORDING_PYTHON)
        # What the sites' own modules export and recipes read.
        first = sorted(tree.glob("*/*.lua"))[0]
        exports = ["MKLROOT", "NCAR_ROOT_CUDNN", "EBROOTPROTOBUF", "EBROOTABSEIL", "EBROOTCUSPARSELT", "EBROOTCUDNN", "EBROOTFLEXIBLAS", "EBROOTCUDACORE", "EBROOTMAGMA",
                   "EBROOTNCCL", "CMAKE_PREFIX_PATH", "CUDA_HOME", "MPICH_DIR"]
        first.write_text(first.read_text() + "".join(f'setenv("{name}", "/opt/{name}")\n' for name in exports))
        return tree

    def make_repository(self, name: str, members: dict[str, str]) -> str:
        folder = self.folder / "repositories" / name
        folder.mkdir(parents=True)
        for member, text in members.items():
            (folder / member).parent.mkdir(parents=True, exist_ok=True)
            (folder / member).write_text(text)
            (folder / member).chmod(0o755)
        return folder.as_uri()

    def commit(self, name: str, tag: str) -> None:
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", "-C",
               str(self.folder / "repositories" / name)]
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"], ["tag", tag]):
            subprocess.run(git + arguments, check=True, env=self.environment)

    def start_slurm(self, *partitions: str) -> SlurmCluster:
        """A cluster whose nodes are as large as the sites'; the site's [scheduler] stays as it is."""
        if missing_programs():
            self.skipTest(f"no Slurm here: {' '.join(missing_programs())} missing")
        cluster = SlurmCluster(self.folder / "slurm", cpus=128, memory_mib=520_000, partitions=partitions)
        self.addCleanup(cluster.__exit__)
        cluster.__enter__()
        self.environment |= cluster.environment
        self.batch = cluster
        return cluster

    def start_pbs(self) -> None:
        self.batch = self.enterContext(PbsReplay(self.folder / "pbs"))
        self.environment["PATH"] = f"{self.batch.programs}:{self.environment['PATH']}"

    def make_site(self, name: str, version: str, want: str) -> Path:
        """The site's own files with this machine's paths: modules, Conda, repositories, and the local scheduler unless a batch system was
        started."""
        shutil.copytree(ROOT / "site-configs", self.folder / "site-configs")
        site = self.folder / "site-configs" / name / "site.toml"
        text = site.read_text()
        tree = self.make_modules(modules_of(text))
        conda = self.folder / "conda"
        (conda / "etc" / "profile.d").mkdir(parents=True)
        (conda / "etc" / "profile.d" / "conda.sh").write_text(CONDA_SH)
        self.program(conda / "bin" / f"python{PYTHON_VERSION}", RECORDING_PYTHON)
        shim = self.folder / "site-configs"
        for recipe in shim.rglob("*.toml"):
            body = recipe.read_text()
            for url in re.findall(r'url = "(https://github.com/[^"]+)"', body):
                body = body.replace(url, (self.folder / "repositories" / url.rsplit("/", 1)[1]).as_uri())
            recipe.write_text(body)
        text = text[: text.index("[[want]]")] + want
        # Without a registry there is nothing to test on hardware.
        text = re.sub(r"\[(registry|hardware_tests\.\w+)\]\n.*?\n(?=\[)", "", text, flags=re.DOTALL)
        pairs = self.folder / "site-configs" / "common" / "versions.toml"
        pairs.write_text(re.sub(r'(with = "python", allowed = )"[^"]*"', r'\1">=3"', pairs.read_text()))  # this machine's Python
        scheduler = r"\g<0>" if self.batch else '[scheduler]\nkind = "local"\n\n'
        text = re.sub(r"\[scheduler\].*?\n\n", scheduler + "[governor]\nuse = false\n\n", text, flags=re.DOTALL)
        text = re.sub(r"(\[state\]\ndirectory = ).*", rf'\1"{self.folder}/state"', text)
        text = re.sub(r"(\[work\]\ndirectory = ).*", rf'\1"{self.folder}/work"', text)
        text = re.sub(r'init = ".*"', f'init = "{LMOD}"\nuse = ["{tree}"]', text)
        text = re.sub(r'conda = ".*"', f'conda = "{conda}"', text)
        text = re.sub(r'conda_environment = ".*"', "", text)
        text = re.sub(r'\[\[python\]\]\nversion = ".*"', f'[[python]]\nversion = "{PYTHON_VERSION}"', text)
        text = text.replace('temporary = "${SLURM_TMPDIR}"\n', "")
        text = re.sub(r'OFI_(RCCL_)?PREFIX = ".*"', lambda m: f'OFI_{m[1] or ""}PREFIX = "{self.folder}/ofi"', text)
        site.write_text(text)
        return site

    def builder(self, command: str, site: Path, *arguments: str, timeout: float = COMMAND_TIMEOUT_S) -> subprocess.CompletedProcess:
        return subprocess.run([BIN / "wheelyard-builder", *command.split(), "--site", site, *arguments],
                              env=self.environment, capture_output=True, text=True, timeout=timeout)

    def build(self, name: str, version: str, label: str) -> str:
        """Lets the agent build the site's torch; returns the job's log."""
        module = {"setup.py": "", "requirements.txt": "numpy\n", "tools/amd_build/build_amd.py": "",
                  "torch/csrc/distributed/c10d/ProcessGroupMPI.cpp": PROCESS_GROUP_MPI}
        self.make_repository("pytorch", module)
        self.commit("pytorch", "v" + version)
        for beside, tag in (("nccl", "v2.21.5-1"), ("aws-ofi-nccl", "v1.6.0"), ("aws-ofi-rccl", "cxi")):
            self.make_repository(beside, {"autogen.sh": "#!/bin/bash\n", "configure": RECORDING_PROGRAM.replace(
                "@RECORD@", str(self.record)), "Makefile": "all src.build install:\n\ttrue\n"})
            self.commit(beside, tag)
        # The site's first accelerator: Derecho's other one is for older versions.
        accelerator = re.search(r'\[\[accelerator\]\]\nname = "(\S+)"', (ROOT / "site-configs" / name / "site.toml").read_text())[1]
        site = self.make_site(name, version, f'[[want]]\npackage = "torch"\nversions = ["{version}"]\naccelerators = ["{accelerator}"]\n')
        Wheel("torch", version + label, tags=(f"{TAG}-{TAG}-linux_x86_64",)).write(self.record / "prebuilt")
        done = self.builder("run", site)
        [attempt] = (self.folder / "work" / "attempts").iterdir()
        log = (attempt / "log").read_text() if (attempt / "log").exists() else ""
        self.assertIn("@@wheelyard exit=0 phase=done", log, done.stdout + done.stderr + log)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        if self.batch:
            self.assertEqual(self.batch.jobs(), [attempt.name])  # by the batch system's own records
        self.commands = (self.record / "commands").read_text().splitlines()
        self.given = dict(line.split("=", 1) for line in (self.record / "environment").read_text().splitlines() if "=" in line)
        return log

    def assert_phases(self, log: str, phases: str):
        self.assertEqual(" ".join(re.findall(r"@@wheelyard phase=(\w+)", log)), phases)

    def test_bede_configures_in_two_steps_with_its_modules_and_conda(self):
        log = self.build("bede-gh200", "2.4.0", "+cu123.gh200")
        self.assert_phases(log, "modules conda venv requirements configure build metadata smoke own_tests done")
        loaded = self.given["LOADEDMODULES"].split(":")
        for module in ("gcc/12.2", "openmpi/4.1.6", "cuda/12.3.2", "nsight-systems/2023.4.1", "openblas/0.3.26"):
            self.assertIn(module, loaded)
        self.assertEqual(self.given["CMAKE_PREFIX_PATH"], str(self.folder / "conda"))
        self.assertEqual(self.given["USE_PRIORITIZED_TEXT_FOR_LD"], "1")
        self.assertEqual(self.given["TORCH_CUDA_ARCH_LIST"], "9.0")
        self.assertEqual(self.given["PYTORCH_BUILD_VERSION"], "2.4.0+cu123.gh200")
        order = [self.commands.index("python setup.py build --cmake-only"),
                 self.commands.index("cmake -DCMAKE_CXX_FLAGS:STRING=-ffunction-sections -fdata-sections "
                                     "-flax-vector-conversions -Wno-nonnull build")]
        order.append(next(i for i, line in enumerate(self.commands) if "bdist_wheel" in line))
        self.assertEqual(order, sorted(order))

    def test_archer2_compiles_with_the_cray_wrappers_and_pip_is_offline(self):
        self.start_slurm("standard")
        log = self.build("archer2", "1.13.1", "+archer2")
        self.assert_phases(log, "modules conda venv requirements before build metadata smoke own_tests done")
        self.assertEqual([self.given[name] for name in ("CC", "CXX", "FC")], ["cc", "CC", "ftn"])
        self.assertEqual(self.given["INTEL_MKL_DIR"], "/opt/MKLROOT")
        self.assertEqual([self.given[name] for name in ("USE_CUDA", "USE_ROCM", "USE_DISTRIBUTED", "MKL_THREADING")],
                         ["0", "0", "1", "SEQ"])
        self.assertTrue(any("--no-index --find-links" in line and "wheelhouse" in line for line in self.commands), self.commands)

    def test_derecho_patches_for_cray_mpich_and_builds_its_own_nccl_first(self):
        self.start_pbs()
        log = self.build("derecho", "2.4.0", "+cu122.a100")
        self.assert_phases(log, "modules conda venv requirements patch before build metadata smoke own_tests done")
        self.assertIn("applying 0001-01-cuda-aware-mpi.patch", log)
        made = [line for line in self.commands if line.startswith(("make ", "configure "))]
        self.assertIn("src.build", made[0])  # NCCL before its plugin
        self.assertIn("install", made[1])
        self.assertRegex(made[2], "^configure --prefix=.* --with-libfabric=")
        self.assertIn("patching file torch/csrc/distributed/c10d/ProcessGroupMPI.cpp", log)
        self.assertNotIn("FAILED", log)
        self.assertEqual([self.given[name] for name in ("CC", "CXX")], ["mpicc", "mpicxx"])

    def test_alliance_takes_its_python_from_a_module(self):
        log = self.build("alliance", "2.4.0", "+computecanada")
        self.assert_phases(log, "modules venv requirements build metadata smoke own_tests done")
        self.assertIn("python/3.11", self.given["LOADEDMODULES"].split(":"))
        self.assertEqual(self.given["TORCH_CUDA_ARCH_LIST"], "7.0;8.0;9.0")

    def test_frontier_makes_hip_of_cuda_before_it_configures(self):
        self.start_slurm("batch")
        log = self.build("frontier", "2.0.1", "+rocm57.gfx90a")
        self.assert_phases(log, "modules conda venv requirements before build metadata smoke own_tests done")
        self.assertEqual(self.given["PYTORCH_ROCM_ARCH"], "gfx90a")
        self.assertIn("python tools/amd_build/build_amd.py", self.commands)
        self.assertEqual(self.given["https_proxy"], "http://proxy.ccs.ornl.gov:3128/")

    def test_a_module_that_is_missing_ends_the_build_and_site_check_names_it(self):
        site = self.make_site("bede-gh200", "2.4.0", '[[want]]\npackage = "torch"\nversions = ["2.4.0"]\n')
        self.make_repository("pytorch", {"setup.py": "", "requirements.txt": ""})
        self.commit("pytorch", "v2.4.0")
        checked = self.builder("site check", site, "--json")
        lines = {line["what"]: line for line in json.loads(checked.stdout)["lines"]}
        self.assertTrue(lines["module cuda/12.3.2"]["good"], checked.stdout)
        for module in (self.folder / "modules" / "cuda").iterdir():
            module.unlink()
        checked = self.builder("site check", site, "--json")
        self.assertEqual(checked.returncode, 1)
        line = {line["what"]: line for line in json.loads(checked.stdout)["lines"]}["module cuda/12.3.2"]
        self.assertFalse(line["good"])
        self.assertIn("module spider cuda", line["advice"])
        report = self.builder("site check", site)
        self.assertIn("FAIL  module cuda/12.3.2", report.stdout)
        self.assertIn("do: ", report.stdout)
        self.builder("run", site)  # submits nothing while `site check` fails, unless told
        self.assertEqual(list((self.folder / "work" / "attempts").glob("*/log")), [])
        self.builder("run", site, "--unchecked")
        log = next((self.folder / "work" / "attempts").glob("*/log")).read_text()
        self.assertRegex(log, "unknown:\\n\"cuda/12.3.2\"")  # Lmod's own word: of one command's modules it loads all or none
        self.assertRegex(log, "error: module .* is not loaded")
        self.assertIn("exit=69 phase=modules", log)

    def build_mpi4py(self, sources: Path, c_flags: str = "-O2") -> Path:
        """mpi4py by its recipe, from the sdist in `sources`, as a job of a real Slurm; its wheel."""
        self.start_slurm("standard")
        (self.folder / "recipes").mkdir()
        recipe = (ROOT / "site-configs" / "common" / "recipes" / "mpi4py.toml").read_text()
        (self.folder / "recipes" / "mpi4py.toml").write_text(recipe)
        site = self.folder / "site.toml"
        site.write_text(f'''config_version = 1
name = "here"
label = "openmpi"
recipes = ["recipes"]
[state]
directory = "state"
[work]
directory = "work"
[scheduler]
kind = "slurm"
partition = "standard"
account = "z19"
minutes = 30
[governor]
use = false
[compilers]
mpi_c = "mpicc"
[environment]
CFLAGS = "{c_flags}"
OMPI_ALLOW_RUN_AS_ROOT = "1"
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = "1"
[mpi]
launcher = "mpiexec --oversubscribe -n {{ranks}}"
[[python]]
version = "{PYTHON_VERSION}"
executable = "{PYTHON}"
[[want]]
package = "mpi4py"
versions = ["4.0.1"]
''')
        del self.environment["PIP_CONFIG_FILE"]
        self.environment |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": f"{sources} {(CLIENTS / 'wheels').as_uri()}"}
        done = self.builder("run", site, timeout=REAL_BUILD_TIMEOUT_S)
        logs = "".join(path.read_text() for path in (self.folder / "work" / "attempts").glob("*/log"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + logs)
        [attempt] = (self.folder / "work" / "attempts").iterdir()
        self.assertEqual(self.batch.jobs(), [attempt.name])
        log = (attempt / "log").read_text()
        self.assertIn("rank 0 of 2 got a message from rank 1", log)
        self.assertIn("rank 1 of 2 got a message from rank 0", log)
        [wheel] = (self.folder / "work" / "wheels").rglob("*.whl")
        self.assertTrue(wheel.name.startswith("mpi4py-4.0.1+openmpi-"), wheel.name)
        return wheel

    @unittest.skipUnless(HAS_MPI, NO_MPI)
    def test_a_package_compiled_by_mpicc_passes_a_message_between_two_ranks_inside_a_slurm_job(self):
        sources = self.folder / "sources"
        sources.mkdir()
        write_mpi_sdist(sources)
        self.build_mpi4py(sources)

    @full
    @unittest.skipUnless(HAS_MPI, NO_MPI)
    def test_mpi4pys_own_sdist_is_compiled_by_mpicc_and_two_ranks_talk_inside_a_slurm_job(self):
        # Optimising its one source of a quarter of a million lines takes minutes and gigabytes, and proves no more.
        wheel = self.build_mpi4py(CLIENTS / "mpi4py", c_flags="-O0 -g0")
        report = subprocess.run([BIN / "wheelyard-registry", "check", "--json", "--facts", wheel], env=self.environment, capture_output=True,
                              text=True, timeout=COMMAND_TIMEOUT_S)
        self.assertIn("libmpi.so.40", report.stdout + report.stderr)  # Open MPI 4's own: no other MPI's extension needs it


MPI_SETUP = """
import os
from setuptools import Extension, setup
os.environ["CC"] = os.environ["LDSHARED_CC"] = os.environ["MPICC"]
os.environ["LDSHARED"] = os.environ["MPICC"] + " -shared"
setup(name="mpi4py", version="4.0.1", packages=["mpi4py"], ext_modules=[Extension("mpi4py._wire", ["wire.c"])])
"""
MPI_WIRE = """
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <mpi.h>
static PyObject* rank(PyObject* self, PyObject* none) { int r, n; MPI_Comm_rank(MPI_COMM_WORLD, &r);
  MPI_Comm_size(MPI_COMM_WORLD, &n); return Py_BuildValue("ii", r, n); }
static PyObject* exchange(PyObject* self, PyObject* args) {
  const char* out; Py_ssize_t length; int other; char in[256] = {0}; MPI_Status status; int got;
  if (!PyArg_ParseTuple(args, "s#i", &out, &length, &other)) return 0;
  MPI_Sendrecv(out, (int)length, MPI_CHAR, other, 0, in, sizeof in, MPI_CHAR, other, 0, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_CHAR, &got);
  return PyUnicode_FromStringAndSize(in, got); }
static void finish(void) { MPI_Finalize(); }
static PyMethodDef methods[] = {{"rank", rank, METH_NOARGS, 0}, {"exchange", exchange, METH_VARARGS, 0}, {0, 0, 0, 0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_wire", 0, -1, methods, 0, 0, 0, 0};
PyMODINIT_FUNC PyInit__wire(void) { MPI_Init(0, 0); Py_AtExit(finish); return PyModule_Create(&module); }
"""
MPI_MODULE = """
import json
from mpi4py import _wire
class COMM_WORLD:
    rank, size = _wire.rank()
    @staticmethod
    def sendrecv(value, dest, source):
        return json.loads(_wire.exchange(json.dumps(value), dest))
"""


def write_mpi_sdist(folder: Path) -> None:
    tree = folder / "mpi4py-4.0.1"
    members = {"setup.py": MPI_SETUP, "wire.c": MPI_WIRE, "mpi4py/__init__.py": "", "mpi4py/MPI.py": MPI_MODULE,
               "pyproject.toml": '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n',
               "PKG-INFO": "Metadata-Version: 2.1\nName: mpi4py\nVersion: 4.0.1\n"}
    for member, text in members.items():
        (tree / member).parent.mkdir(parents=True, exist_ok=True)
        (tree / member).write_text(text)
    with tarfile.open(folder / "mpi4py-4.0.1.tar.gz", "w:gz") as archive:
        archive.add(tree, "mpi4py-4.0.1")
    shutil.rmtree(tree)


if __name__ == "__main__":
    main()
