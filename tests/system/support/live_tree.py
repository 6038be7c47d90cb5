"""Looks through a folder that a running server changes: what goes meanwhile, files and folders, is passed over. Path.rglob() fails then."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


def paths_in(folder: Path) -> Iterator[Path]:
    return (Path(place, name) for place, folders, files in os.walk(folder) for name in (*folders, *files))


def bytes_of(path: Path) -> bytes:
    """None of what is no file, or is gone."""
    with contextlib.suppress(FileNotFoundError):
        if path.is_file():
            return path.read_bytes()
    return b""


def staged_in(folder: Path) -> list[Path]:
    """What lies in folders for uploads and fetches now."""
    return [path for path in paths_in(folder) if path.parent.name == "staging" and path.is_file()]
