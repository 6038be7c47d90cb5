"""An earlier version: the packages of the folder that WHEELYARD_OLDER_PACKAGES names. Where it is not set, packages are those of this
version under a lower number, and programs this build's: a test goes through the same steps, and meets no data of another version."""

import os
import subprocess
from pathlib import Path

from support.farm import BIN
from support.packages import PACKAGES

FOLDER = Path(os.environ["WHEELYARD_OLDER_PACKAGES"]).resolve() if "WHEELYARD_OLDER_PACKAGES" in os.environ else None
WHY_SAME = "WHEELYARD_OLDER_PACKAGES names no packages of an earlier version: both versions are this one"
VERSION = "0.0.1"


def newest(pattern: str) -> Path:
    [found] = sorted((FOLDER or PACKAGES).glob(pattern))[-1:]
    return found


def programs(folder: Path) -> Path:
    """The folder of the earlier version's programs, unpacked below `folder`."""
    if FOLDER is None:
        return BIN
    for name in ("wheelyard-registry", "wheelyard-agent", "avail-wheels"):
        subprocess.run(["dpkg-deb", "--extract", newest(f"{name}_*.deb"), folder], check=True)
    return folder / "usr/bin"


def as_older(name: str, folder: Path) -> Path:
    """Its Debian package, under a lower number."""
    tree = folder / name
    subprocess.run(["dpkg-deb", "--raw-extract", newest(f"{name}_*.deb"), tree], check=True)
    control = tree / "DEBIAN/control"
    lines = control.read_text().splitlines()
    control.write_text("".join(f"Version: {VERSION}\n" if line.startswith("Version:") else line + "\n" for line in lines))
    path = folder / f"{name}_{VERSION}.deb"
    subprocess.run(["dpkg-deb", "--build", tree, path], check=True, capture_output=True)
    return path
