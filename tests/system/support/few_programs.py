"""A folder for PATH with the machine's programs, without those that a test hides."""

from fnmatch import fnmatchcase
from pathlib import Path


def link_programs(folder: Path, *hidden: str) -> None:
    """Makes `folder` with a link to each program of /usr/bin whose name matches no pattern of `hidden` (fnmatch)."""
    folder.mkdir()
    for program in Path("/usr/bin").iterdir():
        if not any(fnmatchcase(program.name, pattern) for pattern in hidden):
            (folder / program.name).symlink_to(program)
