"""Genuine wheels for aarch64, built on x86_64: setuptools with Debian's cross compiler.

    wheel = build_aarch64_wheel(folder, "yard-fast", FAST_C)

setuptools asks the running Python about its platform, which answers for the other one: `_PYTHON_HOST_PLATFORM` and a
`_sysconfigdata` of that name are how CPython itself is cross-built. Headers are this Python's own: Debian's pyconfig.h differs
between the two machines in x87 assembly, wchar_t and the tier of support only. What comes out imports under qemu.
"""

import platform
import shutil
import subprocess
import zipfile
from pathlib import Path

from support.farm import CLIENTS, COMMAND_TIMEOUT_S, scrubbed_environment

PYTHON = "/usr/bin/python3"
COMPILER = "aarch64-linux-gnu-gcc"

SETUP = """
from setuptools import Extension, setup
setup(name="{name}", version="{version}", packages=["{module}"], ext_modules=[Extension("{module}._fast", ["fast.c"])])
"""


CAN_BUILD = platform.machine() == "x86_64"  # elsewhere the recipe below is not the one


def require_compiler() -> None:
    if not shutil.which(COMPILER):
        raise AssertionError(f"{COMPILER} is not installed: scripts/install-deps --test")


def _python_folder(name: str) -> Path:
    """A folder of the distribution's Python, which may not be the one that runs this."""
    done = subprocess.run([PYTHON, "-c", f"import sysconfig; print(sysconfig.get_path({name!r}))"],
                          capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, check=True)
    return Path(done.stdout.strip())


def _sysconfigdata(folder: Path) -> str:
    """Writes the other machine's `_sysconfigdata` to `folder`; its module's name."""
    own = _python_folder("stdlib") / "_sysconfigdata__x86_64-linux-gnu.py"
    text = own.read_text().replace("x86_64-linux-gnu", "aarch64-linux-gnu").replace("linux-x86_64", "linux-aarch64")
    other = folder / "_sysconfigdata__aarch64-linux-gnu.py"
    other.write_text(text)
    return other.stem


def build_aarch64_wheel(folder: Path, name: str, c_source: str, version: str = "1.0") -> Path:
    module = name.replace("-", "_")
    package = folder / "package"
    headers = folder / "headers" / "aarch64-linux-gnu"
    backend = folder / "backend"
    for path in (package / module, headers, backend):
        path.mkdir(parents=True)
    (package / "setup.py").write_text(SETUP.format(name=name, version=version, module=module))
    (package / module / "__init__.py").write_text("from ._fast import answer\nvalue = answer()\n")
    (package / "fast.c").write_text(c_source)
    includes = _python_folder("include")
    shutil.copytree(Path("/usr/include/x86_64-linux-gnu") / includes.name, headers / includes.name)
    for wheel in (CLIENTS / "wheels").glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(backend)
    environment = scrubbed_environment(
        folder,
        PYTHONPATH=f"{backend}:{folder}",
        _PYTHON_HOST_PLATFORM="linux-aarch64",
        _PYTHON_SYSCONFIGDATA_NAME=_sysconfigdata(folder),
        CC=COMPILER,
        LDSHARED=f"{COMPILER} -shared",
        CFLAGS=f"-O2 -fPIC -I{includes} -I{headers.parent}")
    done = subprocess.run([PYTHON, "setup.py", "--quiet", "bdist_wheel"], cwd=package, env=environment,
                          capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
    if done.returncode != 0:
        raise AssertionError(f"bdist_wheel: {done.stdout}{done.stderr}")
    wheel, = (package / "dist").glob("*.whl")
    return wheel
