"""Extension wheels with device code through the whole loop: built by the agent, checked, published to the index of a machine with such GPUs;
avail_wheels shows each where it runs, and says why not elsewhere. The one for Bede is cross-built: its machine is aarch64.

The kernels are compiled in the build, for exactly one GPU each: HIP's by clang for gfx90a, CUDA's by nvcc for sm_90 (with WHEELYARD_FULL=1,
which has scripts/prepare-clients fetch it). Without nvcc an extension carries the code of a library that it made before
(tests/support/gpu_objects). Of the GPU's run-time library only the names are there: no kernel is started.
"""

import io
import json
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from support import cross_build
from support.case import main
from support.clients import pip_install
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, ROOT, Farm
from support.package_index import FAST_C, PackageIndex
from support.site import PYTHON, PYTHON_VERSION, VENV_PYTHON

GPU_OBJECTS = ROOT / "tests" / "support" / "gpu_objects"
# What cuobjdump lists of cuda-speed.so, in the words of NVIDIA's provider.
CUDA_SPEED = ["100f_real", "100f_virtual", "80_real", "80_virtual", "90a_real"]
TAG = "cp" + PYTHON_VERSION.replace(".", "")
NVCC = CLIENTS / "nvcc/nvidia/cu13/bin/nvcc"
CROSS_CXX = "aarch64-linux-gnu-g++"  # nvcc's own code is C++
DEVICE_CODE = '__asm__(".section %s,\\"a\\"\\n.p2align 12\\n.incbin \\"kernels.bin\\"\\n.previous\\n");\n'
# A cross-built Python has its own machine's suffix; here a variable sets it.
SETUP = """
import os, sysconfig
from setuptools import Extension, setup
if "YARD_SUFFIX" in os.environ:
    sysconfig.get_config_vars()["EXT_SUFFIX"] = os.environ["YARD_SUFFIX"]
setup(name="{name}", version="1.0", packages=["{module}"], ext_modules=[Extension("{module}._kernels", ["fast.c"])])
"""
# The same of a package with a kernel, which a compiler of GPU code turns into an object before.
KERNEL_SETUP = """
import subprocess
subprocess.run({compile!r}, check=True)
""" + SETUP.replace('["fast.c"]', '["fast.c"], extra_objects=["kernel.o"], libraries=["stdc++"]')
KERNEL = 'extern "C" __attribute__((global)) void scale(float* x) {{ x[0] *= {factor}f; }}\n'
HIP_KERNEL = """struct dim3 {{ unsigned x, y, z; }};
extern "C" int hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, void*);
""" + KERNEL
# What the object asks of the run-time libraries, as far as an import needs it.
HIP_RUNTIME = "".join(f"void* {name}(void) {{ return 0; }}\n" for name in (
    "hipLaunchKernel", "__hipPopCallConfiguration", "__hipRegisterFatBinary", "__hipRegisterFunction", "__hipUnregisterFatBinary"))
CUDA_RUNTIME = "".join(f"void* {name}(void) {{ return 0; }}\n" for name in (
    "__cudaGetKernel", "__cudaLaunchKernel", "__cudaPopCallConfiguration", "__cudaRegisterFatBinary", "__cudaRegisterFatBinaryEnd",
    "__cudaRegisterFunction", "__cudaUnregisterFatBinary"))
COMPILE_HIP = ["clang-14", "--target=x86_64-linux-gnu", "-x", "hip", "-nogpulib", "-nogpuinc", "-O2", "-fPIC", "--offload-arch=gfx90a", "-c",
               "kernel.src", "-o", "kernel.o"]
COMPILE_CUDA = [str(NVCC), "-ccbin", CROSS_CXX, "-cudart", "none", "-Xcompiler", "-fPIC", "-gencode", "arch=compute_90,code=sm_90", "-x", "cu",
                "-c", "kernel.src", "-o", "kernel.o"]
# A Python that builds for aarch64, as a cross-compiling site has one: asked about its machine, it names that one.
CROSS_PYTHON = f"""#!/bin/bash
case "$*" in
*platform.machine*) {PYTHON} "$@" | sed 's/"machine": "x86_64"/"machine": "aarch64"/' ;;
*) exec {VENV_PYTHON} "$@" ;;
esac
"""
NODES = """config_version = 1
[node.gh200]
glibc = "2.36"
machine = "aarch64"
gpus = ["sm_90"]
driver = "580.65.06"
pythons = ["{python}"]
[node.b200]
glibc = "2.36"
machine = "aarch64"
gpus = ["sm_100"]
driver = "580.65.06"
pythons = ["{python}"]
[node.orin]
glibc = "2.36"
machine = "aarch64"
gpus = ["sm_87"]
driver = "580.65.06"
pythons = ["{python}"]
[node.login]
glibc = "2.36"
machine = "x86_64"
gpus = []
pythons = ["{python}"]
[node.mi250x]
glibc = "2.36"
machine = "x86_64"
gpus = ["gfx90a"]
pythons = ["{python}"]
[node.mi100]
glibc = "2.36"
machine = "x86_64"
gpus = ["gfx908"]
pythons = ["{python}"]
"""


EXTENSION = FAST_C.replace("PyInit__fast", "PyInit__kernels")


def write_gpu_sdist(folder: Path, name: str, library: str, section: str) -> None:
    """NAME-1.0.tar.gz: a C extension that carries the device code of a library in a section of its own."""
    module = name.replace("-", "_")
    kernels = folder / f"{name}.bin"
    subprocess.run(["objcopy", "-O", "binary", f"--only-section={section}", "--set-section-flags", f"{section}=alloc",
                    GPU_OBJECTS / library, kernels], check=True)
    write_sdist(folder, name, {"setup.py": SETUP.format(name=name, module=module).encode(), "kernels.bin": kernels.read_bytes(),
                               "fast.c": (EXTENSION + DEVICE_CODE % section).encode()})
    kernels.unlink()


def write_kernel_sdist(folder: Path, name: str, kernel: str, compile_kernel: list[str], runtime: str, package: str = "") -> None:
    """NAME-1.0.tar.gz: a C extension with a kernel that the build compiles. `package`: what is in its __init__.py."""
    setup = KERNEL_SETUP.format(name=name, module=name.replace("-", "_"), compile=compile_kernel)
    write_sdist(folder, name, {"setup.py": setup.encode(), "kernel.src": kernel.format(factor="2.0").encode(),
                               "fast.c": (EXTENSION + runtime).encode(),
                               f"{name.replace('-', '_')}/__init__.py": package.encode()})


def write_sdist(folder: Path, name: str, members: dict[str, bytes]) -> None:
    module = name.replace("-", "_")
    members = {f"{module}/__init__.py": b""} | members | {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        "pyproject.toml": b'[build-system]\nrequires = ["setuptools", "wheel"]\nbuild-backend = "setuptools.build_meta"\n'}
    with tarfile.open(folder / f"{module}-1.0.tar.gz", "w:gz") as archive:
        for member, data in members.items():
            info = tarfile.TarInfo(f"{module}-1.0/{member}")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


@unittest.skipUnless(cross_build.CAN_BUILD, "cross-builds from x86_64")
class GpuLoopTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cross_build.require_compiler()
        cls.root = Path(tempfile.mkdtemp(prefix="wheelyard-gpu-"))
        cls.addClassCleanup(shutil.rmtree, cls.root, ignore_errors=True)
        policy = '[index.policy]\ngpu_architectures = ["sm_90", "gfx90a"]\n'
        cls.farm = cls.enterClassContext(Farm(("bede-gh200", "frontier", "gpu-nodes"),
                                              index_settings={"bede-gh200": policy, "frontier": policy, "gpu-nodes": "variants = true"}))
        cls.token = cls.farm.create_token()
        cls.farm.start()
        cls.sources = cls.enterClassContext(PackageIndex(cls.root / "sources"))
        cls.nodes = cls.root / "avail_wheels.toml"
        cls.nodes.write_text(NODES.format(python=PYTHON_VERSION))

    def build(self, index: str, package: str, accelerator: str, environment: str = "", python: str | Path = VENV_PYTHON,
              registry: str = "") -> None:
        folder = self.root / f"{index}-{package}"
        (folder / "recipes").mkdir(parents=True)
        token = folder / "token"
        token.touch(mode=0o600)
        token.write_text(self.token)
        (folder / "recipes" / f"{package}.toml").write_text(
            f'config_version = 1\npackage = "{package}"\nlabelled = true\naccelerators = ["cuda", "rocm"]\n[build]\n'
            f'front_end = "setup-py"\nrequires = ["setuptools", "wheel"]\n{environment}[test]\nimport = ["{package.replace("-", "_")}"]\n')
        (folder / "site.toml").write_text(f'''config_version = 1
name = "{index}"
recipes = ["recipes"]
[registry]
url = "{self.farm.url}"
index = "{index}"
token_file = "token"
{registry}
[state]
directory = "state"
[work]
directory = "work"
[governor]
use = false
[[accelerator]]
{accelerator}
[[python]]
version = "{PYTHON_VERSION}"
executable = "{python}"
[[want]]
package = "{package}"
versions = ["1.0"]
''')
        words = self.farm.environment | self.sources.pip_environment
        del words["PIP_CONFIG_FILE"]
        done = self.farm.run("wheelyard-builder", "run", "--site", folder / "site.toml", environment=words)
        logs = "".join(path.read_text() for path in (folder / "work").glob("attempts/*/log"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + logs)
        done = self.farm.run("wheelyard-indexer", "publish", "--store", self.farm.data, "--to", self.farm.tree, "--index", index)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)  # the wheel list, which says what was proven

    def asked(self, package: str, index: str, node: str) -> dict:
        """What avail_wheels says about the package's wheel of that index on such a node."""
        done = self.farm.run("avail_wheels", "--site", self.nodes, "--wheelhouse", self.farm.tree / index, package, "--on", node, "--why",
                             "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        [wheel] = json.loads(done.stdout)["wheels"]
        return wheel["here"]

    def build_for_bede(self, package: str) -> None:
        """With a Python that says it is of aarch64, and that machine's compilers."""
        includes = Path(subprocess.run([PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('include'))"], capture_output=True,
                                       text=True, check=True).stdout.strip())
        headers = self.root / f"headers-{package}" / "aarch64-linux-gnu"
        shutil.copytree(Path("/usr/include/x86_64-linux-gnu") / includes.name, headers / includes.name)
        python = self.root / f"python-{package}"
        python.write_text(CROSS_PYTHON)
        python.chmod(0o755)
        self.build("bede-gh200", package, 'name = "gh200"\nkind = "cuda"\narchitectures = ["sm_90"]\nlabel = "cu130.gh200"',
                   f'environment = {{ CC = "{cross_build.COMPILER}", LDSHARED = "{cross_build.COMPILER} -shared", '
                   f'_PYTHON_HOST_PLATFORM = "linux-aarch64", YARD_SUFFIX = ".cpython-{TAG[2:]}-aarch64-linux-gnu.so", '
                   f'CFLAGS = "-O2 -fPIC -I{includes} -I{headers.parent}" }}\n', python)
        [name] = self.farm.files(package, "bede-gh200")
        self.assertEqual(name, f"{package.replace('-', '_')}-1.0+cu130.gh200-{TAG}-{TAG}-linux_aarch64.whl")
        self.assertEqual(self.farm.files(package, "frontier"), {})

    def assert_runs_not(self, package: str, index: str, node: str, why: str):
        here = self.asked(package, index, node)
        self.assertEqual(here["runs"], "no")
        self.assertRegex(here["why"], why)

    def test_a_cuda_extension_for_aarch64_comes_to_bedes_index_and_runs_on_its_nodes_alone(self):
        write_gpu_sdist(self.sources.folder, "yard-cuda", "cuda-relocatable.so", "__nv_relfatbin")
        self.build_for_bede("yard-cuda")
        self.assertEqual(self.asked("yard-cuda", "bede-gh200", "gh200")["runs"], "yes")
        self.assert_runs_not("yard-cuda", "bede-gh200", "orin", "built for .*sm_90a.*here is sm_87")
        self.assert_runs_not("yard-cuda", "bede-gh200", "login", "^built for aarch64, this is x86_64$")

    @unittest.skipUnless(NVCC.exists() and shutil.which(CROSS_CXX), "scripts/test --full runs this")
    def test_a_kernel_that_nvcc_compiles_in_the_build_for_sm_90_runs_on_bedes_nodes_alone(self):
        write_kernel_sdist(self.sources.folder, "yard-nvcc", KERNEL, COMPILE_CUDA, CUDA_RUNTIME)
        self.build_for_bede("yard-nvcc")
        self.assertEqual(self.asked("yard-nvcc", "bede-gh200", "gh200")["runs"], "yes")
        for node, gpu in (("orin", "sm_87"), ("b200", "sm_100")):  # it has no PTX
            self.assert_runs_not("yard-nvcc", "bede-gh200", node, f"^built for sm_90, here is {gpu}")

    def uv_installs(self, package: str, capability: str, driver: str) -> subprocess.CompletedProcess:
        """From the index of variants, on a node with such a GPU."""
        return subprocess.run(
            [CLIENTS / "uv/bin/uv", "pip", "install", "--no-deps", "--python", VENV_PYTHON, "--preview-features", "wheel-variants", "--index-url",
             self.farm.simple_url("gpu-nodes"), "--target", self.root / f"{package}-on-{capability}-{driver}", package],
            env=self.farm.environment | {"UV_NO_CONFIG": "1", "UV_NO_CACHE": "1", "NV_VARIANT_PROVIDER_FORCE_SM_ARCH": capability,
                                         "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": driver},
            capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)

    def test_the_agent_makes_the_variant_that_uv_takes_on_nodes_with_these_gpus_and_drivers(self):
        package = "yard-variant"
        write_gpu_sdist(self.sources.folder, package, "cuda-speed.so", ".nv_fatbin")
        self.build("frontier", package, 'name = "a100"\nkind = "cuda"\narchitectures = ["sm_80"]\nlabel = "cu130.a100"\n[accelerator.variant]\n'
                   'label = "a100"\nproperties = ["nvidia :: cuda_version_lower_bound :: 13.0"]', registry='variants_to = "gpu-nodes"')
        plain = f"yard_variant-1.0+cu130.a100-{TAG}-{TAG}-linux_x86_64.whl"
        self.assertEqual(list(self.farm.files(package, "frontier")), [plain])
        self.assertEqual(sorted(self.farm.files(package, "gpu-nodes")),
                         [f"yard_variant-1.0-{TAG}-{TAG}-linux_x86_64-a100.whl", "yard_variant-1.0-variants.json"])
        done = self.uv_installs(package, "8.0", "13.0")
        self.assertEqual(done.returncode, 0, done.stderr)
        [made] = (self.root / f"{package}-on-8.0-13.0").glob("*.dist-info/variant.json")
        self.assertEqual(made.parent.name, "yard_variant-1.0.dist-info")
        self.assertEqual(json.loads(made.read_text())["variants"],
                         {"a100": {"nvidia": {"cuda_version_lower_bound": ["13.0"], "sm_arch": CUDA_SPEED}}})
        for capability, driver in (("7.0", "13.0"), ("8.0", "12.9")):
            done = self.uv_installs(package, capability, driver)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("unsupported wheel variants", done.stderr)
        done = pip_install(self.farm, "pip-new", self.root / "by-pip", package, index="gpu-nodes")
        self.assertIn("No matching distribution", done.stderr)
        self.assertEqual(0, pip_install(self.farm, "pip-new", self.root / "by-pip", package, index="frontier").returncode)

    def test_a_kernel_that_clang_compiles_in_the_build_for_gfx90a_runs_on_frontiers_nodes_alone(self):
        write_kernel_sdist(self.sources.folder, "yard-hip", HIP_KERNEL, COMPILE_HIP, HIP_RUNTIME,
                           package="from ._kernels import answer\n")
        self.build("frontier", "yard-hip", 'name = "mi250x"\nkind = "rocm"\narchitectures = ["gfx90a"]\nlabel = "rocm57.gfx90a"')
        [name] = self.farm.files("yard-hip", "frontier")
        self.assertEqual(name, f"yard_hip-1.0+rocm57.gfx90a-{TAG}-{TAG}-linux_x86_64.whl")
        self.assertEqual(self.asked("yard-hip", "frontier", "mi250x")["runs"], "yes")
        self.assert_runs_not("yard-hip", "frontier", "mi100", "^built for gfx90a, here is gfx908")


if __name__ == "__main__":
    main()
