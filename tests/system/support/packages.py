"""What scripts/package made, for the tests that install it: WHEELYARD_PACKAGES, by default build/package."""

import os
from pathlib import Path

from support.farm import ROOT

PACKAGES = Path(os.environ.get("WHEELYARD_PACKAGES", ROOT / "build" / "package")).resolve()


def made(pattern: str) -> Path | None:
    """The newest package of that name."""
    found = sorted(PACKAGES.glob(pattern), key=lambda path: path.stat().st_mtime)
    return found[-1] if found else None


def tarball(machine: str) -> Path | None:
    return made(f"wheelyard-*-portable-linux-{machine}.tar.xz")
