"""What scripts/package made, for the tests that install it: WHEELYARD_PACKAGES, by default build/package."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from support.farm import BIN, ROOT

PACKAGES = Path(os.environ.get("WHEELYARD_PACKAGES", ROOT / "build" / "package")).resolve()


def made(pattern: str) -> Path | None:
    """The newest package of that name."""
    found = sorted(PACKAGES.glob(pattern), key=lambda path: path.stat().st_mtime)
    return found[-1] if found else None


def tarball(machine: str) -> Path | None:
    return made(f"wheelyard-*-portable-linux-{machine}.tar.xz")


def head() -> tuple[str, str]:
    """The last commit, and when it was made."""
    commit, moment = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%H %ct"], check=True, capture_output=True, text=True).stdout.split()
    return commit, moment


def unpacked(folder: Path) -> Path:
    """The last commit's source, as a release has it and its user unpacks it."""
    folder.mkdir()
    packed = subprocess.run(["git", "-C", ROOT, "archive", "HEAD"], check=True, capture_output=True)
    subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
    return folder


def set_rebuild(tree: Path, count: int, also: str = "") -> None:
    path = tree / "packaging/sources.toml"
    path.write_text(re.sub(r"^rebuild = \d+$", f"rebuild = {count}", path.read_text(), flags=re.MULTILINE) + also)


def stand_ins(folder: Path) -> None:
    """Static programs under the names of the portable ones: a wheel takes no others. There is no static wheelyard-builder: a script has its name."""
    for name, program in (("avail_wheels", "avail_wheels-static"), ("wheelyard-governor", "wheelyard-governor")):
        shutil.copy(BIN / program, folder / name)
    builder = folder / "wheelyard-builder"
    builder.write_text('#!/bin/sh\nexec "$(dirname "$0")/wheelyard-governor" "$@"\n')
    builder.chmod(0o755)
