"""Reads cmake/layers.cmake and cmake/programs.cmake: which room lives where and what it may include.

Shared by check_layers.py (which enforces the table), scripts/draw-layers (which draws it) and scripts/test:

  layer_table.py --test-program ROOM    the room whose test program has the tests of ROOM
"""

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Room:
    name: str
    folder: str
    may_include: tuple[str, ...]
    with_subfolders: bool = False  # the row's folder ends with /*


@dataclass(frozen=True)
class Group:
    name: str
    purpose: str
    rooms: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    name: str
    main: str
    rooms: tuple[str, ...]


def _calls(path: Path, function: str) -> list[list[str]]:
    text = re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))
    return [body.split() for body in re.findall(rf"\b{function}\(([^)]*)\)", text)]


def read_rooms(root: Path) -> dict[str, Room]:
    path = root / "cmake" / "layers.cmake"
    rooms = {}
    for name, folder, *may_include in _calls(path, "wheelyard_layer"):
        for needed in may_include:
            if needed not in rooms:  # rows are in dependency order, so a cycle cannot be written down
                raise SystemExit(f"{path}: room '{name}' may include '{needed}', which has no row above it")
        rooms[name] = Room(name, folder.removesuffix("/*"), tuple(may_include), folder.endswith("/*"))
    if not rooms:
        raise SystemExit(f"{path}: no wheelyard_layer(...) rows found")
    return rooms


def read_groups(root: Path) -> list[Group]:
    """The rows of the table by the wheelyard_group above them."""
    path = root / "cmake" / "layers.cmake"
    text = re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))
    groups = []
    for function, words in re.findall(r"\bwheelyard_(group|layer)\(([^)]*)\)", text):
        if function == "group" and words:  # without words it is the function's own definition
            name, _, purpose = words.partition(": ")
            groups.append(Group(name, purpose, ()))
        elif function == "layer":
            if not groups:
                raise SystemExit(f"{path}: the room '{words.split()[0]}' has no wheelyard_group above it")
            groups[-1] = replace(groups[-1], rooms=(*groups[-1].rooms, words.split()[0]))
    return groups


def room_folders(root: Path, room: Room) -> list[str]:
    """The folders of a room that hold sources."""
    inner = sorted((root / room.folder).glob("*/")) if room.with_subfolders else []
    return [room.folder] + [folder.relative_to(root).as_posix() for folder in inner if folder.is_dir()]


def read_test_rooms(root: Path) -> dict[str, str]:
    """Folder below tests/ -> the room whose test program its tests are in (WHEELYARD_TEST_PROGRAMS)."""
    rooms = read_rooms(root)
    tops = _calls(root / "cmake" / "layers.cmake", "set")[0][1:]
    found = {}
    for room in rooms.values():
        for top in tops:
            if f"{room.folder}/".startswith(f"{rooms[top].folder}/"):
                for folder in room_folders(root, room):
                    found[folder.removeprefix("lib/")] = top
                break
        else:
            raise SystemExit(f"cmake/layers.cmake: no test program of WHEELYARD_TEST_PROGRAMS has room '{room.name}'")
    return found


def read_pure(root: Path) -> dict[str, list[str]]:
    """Room -> the headers that nothing in it may reach, directly or through others (wheelyard_pure)."""
    return {name: headers for name, *headers in _calls(root / "cmake" / "layers.cmake", "wheelyard_pure")}


def read_programs(root: Path) -> list[Program]:
    rows = _calls(root / "cmake" / "programs.cmake", "wheelyard_program")
    return [Program(name, main, tuple(rooms)) for name, main, *rooms in rows]


def closure(rooms: dict[str, Room], names: tuple[str, ...]) -> set[str]:
    """The rooms in `names` and everything below them."""
    found = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(rooms[name].may_include)
    return found


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "--test-program":
        raise SystemExit(__doc__)
    root = Path(__file__).resolve().parents[2]
    print(read_test_rooms(root)[read_rooms(root)[sys.argv[2]].folder.removeprefix("lib/")])
