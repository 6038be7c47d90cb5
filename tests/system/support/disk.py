"""A disk that breaks where a test says, and what a power cut would leave of it: the other side of disk.c.

    disk = Disk(folder_for_its_notes, farm.data)
    farm.start(environment=disk.environment)
    disk.break_at(17, errno.EIO)         # or disk.kill_at(17), disk.write_short_at(17)

    disk = Disk(notes, farm.data, keep_durable=True)
    ... the program runs ...
    disk.build_image(into, upto=42)      # what a power cut after call 42 leaves at worst: only what was synced
    disk.build_image(into, upto=42, lost={17})   # had call 17, an fsync, not been made
"""

import errno
import mmap
import os
import shutil
import stat
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("disk.c")
FAILING, SHORT, KILLING = 1, 2, 3
ALWAYS = 1 << 40
FIELDS = ("count", "at", "kind", "error", "times", "broken", "keep_durable")
SYNCS = ("fsync", "fdatasync")
WRITES = ("write", "pwrite")

_built: Path | None = None


def shim() -> Path:
    global _built
    if _built is None:
        _built = Path(tempfile.mkdtemp(prefix="wheelyard-disk-")) / "disk.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", _built, SOURCE, "-ldl", "-lpthread"], check=True)
    return _built


class Call(NamedTuple):
    number: int
    name: str
    inode: int
    path: str  # below the root

    @property
    def is_of_catalogue(self) -> bool:
        return "/catalogue" in self.path


ALL, CATALOGUES = "all", "catalogues"  # of what a part may be; none: all but wheel lists


def copy_file(source: str, target: str) -> None:
    """The socket of a killed server is there as an empty file."""
    if stat.S_ISSOCK(os.lstat(source).st_mode):
        Path(target).touch()
    else:
        shutil.copy2(source, target)


class Disk:
    def __init__(self, notes: Path, root: Path, keep_durable: bool = False, part: str = ""):
        self.notes = notes
        self.root = root
        self.part = part
        notes.mkdir()
        (notes / "log").touch()
        (notes / "control").write_bytes(bytes(64))
        with open(notes / "control", "r+b") as file:
            self.control = mmap.mmap(file.fileno(), 64)
        self._set(keep_durable=int(keep_durable))
        if keep_durable:
            self._remember_what_is_there()

    @property
    def environment(self) -> dict[str, str]:
        chosen = {"WHEELYARD_DISK_PART": self.part} if self.part else {}
        return {"LD_PRELOAD": str(shim()), "WHEELYARD_DISK_STATE": str(self.notes), "WHEELYARD_DISK_ROOT": str(self.root)} | chosen

    # --- breaking it --------------------------------------------------------------------------------------------------

    def _set(self, **fields: int) -> None:
        for name, value in fields.items():
            struct.pack_into("<Q", self.control, 8 * FIELDS.index(name), value)

    def _get(self, name: str) -> int:
        return struct.unpack_from("<Q", self.control, 8 * FIELDS.index(name))[0]

    def _break(self, number: int, kind: int, error: int = errno.EIO, times: int = 1) -> None:
        """The count begins again: `number` is that of the calls from now on."""
        self._set(count=0, broken=0, at=number, kind=kind, error=error, times=times)

    def break_at(self, number: int, error: int, times: int = 1) -> None:
        self._break(number, FAILING, error, times)

    def write_short_at(self, number: int) -> None:
        self._break(number, SHORT)

    def kill_at(self, number: int) -> None:
        self._break(number, KILLING)

    def repair(self) -> None:
        self._break(0, 0)

    @property
    def has_broken(self) -> bool:
        return self._get("broken") > 0

    @property
    def count(self) -> int:
        return self._get("count")

    def calls(self) -> list[Call]:
        """Since the count began last."""
        found = []
        for line in (self.notes / "log").read_text().splitlines():
            number, name, inode, path = line.split(" ", 3)
            if number == "1":
                found.clear()
            found.append(Call(int(number), name, int(inode), os.path.relpath(path, self.root)))
        return found

    # --- what is durable ----------------------------------------------------------------------------------------------

    def _remember_what_is_there(self) -> None:
        """All of it counts as synced: the machine has been quiet."""
        self.first_names: dict[int, dict[str, int]] = {}
        self.first_bytes: dict[int, bytes] = {}
        self.root_inode = self.root.stat().st_ino
        for folder, _, files in os.walk(self.root):
            entries = {entry.name: entry.inode() for entry in os.scandir(folder)}
            self.first_names[os.stat(folder).st_ino] = entries
            for name in files:
                self.first_bytes[entries[name]] = (Path(folder) / name).read_bytes()

    def _syncs(self, upto: int, lost: set[int]) -> dict[int, int]:
        """inode → the last call up to `upto` that made it durable."""
        return {call.inode: call.number for call in self.calls()
                if call.name in SYNCS and call.number <= upto and call.number not in lost and (self.notes / str(call.number)).exists()}

    def _bytes(self, inode: int, synced: dict[int, int]) -> bytes:
        if inode in synced:
            return (self.notes / str(synced[inode])).read_bytes()
        return self.first_bytes.get(inode, b"")

    def _names(self, inode: int, synced: dict[int, int]) -> dict[str, tuple[int, bool]]:
        """name → (inode, whether it is a folder)."""
        if inode not in synced:
            return {name: (number, number in self.first_names) for name, number in self.first_names.get(inode, {}).items()}
        lines = (line.split(" ", 2) for line in (self.notes / str(synced[inode])).read_text().splitlines())
        return {name: (int(number), kind == "d") for number, kind, name in lines}

    def build_image(self, into: Path, upto: int = ALWAYS, lost: frozenset[int] | set[int] = frozenset()) -> None:
        """The worst that a power cut leaves: names and bytes that were synced, and no others. A file that is under two names
        stays one file."""
        synced = self._syncs(upto, set(lost))
        made: dict[int, Path] = {}

        def build(inode: int, folder: Path) -> None:
            folder.mkdir()
            for name, (number, is_folder) in self._names(inode, synced).items():
                if is_folder:
                    build(number, folder / name)
                elif number in made:
                    os.link(made[number], folder / name)
                else:
                    made[number] = folder / name
                    made[number].write_bytes(self._bytes(number, synced))

        build(self.root_inode, into)

    def build_image_without(self, into: Path, lost: Call) -> None:
        """The other extreme: all that is there now was written, except what the fsync `lost` would have made durable: its file
        has the bytes of the fsync before, or none; its folder the names of the fsync before, and no others."""
        synced = self._syncs(ALWAYS, {lost.number})
        shutil.copytree(self.root, into, copy_function=copy_file)
        for folder, folders, files in os.walk(self.root):
            there = Path(folder)
            here = into / there.relative_to(self.root)
            if there.stat().st_ino == lost.inode:
                before = self._names(lost.inode, synced)
                for name in {*folders, *files} - set(before):
                    shutil.rmtree(here / name) if (here / name).is_dir() else (here / name).unlink()
                for name, (inode, is_folder) in before.items():
                    if not is_folder and name in files and (there / name).stat().st_ino != inode:  # what was renamed over it is lost
                        (here / name).chmod(0o644)
                        (here / name).write_bytes(self._bytes(inode, synced))
            for name in files:
                if (there / name).stat().st_ino == lost.inode and (here / name).exists():
                    (here / name).chmod(0o644)
                    (here / name).write_bytes(self._bytes(lost.inode, synced))
