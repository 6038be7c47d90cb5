"""What the site's wheels are built from in the box: small projects under the names and addresses of the real ones, which check at every step
that they were given what the facts say: variables, modules, flags, paths, GPUs, addresses of other ranks.
"""

import json
import os
import re
import subprocess
import sysconfig
import tarfile
import zipfile
from pathlib import Path

from support.box.facts import BoxFacts
from support.box.modules import gpu_libraries, write_library
from support.box.root import IDS, SERVER
from support.farm import CLIENTS, ROOT
from support.site import PYTHON_VERSION
from support.wheels import Wheel

# Ranks of one job, whichever launcher started them: a number, a size, and one exchange of values.
RANKS = '''
import json, os, socket, subprocess, time
def first(*names):
    return next((os.environ[name] for name in names if os.environ.get(name)), None)
def rank():
    return int(first("RANK", "OMPI_COMM_WORLD_RANK", "PALS_RANKID", "PMI_RANK", "SLURM_PROCID") or 0)
def size():
    return int(first("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PALS_SIZE", "PMI_SIZE", "SLURM_NTASKS") or 1)
def address():
    if os.environ.get("MASTER_ADDR"):
        return os.environ["MASTER_ADDR"].split()[0], int(os.environ["MASTER_PORT"])
    job = int((first("SLURM_JOB_ID", "PBS_JOBID") or "0").split(".")[0])
    step = int(first("SLURM_STEP_ID") or 0)
    if os.environ.get("SLURM_STEP_NODELIST"):
        names = subprocess.run(["scontrol", "show", "hostnames", os.environ["SLURM_STEP_NODELIST"]], capture_output=True, text=True, check=True)
        return names.stdout.split()[0], 20000 + job % 1000 * 10 + step
    if os.environ.get("PBS_NODEFILE"):
        return open(os.environ["PBS_NODEFILE"]).readline().strip(), 20000 + job % 1000 * 10
    return "127.0.0.1", 20000 + job % 1000 * 10 + step
round = 0
def exchange(value):
    """The values of all ranks, by rank."""
    global round
    place, round, values = address(), round + 1, {rank(): value}
    place = place[0], place[1] + round - 1
    if rank() == 0:
        with socket.create_server(place) as server:
            server.settimeout(60)
            others = []
            while len(others) < size() - 1:
                other = server.accept()[0]
                others.append(other)
                values.update({int(key): one for key, one in json.loads(other.makefile().readline()).items()})
            for other in others:
                other.sendall(json.dumps(values).encode() + b"\\n")
                other.close()
        return values
    deadline = time.monotonic() + 60
    while True:
        try:
            with socket.create_connection(place, 60) as first_rank:
                first_rank.sendall(json.dumps(values).encode() + b"\\n")
                return {int(key): one for key, one in json.loads(first_rank.makefile().readline()).items()}
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
'''
TORCH = '''
import os
from torch import _ranks, distributed, cuda, utils, xpu
from torch._version import __version__
import torch._compiled
class device:
    def __init__(self, type, index=None):
        self.type, self.index = type, index
def _place(where):
    if where is None:
        return device("cpu")
    if isinstance(where, device):
        return where
    if isinstance(where, int):
        where = f"cuda:{where}"
    kind, _, index = where.partition(":")
    count = {"cuda": cuda, "xpu": xpu}[kind].device_count() if kind != "cpu" else 1
    if int(index or 0) >= count:
        raise RuntimeError(f"{kind}: invalid device ordinal: {where} of {count}")
    return device(kind, int(index or 0))
class Tensor:
    def __init__(self, value, where=None):
        self.value, self.place = value, _place(where)
    def item(self): return self.value
    def cpu(self): return Tensor(self.value)
    @property
    def is_cuda(self): return self.place.type == "cuda"
    @property
    def device(self): return self.place
    def to(self, dtype): return self
    dtype = "float"
    def __matmul__(self, other): return Tensor(self.value * other.value, self.place)
    def __mul__(self, other): return Tensor(self.value * getattr(other, "value", other), self.place)
    __rmul__ = __mul__
def rand(*sizes, device=None): return Tensor(0.5, device)
int32 = "int32"
def tensor(value, dtype=None, device=None): return Tensor(value[0], device)
def ones(*sizes, device=None, dtype=None): return Tensor(1.0, device)
def eye(size): return Tensor(1.0)
def full(sizes, value): return Tensor(value)
def allclose(one, other, atol=0): return abs(one.value - other.value) <= atol
class linalg:
    @staticmethod
    def solve(one, other): return Tensor(other.value / one.value)
    @staticmethod
    def eig(one): return Tensor(one.value), Tensor(1.0)
class _Backend:
    def __init__(self, name): self.name = name
    def is_available(self): return self.name in distributed.HAS
class backends:
    mkl, openmp = _Backend("MKL"), _Backend("OpenMP")
class __config__:
    @staticmethod
    def show(): return "stand-in of torch, USE_CUDNN=" + ("ON" if "cuDNN" in distributed.HAS else "OFF")
'''
CUDA = '''
import os
def device_count():
    seen = os.environ.get("CUDA_VISIBLE_DEVICES") or os.environ.get("ROCR_VISIBLE_DEVICES") or ""
    return len([one for one in seen.split(",") if one])
def is_available(): return device_count() > 0
'''
# No variable names a node's XPUs: a job has them all, and the login node has none.
XPU = '''
import os
def device_count(): return @COUNT@ if os.uname().nodename.startswith("node") else 0
def is_available(): return device_count() > 0
'''
DISTRIBUTED = '''
import os
from torch import _ranks
HAS_MPI = @MPI@
HAS = @HAS@
def is_available(): return True
def is_mpi_available(): return HAS_MPI
def is_nccl_available(): return "NCCL" in HAS
def init_process_group(backend):
    if backend == "mpi" and not HAS_MPI:
        raise RuntimeError("Distributed package doesn't have MPI built in")
    if backend != "mpi":
        for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
            if name not in os.environ:
                raise ValueError(f"environment variable {name} expected, but not set")
    for name, value in @NEEDED@.items():
        if os.environ.get(name) != value:
            raise RuntimeError(f"{name} is {os.environ.get(name)!r}; the site's documents say {value!r}")
def get_rank(): return _ranks.rank()
def get_world_size(): return _ranks.size()
def all_reduce(tensor): tensor.value = sum(_ranks.exchange(tensor.value).values())
def destroy_process_group(): pass
'''
MPI4PY = '''
from mpi4py import _ranks
from mpi4py import _compiled
class COMM_WORLD:
    rank, size = _ranks.rank(), _ranks.size()
    @staticmethod
    def sendrecv(value, dest, source):
        return _ranks.exchange([dest, value])[source][1]
    @staticmethod
    def allreduce(value): return sum(_ranks.exchange(value).values())
'''
HOROVOD = '''
import torch
from horovod import _ranks
Sum = "sum"
def init(): pass
def size(): return _ranks.size()
def allreduce(tensor, op):
    tensor.value = sum(_ranks.exchange(tensor.value).values())
    return tensor
'''
# The lines of torch 2.3 to 2.8 to which Derecho's patch applies.
PROCESS_GROUP_MPI = """namespace {

// Checking CUDA-aware MPI support, currently we only support CUDA aware
// MPI ops through Open MPI
bool cudaAwareMpiCheck() {
// Run time check
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  if (MPIX_Query_cuda_support() == 1) {
    return true;
  } else {
    return false;
  }
#else // !defined(MPIX_CUDA_AWARE_SUPPORT)
  return false;
#endif // MPIX_CUDA_AWARE_SUPPORT
}

// Checking the input tensor's validity
"""
# The lines of Horovod 0.28.1 to which the recipe's patch applies, at their place.
HOROVOD_CMAKE = "#\n" * 91 + """set_target_properties(${PYTORCH_TARGET_LIB} PROPERTIES SUFFIX "${Python_SUFFIX}")
set_target_properties(${PYTORCH_TARGET_LIB} PROPERTIES PREFIX "")
set_target_properties(${PYTORCH_TARGET_LIB} PROPERTIES OUTPUT_NAME "mpi_lib_v2")
"""
AUDIO_FUNCTIONAL = """
def rnnt_loss(logits, targets, logit_lengths, target_lengths):
    assert all(one.is_cuda for one in (targets, logit_lengths, target_lengths)) == logits.is_cuda
    return logits
"""
AUDIO_TRANSFORMS = """
class Spectrogram:
    def __init__(self, n_fft): self.rows = n_fft // 2 + 1
    def to(self, device): return self
    def __call__(self, tensor):
        tensor.shape = (1, self.rows, 21)
        return tensor
"""
C_SOURCE = """#define PY_SSIZE_T_CLEAN
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_compiled", 0, -1, 0, 0, 0, 0, 0};
PyMODINIT_FUNC PyInit__compiled(void) { return PyModule_Create(&module); }
"""
# The project's setup.py and back end: what a step of the real one would miss at run time, this one misses at once.
BUILD = r'''
import json, os, re, shlex, subprocess, sys, sysconfig
from pathlib import Path
project = json.loads(Path(__file__).with_name("project.json").read_text())
sys.path.insert(0, project["support"])
from support.wheels import Wheel

def fail(text):
    sys.exit(f"error: {text}")

def check():
    for name, value in project["variables"].items():
        value, keeps_own, _ = value.partition("${" + name + "}")  # what modules put there stays
        value = value.replace("${build}", str(Path(sys.prefix).parent))  # of the script, whose environment is build/venv
        expected = re.sub(r"\$\{(\w+)\}", lambda match: os.environ.get(match[1]) or fail(f"no module sets {match[1]}"), value)
        given = os.environ.get(name) or ""
        if given != expected and not (keeps_own and given.startswith(expected) and len(given) > len(expected)):
            fail(f"{name} is {os.environ.get(name)!r}; the site's documents say {expected!r}")
    loaded = os.environ.get("LOADEDMODULES", "").split(":")
    for name in project["modules"]:
        if not any(one == name or one.startswith(name + "/") for one in loaded):
            fail(f"the module {name} is not loaded: {loaded}")

def found():
    """What CMake would look for, at the places that it was given."""
    given = lambda name: os.environ.get(name, "")
    places = [given(name) for name in ("CUSPARSELT_ROOT", "MAGMA_HOME", "NCCL_ROOT", "INTEL_MKL_DIR", "MKL_ROOT") if given(name)]
    for name in ("CMAKE_PREFIX_PATH", "CMAKE_INCLUDE_PATH", "CMAKE_LIBRARY_PATH"):
        places += [one for one in given(name).split(":") if one]
    wanted = {"lib/libmkl_core.a": given("BLAS") == "MKL", "include/cusparseLt.h": given("USE_CUSPARSELT") == "1", "lib/libnccl.so": given("USE_SYSTEM_NCCL") == "1",
              "include/cudss.h": given("USE_CUDSS") == "1",
              "include/magma.h": "MAGMA" in project["promises"], "cblas.h": given("BLAS") == "FlexiBLAS"}
    for file, is_wanted in wanted.items():
        if is_wanted and not any(Path(place, file).exists() for place in places):
            fail(f"no {file} in {places}")

def configured():
    cache = Path("build/CMakeCache.txt").read_text() if Path("build/CMakeCache.txt").exists() else ""
    for flag in project["flags"]:
        name, _, value = flag.removeprefix("-D").partition(":STRING=")
        if f"{name}:STRING={value}\n" not in cache:
            fail(f"CMake was not given {flag}")

def compiled():
    """The one source, by the compiler that the step was given."""
    words = shlex.split(os.environ.get(project["compiler"]) or os.environ.get("CC") or "cc")
    words += [] if "-shared" in words else ["-shared"]
    include = sysconfig.get_path("include")
    subprocess.run([*words, "-fPIC", "-I", include, str(Path(__file__).with_name("compiled.c")), "-o", "_compiled.so", *gpu_libraries(),
                    *shlex.split(os.environ.get("LDFLAGS", ""))], check=True)
    return Path("_compiled.so").read_bytes()

def gpu_libraries():
    """What GPU code needs: the library of the module that is loaded."""
    given = lambda *names: any(os.environ.get(name, "0") != "0" for name in names)
    kind = "libamdhip64.so.*" if given("PYTORCH_ROCM_ARCH", "USE_ROCM") else "libcudart.so.*"
    if kind.startswith("libcuda") and not given("USE_CUDA", "FORCE_CUDA", "TORCH_CUDA_ARCH_LIST"):
        return []
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        for library in Path(folder or "/nowhere").glob(kind):
            return ["-Wl,--no-as-needed", str(library)]
    fail(f"no module has {kind}")

def build(folder):
    check()
    if project["name"] == "torch":
        found()
    configured()
    if Path("tools/amd_build/build_amd.py").exists() and not Path("hipified").exists():
        fail("tools/amd_build/build_amd.py did not run")
    name = project["name"]
    version = os.environ.get(project["version_variable"]) or project["version"]
    if name == "mpi4py" and os.environ.get("MPI4PY_LOCAL_VERSION"):
        version += "+" + os.environ["MPI4PY_LOCAL_VERSION"]
    members = {member: text.encode() for member, text in project["members"].items()}
    members[f"{name}/_compiled.so"] = compiled()
    if name == "torch":
        members["torch/_version.py"] = f"__version__ = {version!r}\n".encode()
    if name == "horovod":
        members[f"horovod-{version}.dist-info/entry_points.txt"] = b"[console_scripts]\nhorovodrun = horovod.run:main\n"
    tag = "cp%d%d" % sys.version_info[:2]
    return Wheel(name, version, tags=(f"{tag}-{tag}-linux_{os.uname().machine}",), extra_members=members,
                 metadata_lines=tuple(f"Requires-Dist: {one}" for one in project["requires"])).write(Path(folder)).name

def build_wheel(folder, config_settings=None, metadata_directory=None):
    return build(folder)

if __name__ == "__main__":
    if "--cmake-only" in sys.argv:
        check()
        Path("build").mkdir(exist_ok=True)
        subprocess.run(["cmake", "-S", ".", "-B", "build"], check=True)
    elif "bdist_wheel" in sys.argv:
        build(sys.argv[sys.argv.index("--dist-dir") + 1])
    else:
        fail(f"unknown command {sys.argv[1:]}")
'''
CONFIGURE = """#!/bin/bash
for word; do
    case $word in
    --prefix=*) echo "${word#--prefix=}" > prefix ;;
    --with-gdrcopy=*) ;; # of the machine
    --with-*=*) test -d "${word#*=}" || { echo "configure: error: no folder ${word#*=} ($word)" >&2; exit 1; } ;;
    esac
done
"${CC:-cc}" --version > /dev/null || { echo "configure: error: no compiler ${CC:-cc}" >&2; exit 1; }
"""
MAKEFILE = "all src.build:\n\ttrue\ninstall:\n\tmkdir -p $(PREFIX)/lib\n\ttouch $(PREFIX)/lib/@LIBRARY@\n"
PREFIX_OF_CONFIGURE = "PREFIX ?= $(shell cat prefix)\n"
BESIDE = {"nccl": "libnccl.so", "aws-ofi-nccl": "libnccl-net.so", "aws-ofi-rccl": "librccl-net.so"}
REPOSITORIES = {"torch": "pytorch", "torchvision": "vision", "torchaudio": "audio", "torchtext": "text"}
# What a torch has that is built with these variables.
HAS = (("MKL", "BLAS", "MKL"), ("MKL", "USE_MKL", "1"), ("MPI", "USE_MPI", "1"), ("NCCL", "USE_SYSTEM_NCCL", "1"), ("cuDNN", "USE_CUDNN", "1"))
MEMBERS = {
    "torch": {"torch/__init__.py": TORCH, "torch/_ranks.py": RANKS, "torch/cuda.py": CUDA, "torch/xpu.py": XPU, "torch/utils.py": ""},
    "torchvision": {"torchvision/__init__.py": "from torchvision import ops\n", "torchvision/ops.py": "def nms(boxes, scores, bound): return boxes\n"},
    "torchaudio": {"torchaudio/__init__.py": "from torchaudio import functional, transforms\n", "torchaudio/functional.py": AUDIO_FUNCTIONAL,
                   "torchaudio/transforms.py": AUDIO_TRANSFORMS},
    "torchtext": {"torchtext/__init__.py": "import torch\n"},
    "pytorch-triton-rocm": {"triton/__init__.py": ""}, "triton-rocm": {"triton/__init__.py": ""},
    "triton-xpu": {"triton/__init__.py": ""},
    "mpi4py": {"mpi4py/__init__.py": "", "mpi4py/MPI.py": MPI4PY, "mpi4py/_ranks.py": RANKS},
    "horovod": {"horovod/__init__.py": "", "horovod/torch.py": HOROVOD, "horovod/run.py": "def main(): print('Available: [X] PyTorch, [X] MPI, [X] Gloo')\n", "horovod/_ranks.py": RANKS}}
VERSION_VARIABLES = {"torch": "PYTORCH_BUILD_VERSION", "mpi4py": "", "horovod": ""}
# Requires-Dist of the real wheels, without the pin to torch, which the real ones and our scripts add (METADATA of torch 2.2 to 2.4,
# torchvision 0.17, torchtext 0.14 and 0.18, torchmetrics 1.0.3, horovod 0.28.1).
REQUIRES = {"torch": ["filelock", "typing-extensions>=4.8.0", "sympy", "networkx", "jinja2", "fsspec"],
            "torchvision": ["numpy", "pillow!=8.3.*,>=5.3.0"], "torchtext": ["tqdm", "requests", "numpy"], "pytorch-triton-rocm": ["filelock"],
            "torchmetrics": ["numpy>1.20.0", "torch>=1.8.1", "packaging", "lightning-utilities>=0.7.0"],
            "horovod": ["cloudpickle", "psutil", "pyyaml", "packaging"]}
# The public index beside the sources: small wheels with the names and versions of real ones.
PUBLIC = {"numpy": "1.26.4", "cmake": "3.31.6", "ninja": "1.13.0", "filelock": "3.20.0", "fsspec": "2026.1.0", "jinja2": "3.1.6", "networkx": "3.4", "expecttest": "0.3.0",
          "sympy": "1.13.3", "typing-extensions": "4.15.0", "cffi": "2.0.0", "cloudpickle": "3.1.0", "psutil": "7.0.0", "pyyaml": "6.0.2",
          "pillow": "11.0.0", "mkl-include": "2024.2.2", "mkl-static": "2024.2.2", "torchmetrics": "1.0.3",
          "tqdm": "4.67.0", "requests": "2.32.0", "lightning-utilities": "0.15.2"}
PUBLIC |= {name: "1.0" for name in ("iniconfig", "toml", "memory_profiler", "matplotlib", "pyqt5", "graphviz", "nltk", "jupyter", "jupyterlab", "wandb", "gym",
                                   "pyspark", "scikit-learn", "scikit-image", "h5py", "tensorboard-plugin-wit", "tensorboard-pytorch")}
PUBLIC |= {"torch-sparse-rocm": "0.6.18.post7", "torch-spline-conv-rocm": "1.2.2.post7", "torch-scatter-rocm": "2.1.2.post7",
           "torch-cluster-rocm": "1.6.3.post7", "pyg-lib-rocm": "0.8.0.post2"}
PUBLIC |= {"tensorboard": "2.11.2", "tensorboard_plugin_profile": "2.11.2", "build": "1.3.0"}
# `python -m build --wheel --no-isolation --outdir FOLDER .`, of the stand-ins' back end.
FRONT_END = "import sys\nsys.path.insert(0, '.')\nimport back_end\nback_end.build_wheel(sys.argv[sys.argv.index('--outdir') + 1])\n"
# What a wheel puts into an environment's folder, beside modules.
DATA = {"mkl-static": "lib/libmkl_core.a"}
REAL = {"setuptools": "69.5.1", "wheel": "0.45.1", "packaging": "25.0"}  # real code under an older version


class StandIns:
    def __init__(self, facts: BoxFacts):
        self.facts = facts
        self.index, self.upstream = SERVER / "index", SERVER / "upstream"
        self.index.mkdir(parents=True)
        self.upstream.mkdir()
        (SERVER / "repositories").mkdir()

    def script_of(self, package: str, version: str) -> str:
        """The script whose facts a package has; a companion's is that of its torch's variant."""
        site = self.facts.site
        of_torch = [version] if package == "torch" else self.facts.torches(package, version)
        own = "" if package == "torch" else f"-{package}"
        accelerator = next((one.get("accelerator", "") for one in self.facts.facts["want"]
                            if one["package"] == "torch" and one["version"] in of_torch), "")
        _, _, variant = accelerator.partition("-")
        if not variant and of_torch and self.facts.variables(f"{site}-source") and "+" not in version:
            variant = "source"  # the same package comes from an upstream in another version
        return f"{site}-{variant}{own}" if variant else f"{site}{own}"

    @staticmethod
    def requires(package: str, version: str) -> list[str]:
        return ["typing-extensions"] if package == "torch" and version.startswith("1.") else REQUIRES.get(package, [])

    def project(self, package: str, version: str) -> dict[str, str]:
        """The files of a project, as texts."""
        script = self.script_of(package, version)
        variables = {name: value for name, value in self.facts.variables(script).items() if name != "TMPDIR"}
        members = dict(MEMBERS[package])
        if package == "torch":
            has_mpi = variables.get("USE_MPI") == "1"
            needed = {name: value for name, value in self.facts.variables("job-environment").items() if re.match(r"(MPICH|FI|NCCL)_", name)}
            has = {"OpenMP", *(name for name, variable, value in HAS if variables.get(variable) == value)}
            members["torch/xpu.py"] = XPU.replace("@COUNT@", str(self.facts.gpus_with_node if self.facts.is_a("xpu") else 0))
            members["torch/distributed.py"] = DISTRIBUTED.replace("@MPI@", str(has_mpi)).replace("@HAS@", repr(has)).replace("@NEEDED@", repr(needed))
        project = {"name": package, "version": version, "members": members, "variables": variables, "modules": self.facts.load(script),
                   "requires": self.requires(package, version), "compiler": "MPICC" if package == "mpi4py" else "CC",
                   "promises": self.facts.promises if package == "torch" else [],
                   "version_variable": VERSION_VARIABLES.get(package, "BUILD_VERSION"), "support": str(ROOT / "tests/system"),
                   "flags": [word for word in self.facts.words(script) if word.startswith("-D")]}
        more = {}
        if package == "torch" and variables.get("USE_ROCM") == "1":
            more["tools/amd_build/build_amd.py"] = "open('hipified', 'w').close()\n"
        if package == "torch":
            more["torch/csrc/distributed/c10d/ProcessGroupMPI.cpp"] = PROCESS_GROUP_MPI  # a site's patch changes it
        if package == "horovod":
            more["horovod/torch/CMakeLists.txt"] = HOROVOD_CMAKE  # the recipe's patch changes it
        return {**more, "setup.py": BUILD, "back_end.py": BUILD, "project.json": json.dumps(project), "compiled.c": C_SOURCE,
                "CMakeLists.txt": f"cmake_minimum_required(VERSION 3.18)\nproject({package} NONE)\n", "requirements.txt": "numpy\n",
                "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "back_end"\nbackend-path = ["."]\n',
                "PKG-INFO": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"}

    def repository(self, name: str, files: dict[str, str], tag: str) -> None:
        folder = SERVER / "repositories" / name
        for member, text in files.items():
            (folder / member).parent.mkdir(parents=True, exist_ok=True)
            (folder / member).write_text(text)
            (folder / member).chmod(0o755)
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main", "-C", str(folder)]
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", tag], ["tag", tag]):
            subprocess.run(git + arguments, check=True, capture_output=True)

    def sdist(self, package: str, version: str) -> None:
        tree = SERVER / "sdists" / f"{package}-{version}"
        tree.mkdir(parents=True)
        for member, text in self.project(package, version).items():
            (tree / member).parent.mkdir(parents=True, exist_ok=True)
            (tree / member).write_text(text)
        with tarfile.open(self.index / f"{package}-{version}.tar.gz", "w:gz") as archive:
            archive.add(tree, tree.name)

    def wheel(self, package: str, version: str, torch: str, index: Path) -> None:
        """An upstream's wheel, for this torch."""
        project = self.project(package, version)
        members = {name: text.encode() for name, text in json.loads(project["project.json"])["members"].items()}
        compiled = SERVER / "compiled.so"
        (SERVER / "compiled.c").write_text(C_SOURCE)
        include = sysconfig.get_path("include")
        folder = next(iter(members)).partition("/")[0]
        libraries, own = gpu_libraries(self.facts), SERVER / "own" / "libcudart.so.12"
        if not libraries:  # it brings its own
            write_library(own)
            members[f"{folder}/libcudart.so.12"] = own.read_bytes()
            libraries = [own, "-Wl,-rpath,$ORIGIN"]
        subprocess.run(["gcc", "-shared", "-fPIC", "-I", include, SERVER / "compiled.c", "-o", compiled, "-Wl,--no-as-needed", *libraries], check=True)
        members[f"{folder}/_compiled.so"] = compiled.read_bytes()
        if package == "torch":
            members["torch/_version.py"] = f"__version__ = {version!r}\n".encode()
        tag = "cp" + PYTHON_VERSION.replace(".", "")
        requires = self.requires(package, version) + self.facts.requires(package, version.partition("+")[0])
        requires += [f"torch=={torch}"] if package in REPOSITORIES and package != "torch" else []
        Wheel(package, version, extra_members=members, tags=(f"{tag}-{tag}-linux_{os.uname().machine}",),
              metadata_lines=tuple(f"Requires-Dist: {one}" for one in requires)).write(index)

    def make_public(self) -> None:
        for name, version in PUBLIC.items():
            data = {f"{name.replace('-', '_')}-{version}.data/data/{DATA[name]}": b""} if name in DATA else {}
            data |= {"build/__main__.py": FRONT_END.encode(), "build/__init__.py": b""} if name == "build" else {}
            Wheel(name, version, extra_members=data, metadata_lines=tuple(f"Requires-Dist: {one}" for one in REQUIRES.get(name, ()))).write(self.index)
        for name, version in REAL.items():
            [real] = (CLIENTS / "wheels").glob(f"{name}-*.whl")
            with zipfile.ZipFile(real) as archive:
                members = {member: archive.read(member) for member in archive.namelist() if ".dist-info/" not in member}
            requires = ("Requires-Dist: packaging",) if name == "wheel" else ()
            Wheel(name, version, extra_members=members, metadata_lines=requires).write(self.index)

    def make(self, builds: list[tuple[str, str]], upstream: list[tuple[str, str]]) -> None:
        """The sources of `builds` and the wheels of `upstream`: packages with versions."""
        self.make_public()
        for package, version in builds:
            if package in REPOSITORIES:
                self.repository(REPOSITORIES[package], self.project(package, version), f"v{version}")
            elif package in MEMBERS:
                self.sdist(package, version)
        for package, version in upstream:
            self.wheel(package, version, dict(upstream)["torch"].partition("+")[0], self.upstream)
        for one in self.facts.facts.get("beside", []):
            library = BESIDE[one["name"]]
            text = MAKEFILE.replace("@LIBRARY@", library)
            text = text if one["name"] == "nccl" else PREFIX_OF_CONFIGURE + text
            self.repository(one["name"], {"autogen.sh": "#!/bin/bash\n", "configure": CONFIGURE, "Makefile": text}, one["tag"])
        # Git clones only from its own user's folder.
        (SERVER / "repositories").mkdir(exist_ok=True)
        subprocess.run(["chown", "-R", str(IDS["agent"]), str(SERVER / "repositories")], check=True)
        subprocess.run(["chmod", "-R", "a+rX", str(SERVER)], check=True)
