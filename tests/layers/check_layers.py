#!/usr/bin/env python3
"""`ctest -R layers`: every #include obeys cmake/layers.cmake, and every edge there has one; libraries from outside stay in their wrapper; every header
has its #pragma once and its purpose; every source opens by saying what it is for; every folder has a README.md; no
product source compares the code of an error; nothing in the builder names a scheduler but its row; nothing names an
accelerator but its row; nothing outside lib/store/blobs knows a kind of blob store or where one keeps its blobs; nothing but
its own folders names SQLite, the engine behind the Store; programs print through base::print; the markup of pages lies in lib/page/templates, not in C++.

Scans the sources, so it needs no build:  tests/layers/check_layers.py [ROOT]
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import layer_table
import third_party

SOURCE_FOLDERS = ["lib", "builder", "registry", "indexer", "tests", "bench"]
README_FOLDERS = SOURCE_FOLDERS + ["docs", "scripts", "site-configs", "cmake", "packaging"]
# Folders of data that need no README; their parent has it (as tests/README.md describes tests/<module>/, which mirrors
# the module).
DATA_FOLDERS = {"assets", "templates", "golden", "images", "corpus", "data", "recipes", "results", "__pycache__"}
# Control flow uses base::Error's kind, recovery and os_error; its code is for people and tests.
PRODUCT_FOLDERS = ("lib/", "registry/", "indexer/", "builder/")
CODE_COMPARED = re.compile(
    r'\bcode(\(\))?\s*[!=]=\s*"[a-zA-Z_]*\.'          # code == "module.word"
    r'|"[a-zA-Z_]+\.\w*"\s*[!=]=\s*[^\s;)]*\bcode\b'  # "module.word" == error.code
    r'|\bcode(\(\))?\.(starts_with|ends_with|compare)\('
    r'|\berror(\(\))?\.code\s*[!=]=|[!=]=\s*[^\s;)]*\berror(\(\))?\.code\b'  # with whatever
    r'|\bif\s*\([^;{]*\berror\(\)\.code\b'           # a condition that asks a table
    r'|std::find(_if)?\([^;]*\berror(\(\))?\.code\b')
# The builder knows a scheduler by its row (builder/schedule/scheduler_kind.hpp); only the row has its name. "local" is a
# word with other meanings.
SCHEDULER_ROWS = re.compile(r"builder/schedule/(\w+)/\1_kind\.cpp")
# The same of accelerators (lib/accelerator/accelerator_kind.hpp). What reads compilers' command lines, ELF headers and
# device code has words of its own that are spelled alike.
ACCELERATOR_ROWS = "lib/accelerator/"
ACCELERATOR_WORDS = ("builder/governor/", "lib/inspect/elf/elf_identity.cpp", "lib/inspect/gpu/")
ACCELERATOR_NAME = re.compile(r'^\s*\.name = "(\w+)",$', re.MULTILINE)
ACCELERATOR_PREFIXES = {"sm_", "gfx"}
COMMENT = re.compile(r"//[^\n]*")
# The registry and the indexer use blobs through lib/store/blobs/store.hpp, which opens the kind that is configured.
BLOB_KIND = re.compile(
    r'#\s*include\s+"lib/store/blobs/[a-z_]+/'          # the header of a kind
    r'|\b(?!SavedBlobs\b)[A-Z]\w*Blobs\b'             # its class
    r'|/\s*"(blobs|sha256|collecting|staging)"'  # folder / "blobs": a path is put together
    r'|"[^"\n]*\bblobs/(sha256|[0-9a-f]{2}/)')
BLOB_MODULE = "lib/store/blobs/"
# What keeps the catalog and the task queue is known to its own folders and to lib/store/, which opens them. Comments
# may name it.
ENGINE_FOLDERS = re.compile(r"lib/store/(engine/|\w+/(sqlite|postgres)/)?[^/]+|lib/store/engine/\w+/[^/]+")
PYTHON_MODULES = "lib/inspect/python/gone_names.cpp"  # sqlite3 is one
ENGINE_NAMED = re.compile(r"^(?![ \t]*#[ \t]*include[ \t]*<)[^\n]*?(sqlite|postgres(::|_|/\w|catalog|tasks)|-(wal|shm)\")", re.IGNORECASE | re.MULTILINE)
# Programs print through lib/base/process/terminal.hpp, so that no text from elsewhere controls a terminal. The exceptions move
# its cursor, print what --raw asks for, or see that the output was written.
PRINTS = re.compile(r"(?<!base::)\b(printf|fprintf|vfprintf|puts|fputs|fwrite|putchar|cout|cerr)\b")
PRINTING_FOLDERS = ("registry/", "indexer/", "builder/")
PRINTING_FILES = ("builder/commands/tick_until.cpp", "indexer/avail_wheels/main.cpp", "registry/commands/lifecycle.cpp",
                  "registry/commands/door.cpp", "registry/intake/check.cpp")
# The pages of the web UI are templates (lib/page/README.md), and two files of lib/page are their layer. A feed is XML; Markdown makes
# markup of a README. "/<index>/" names a part of an address.
PAGE_FOLDERS = ("indexer/web/", "lib/page/", "registry/http/")
MARKUP_FILES = ("lib/page/html.cpp", "lib/page/template.cpp", "indexer/web/feed.cpp", "indexer/web/markdown.cpp")
LITERAL = re.compile(r"""R"(?P<end>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=end)"|"(?P<usual>(?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)'|//[^\n]*""", re.DOTALL)
MARKUP = re.compile(r"(?<!/)<[a-zA-Z/]")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def without_comments(text: str) -> str:
    """`text` with its comments as blanks, so that offsets stay."""
    return re.sub(r'("(?:[^"\\\n]|\\.)*")|//[^\n]*', lambda found: found[1] or " " * len(found[0]), text)


class Checker:
    def __init__(self, root: Path):
        self.root = root
        self.modules = layer_table.read_modules(root)
        self.module_of_folder = {folder: module for module in self.modules.values()
                               for folder in layer_table.module_folders(root, module)}
        self.test_modules = layer_table.read_test_modules(root)
        self.programs = {program.main: program for program in layer_table.read_programs(root)}
        self.complaints: list[str] = []
        self.included: set[tuple[str, str]] = set()  # modules: of the source, and of what it includes
        rows = (SCHEDULER_ROWS.fullmatch(file.relative_to(root).as_posix()) for file in root.glob("builder/schedule/*/*.cpp"))
        names = {row[1] for row in rows if row} - {"local"}
        self.scheduler_named = re.compile(f'"({"|".join(sorted(names))})"' if names else r"(?!)")
        rows = (file.read_text(encoding="utf-8") for file in sorted(root.glob(ACCELERATOR_ROWS + "*.cpp")))
        names = {name for text in rows for name in ACCELERATOR_NAME.findall(text)}
        self.accelerator_named = re.compile(f'"({"|".join(sorted(names | ACCELERATOR_PREFIXES))})"' if names else r"(?!)")

    def complain(self, path: str, text: str, offset: int, sentence: str) -> None:
        line = text.count("\n", 0, offset) + 1
        self.complaints.append(f"{path}:{line}: {sentence}")

    def allowed_modules(self, path: str) -> tuple[set[str] | None, str]:
        """The modules that the file at `path` may include (None: any), and the words for why."""
        if path in self.programs:  # what joins modules is a row, too: it names each module that its main file includes
            program = self.programs[path]
            return set(program.modules), f"the row of program '{program.name}' names"
        folder = path.rpartition("/")[0]
        if folder in self.module_of_folder:
            module = self.module_of_folder[folder]
            return {module.name, *module.may_include}, f"module '{module.name}' may include"
        parts = path.split("/")
        if parts[0] == "tests" and folder.removeprefix("tests/") in self.test_modules:
            name = self.test_modules[folder.removeprefix("tests/")]
            folder = self.modules[name].folder + "/"
            inner = tuple(other.name for other in self.modules.values() if other.folder.startswith(folder))
            return layer_table.closure(self.modules, (name, *inner)), f"tests of '{name}' may include"
        if path.startswith("tests/support/"):
            return layer_table.closure(self.modules, ("base",)), "tests/support may include"
        if parts[0] in ("tests", "bench"):
            return None, ""
        return set(), "no module owns this folder, so it may include"

    def check_include(self, path: str, text: str, match: re.Match) -> None:
        bracket, spelled = match.group(1), match.group(2)
        for pattern, allowed, library in third_party.OUTSIDE_HEADERS:
            if re.match(pattern, spelled):
                if not re.fullmatch(allowed, path):
                    self.complain(path, text, match.start(),
                                  f"<{spelled}> ({library}) may only be included in {allowed}")
                return
        if bracket == "<":
            if "/" in spelled and not re.match(r"(sys|netinet|arpa|net|linux)/", spelled):
                self.complain(path, text, match.start(),
                              f"<{spelled}> has no row in tests/layers/third_party.py")
            return
        folder = spelled.rpartition("/")[0]
        if not (self.root / spelled).is_file():
            self.complain(path, text, match.start(),
                          f'"{spelled}" is no file; includes are spelled from the repository root')
            return
        if folder.startswith(("tests", "bench")):
            if not path.startswith(("tests/", "bench/")):
                self.complain(path, text, match.start(), f'"{spelled}": only tests and benches include these')
            return
        allowed_modules, why = self.allowed_modules(path)
        target = self.module_of_folder.get(folder)
        if source := self.module_of_folder.get(path.rpartition("/")[0]):
            self.included.add((source.name, target.name if target else ""))
        if target is None:
            self.complain(path, text, match.start(), f'"{spelled}" is in no module of cmake/layers.cmake')
        elif allowed_modules is not None and target.name not in allowed_modules:
            names = " ".join(sorted(allowed_modules)) or "nothing"
            self.complain(path, text, match.start(),
                          f"forbidden include of module '{target.name}' (\"{spelled}\"): {why} only: {names}")

    def mirrors_a_source(self, path: str) -> bool:
        """tests/<folder>/<stem>_test.cpp of a <stem> that is there: its name says what it is for."""
        match = re.fullmatch(r"tests/([a-z_/]+)/([a-z0-9_]+)_test\.cpp", path)
        return match is not None and any((self.root / top / match[1] / f"{match[2]}{suffix}").is_file()
                                         for top in ("", "lib") for suffix in (".hpp", ".cpp"))

    def check_source(self, file: Path) -> None:
        path = file.relative_to(self.root).as_posix()
        text = file.read_text(encoding="utf-8")
        own_header = f'#include "{path.removesuffix(".cpp")}.hpp"\n'  # which says it for both
        if not text.startswith(("//", own_header)) and not self.mirrors_a_source(path):
            self.complain(path, text, 0, "the first line must be a comment that says what the file is for")
        if file.suffix == ".hpp" and not re.search(r"^#pragma once$", text, re.MULTILINE):
            self.complain(path, text, 0, "header without #pragma once")
        for match in INCLUDE.finditer(text):
            self.check_include(path, text, match)
        if path.startswith(PRODUCT_FOLDERS):
            for match in CODE_COMPARED.finditer(text):
                self.complain(path, text, match.start(), "compares the code of an error: set its kind, recovery or "
                                                         "os_error where it is made, and ask for that")
        if path.startswith(PRINTING_FOLDERS) and path not in PRINTING_FILES:
            for match in PRINTS.finditer(LITERAL.sub(lambda found: " " * len(found[0]), text)):
                self.complain(path, text, match.start(), "prints by itself: use base::print (lib/base/process/terminal.hpp)")
        if path.startswith("builder/") and not SCHEDULER_ROWS.fullmatch(path):
            for match in self.scheduler_named.finditer(text):
                self.complain(path, text, match.start(), "names a scheduler: add a field to its row, "
                                                         "builder/schedule/scheduler_kind.hpp")
        if path.startswith(PRODUCT_FOLDERS) and not path.startswith((ACCELERATOR_ROWS, *ACCELERATOR_WORDS)):
            code = COMMENT.sub(lambda comment: " " * len(comment[0]), text)
            for match in self.accelerator_named.finditer(code):
                self.complain(path, text, match.start(), "names an accelerator: add a field to its row, "
                                                         "lib/accelerator/accelerator_kind.hpp")

        if path.startswith(("lib/store/", "registry/", "indexer/")) and not path.startswith(BLOB_MODULE):
            for match in BLOB_KIND.finditer(without_comments(text)):
                self.complain(path, text, match.start(), "knows a kind of blob store or its files: use the operations "
                                                         "of lib/store/blobs/store.hpp")

        if path.startswith(("lib/", "registry/", "indexer/")) and path != PYTHON_MODULES and not ENGINE_FOLDERS.fullmatch(path):
            for match in ENGINE_NAMED.finditer(COMMENT.sub(lambda comment: " " * len(comment[0]), text)):
                self.complain(path, text, match.start(), "names the engine behind the Store: ask "
                                                         "lib/store/store.hpp")

        if path.startswith(PAGE_FOLDERS) and path not in MARKUP_FILES:
            for match in LITERAL.finditer(text):
                if MARKUP.search(match["raw"] or match["usual"] or ""):
                    self.complain(path, text, match.start(), "has markup: it belongs into a file of lib/page/templates")

    def check_pure(self, module: layer_table.Module, headers: list[str]) -> None:
        """Nothing in `module` reaches one of `headers` through any chain of includes."""
        seen: dict[str, str] = {}
        waiting = [(file.relative_to(self.root).as_posix(),) * 2
                   for folder in layer_table.module_folders(self.root, module)
                   for file in sorted((self.root / folder).glob("*.?pp"))]
        while waiting:
            path, start = waiting.pop()
            if path in seen or not (self.root / path).is_file():
                continue
            seen[path] = start
            if path in headers:
                self.complaints.append(f"{module.folder}/: must stay pure, but {start} reaches {path}")
            text = (self.root / path).read_text(encoding="utf-8")
            waiting += [(match[2], start) for match in INCLUDE.finditer(text) if match[1] == '"']

    def check_readme(self, folder: Path) -> None:
        if not (folder / "README.md").is_file() and not (folder / "site.toml").is_file():  # a site.toml says it itself
            name = folder.relative_to(self.root).as_posix()
            self.complaints.append(f"{name}/: no README.md (owns, never does, start here)")

    def folders(self) -> list[Path]:
        found = []
        for name in README_FOLDERS:
            top = self.root / name
            if not top.is_dir():
                continue
            for folder in [top, *sorted(top.rglob("*"))]:
                inside = folder.relative_to(self.root).parts
                mirrors_a_module = inside[0] == "tests" and "/".join(inside[1:]) in self.test_modules
                if folder.is_dir() and not mirrors_a_module and not DATA_FOLDERS.intersection(inside) and any(folder.iterdir()):
                    found.append(folder)
        return found

    def run(self) -> list[str]:
        for name in SOURCE_FOLDERS:
            for file in sorted((self.root / name).rglob("*")):
                if file.suffix in (".hpp", ".cpp"):
                    self.check_source(file)
                elif file.suffix in (".h", ".cc", ".cxx", ".hh"):
                    self.complaints.append(f"{file.relative_to(self.root)}: sources are .hpp and .cpp")
        for module in self.modules.values():
            self.complaints += [f"cmake/layers.cmake: '{module.name}' names '{needed}' and includes nothing of it"
                                for needed in module.may_include if (module.name, needed) not in self.included]
        for name, headers in layer_table.read_pure(self.root).items():
            self.check_pure(self.modules[name], headers)
        for folder in self.folders():
            self.check_readme(folder)
        return self.complaints


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    complaints = Checker(root.resolve()).run()
    for complaint in complaints:
        print(complaint)
    print(f"layers: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
