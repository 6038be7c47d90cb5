"""The programs of an earlier version: those in the Debian packages of the folder that WHEELYARD_OLDER_PACKAGES names. Where it is not set
they are this build's: then a test goes through the same steps, and meets no data of another version."""

import os
import subprocess
from pathlib import Path

from support.farm import BIN

FOLDER = Path(os.environ["WHEELYARD_OLDER_PACKAGES"]).resolve() if "WHEELYARD_OLDER_PACKAGES" in os.environ else None
WHY_SAME = "WHEELYARD_OLDER_PACKAGES names no packages of an earlier version: both versions are this one"


def programs(folder: Path) -> Path:
    """The folder of the earlier version's programs, unpacked below `folder`."""
    if FOLDER is None:
        return BIN
    for name in ("wheelyard-registry", "wheelyard-agent", "avail-wheels"):
        [package] = sorted(FOLDER.glob(f"{name}_*.deb"))[-1:]
        subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
    return folder / "usr/bin"
