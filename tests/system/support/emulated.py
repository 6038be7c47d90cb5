"""aarch64 programs that start like native ones: a site's Python, and a C++ compiler whose programs run.

Most kernels do not start programs of another architecture. Each program is therefore a script that runs it in
an emulator (qemu-aarch64-static), with the C library and the Python from scripts/other-nodes.
"""

import os
from pathlib import Path

from support.farm import CLIENTS, ROOT

NODE = Path(os.environ.get("WHEELYARD_NODES", ROOT / "build" / "nodes")).resolve() / "aarch64"
PYTHON_VERSION = "3.11"
# Python finds its environment by its own path, hence -0. `-m venv` gets the same scripts for its Pythons, and
# pip.
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
    """Creates FOLDER/bin/python3.11. Its standard library is where Python searches before this machine's."""
    pip = next((CLIENTS / "pip-new").glob("lib/python*/site-packages/pip"))
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "python3.11").symlink_to(NODE / "usr" / "lib" / "python3.11")
    return _write(folder / "bin" / "python3.11", PYTHON, PIP=pip)


def make_compiler(folder: Path, program: str) -> Path:
    """Creates a C++ compiler for aarch64. If its output is `program`, that program can be started."""
    return _write(folder / "aarch64-c++", COMPILER, PROGRAM=program)
