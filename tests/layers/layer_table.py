"""Reads cmake/layers.cmake and cmake/programs.cmake: which module lives where and what it may include.

Shared by check_layers.py (which enforces the table), scripts/draw-layers (which draws it) and scripts/test:

  layer_table.py --test-program MODULE    the module whose test program has the tests of MODULE
"""

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path


@dataclass(frozen=True)
class Module:
    name: str
    folder: str
    may_include: tuple[str, ...]
    with_subfolders: bool = False  # the row's folder ends with /*
    of_other_rows: frozenset[str] = frozenset()  # folders that another row names


@dataclass(frozen=True)
class Group:
    name: str
    purpose: str
    modules: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    name: str
    main: str
    modules: tuple[str, ...]


def _calls(path: Path, function: str) -> list[list[str]]:
    text = re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))
    return [body.split() for body in re.findall(rf"\b{function}\(([^)]*)\)", text)]


def read_modules(root: Path) -> dict[str, Module]:
    path = root / "cmake" / "layers.cmake"
    modules = {}
    for name, folder, *may_include in _calls(path, "wheelyard_layer"):
        for needed in may_include:
            if needed not in modules:  # rows are in dependency order, so a cycle cannot be written down
                raise SystemExit(f"{path}: module '{name}' may include '{needed}', which has no row above it")
        modules[name] = Module(name, folder.removesuffix("/*"), tuple(may_include), folder.endswith("/*"))
    if not modules:
        raise SystemExit(f"{path}: no wheelyard_layer(...) rows found")
    named = frozenset(module.folder for module in modules.values())
    return {name: replace(module, of_other_rows=named - {module.folder}) for name, module in modules.items()}


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
                raise SystemExit(f"{path}: the module '{words.split()[0]}' has no wheelyard_group above it")
            groups[-1] = replace(groups[-1], modules=(*groups[-1].modules, words.split()[0]))
    return groups


def module_folders(root: Path, module: Module) -> list[str]:
    """The folders of a module that hold sources."""
    inner = sorted((root / module.folder).glob("*/")) if module.with_subfolders else []
    found = [folder.relative_to(root).as_posix() for folder in inner if folder.is_dir()]
    return [module.folder] + [folder for folder in found if folder not in module.of_other_rows]


def read_test_modules(root: Path) -> dict[str, str]:
    """Folder below tests/ -> the module whose test program its tests are in (WHEELYARD_TEST_PROGRAMS)."""
    modules = read_modules(root)
    tops = _calls(root / "cmake" / "layers.cmake", "set")[0][1:]
    found = {}
    for module in modules.values():
        for top in tops:
            if f"{module.folder}/".startswith(f"{modules[top].folder}/"):
                for folder in module_folders(root, module):
                    found[folder.removeprefix("lib/")] = top
                break
        else:
            raise SystemExit(f"cmake/layers.cmake: no test program of WHEELYARD_TEST_PROGRAMS has module '{module.name}'")
    return found


def read_pure(root: Path) -> dict[str, list[str]]:
    """Module -> the headers that nothing in it may reach, directly or through others (wheelyard_pure)."""
    return {name: headers for name, *headers in _calls(root / "cmake" / "layers.cmake", "wheelyard_pure")}


def read_programs(root: Path) -> list[Program]:
    rows = _calls(root / "cmake" / "programs.cmake", "wheelyard_program")
    return [Program(name, main, tuple(modules)) for name, main, *modules in rows]


def closure(modules: dict[str, Module], names: tuple[str, ...]) -> set[str]:
    """The modules in `names` and everything below them."""
    found = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(modules[name].may_include)
    return found


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] != "--test-program":
        raise SystemExit(__doc__)
    root = Path(__file__).resolve().parents[2]
    print(read_test_modules(root)[read_modules(root)[sys.argv[2]].folder.removeprefix("lib/")])
