"""Programs of aarch64 that start like any other here: a Python as a site has one, and a C++ compiler whose programs run.

Most kernels start no program of another machine by themselves, so each that has to start is a script that starts it in an emulator of that
machine's instructions (qemu-aarch64-static), with the C library and Python of scripts/other-nodes.
"""

import os
from pathlib import Path

from support.farm import CLIENTS, ROOT

NODE = Path(os.environ.get("WHEELYARD_NODES", ROOT / "build" / "nodes")).resolve() / "aarch64"
PYTHON_VERSION = "3.11"
# By its own name, which is how Python knows its environment. What `-m venv` makes has such scripts for its Pythons, and pip.
PYTHON = """#!/bin/bash
emulated=(qemu-aarch64-static -L @NODE@ -0 "$0" @NODE@/usr/bin/python3.11)
test "${1-} ${2-}" = "-m venv" || exec "${emulated[@]}" "$@"
"${emulated[@]}" "$@" --without-pip || exit
environment=${!#}
for name in python python3 python3.11; do
    rm -f "$environment/bin/$name"
    cp "$0" "$environment/bin/$name"
done
cp -r @PIP@ "$environment"/lib/python3.11/site-packages/pip
"""
COMPILER = """#!/bin/bash
aarch64-linux-gnu-g++ "$@" || exit
while test $# -gt 0 && test "$1" != -o; do shift; done
test "${2-}" = @PROGRAM@ || exit 0
mv @PROGRAM@ @PROGRAM@.aarch64
printf '#!/bin/sh\\nexec qemu-aarch64-static -L @NODE@ "$0.aarch64" "$@"\\n' > @PROGRAM@
chmod +x @PROGRAM@
"""


def _write(path: Path, text: str, **words: Path | str) -> Path:
    for name, value in {"NODE": NODE, **words}.items():
        text = text.replace(f"@{name}@", str(value))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def make_python(folder: Path) -> Path:
    """FOLDER/bin/python3.11, with its standard library where it looks for it before it looks into this machine's."""
    pip = next((CLIENTS / "pip-new").glob("lib/python*/site-packages/pip"))
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "python3.11").symlink_to(NODE / "usr" / "lib" / "python3.11")
    return _write(folder / "bin" / "python3.11", PYTHON, PIP=pip)


def make_compiler(folder: Path, program: str) -> Path:
    """A C++ compiler for aarch64; where it links `program`, that starts."""
    return _write(folder / "aarch64-c++", COMPILER, PROGRAM=program)
