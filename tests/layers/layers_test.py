#!/usr/bin/env python3
"""`ctest -R layers`: proves that check_layers.py detects what it is there to detect, on small trees made for the purpose."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import layer_table  # noqa: E402

LAYERS = """
wheelyard_layer(base     lib/base)
wheelyard_layer(io       lib/io    base)
wheelyard_layer(builder  builder   io)
wheelyard_layer(blobs    lib/store/blobs/*)
wheelyard_layer(sqlite   lib/store/sqlite base)
wheelyard_layer(database lib/store sqlite)
wheelyard_layer(server   registry/server)
wheelyard_layer(http     registry/http)
wheelyard_layer(registry registry  io blobs database)
wheelyard_layer(plan     builder/plan io)
wheelyard_layer(schedule builder/schedule/*)
wheelyard_layer(accelerator lib/accelerator)
set(WHEELYARD_TEST_PROGRAMS accelerator base io builder database registry)
wheelyard_pure(plan lib/io/http_client.hpp)
"""
PROGRAMS = "wheelyard_program(the-registry registry/main.cpp io sqlite registry)\n"
CLEAN = {
    "cmake/layers.cmake": LAYERS,
    "cmake/programs.cmake": PROGRAMS,
    "cmake/README.md": "Owns.\n",
    "lib/README.md": "Owns.\n",
    "lib/base/README.md": "Owns.\n",
    "lib/base/fd.hpp": "// A file descriptor.\n#pragma once\n#include <vector>\n",
    "lib/accelerator/README.md": "Owns.\n",
    "lib/accelerator/npu.cpp": '// The row.\nKind kind = {\n    .name = "npu",\n};\n',
    "lib/io/README.md": "Owns.\n",
    "lib/io/json.hpp": '// JSON.\n#pragma once\n#include "lib/base/fd.hpp"\n',
    "lib/io/json.cpp": '// JSON.\n#include "lib/io/json.hpp"\n#include "lib/base/fd.hpp"\n#include <nlohmann/json.hpp>\n#include <sys/stat.h>\n',
    "builder/README.md": "Owns.\n",
    "builder/agent.hpp": '// The agent.\n#pragma once\n#include "lib/io/json.hpp"\n',
    "builder/plan/README.md": "Owns.\n",
    "builder/plan/plan.hpp": '// The plan.\n#pragma once\n#include "lib/io/json.hpp"\n',
    "builder/schedule/README.md": "Owns.\n",
    "builder/schedule/row.hpp": "// A row.\n#pragma once\n",
    "builder/schedule/lsf/README.md": "Owns.\n",
    "builder/schedule/lsf/lsf_kind.cpp": '// LSF.\n#include "builder/schedule/row.hpp"\nRow lsf = {"lsf"};\n',
    "lib/io/http_client.hpp": "// HTTP.\n#pragma once\n",
    "registry/README.md": "Owns.\n",
    "lib/store/blobs/README.md": "Owns.\n",
    "lib/store/blobs/store.cpp": '// Opens.\n#include "lib/store/blobs/folder/folder_blobs.hpp"\nFolderBlobs blobs;\n',
    "lib/store/blobs/folder/README.md": "Owns.\n",
    "lib/store/blobs/folder/folder_blobs.hpp": '// Files.\n#pragma once\nauto root = data / "blobs" / "sha256";\n',
    "registry/http/README.md": "Owns.\n",
    "registry/main.cpp": '// Wiring.\n#include <CLI/CLI.hpp>\n#include "lib/io/json.hpp"\n',
    "lib/store/blobs/store.hpp": "// A store.\n#pragma once\n",
    "lib/store/store.hpp": "// The Store.\n#pragma once\n",
    "registry/open.cpp": '// Opens.\n#include "lib/io/json.hpp"\n#include "lib/store/blobs/store.hpp"\n#include "lib/store/store.hpp"\n',
    "lib/store/sqlite/README.md": "Owns.\n",
    "lib/store/sqlite/sqlite.hpp": '// SQLite, whose log is "-wal".\n#pragma once\n#include "lib/base/fd.hpp"\n',
    "lib/store/README.md": "Owns.\n",
    "lib/store/store.cpp": '// The Store in SQLite.\n#include "lib/store/sqlite/sqlite.hpp"\nauto log = "catalog.sqlite-wal";\n',
    "registry/server/README.md": "Owns.\n",
    "registry/server/serve.cpp": "// Serves what SQLite keeps.\n#include <string>  // SQLite's\n",
    "tests/README.md": "Owns.\n",
    "tests/io/README.md": "Owns.\n",
    "tests/io/json_test.cpp": '// Tests.\n#include <doctest/doctest.h>\n#include "lib/io/json.hpp"\n',
}

# What is broken, the file (replaced, or removed when None), its text, and what the complaint must say.
BREAKAGES = [
    ("a lower module includes a higher one", "lib/base/fd.hpp",
     '// A file descriptor.\n#pragma once\n#include "lib/io/json.hpp"\n', "lib/base/fd.hpp:3: forbidden include of module 'io'"),
    ("an edge that nothing uses", "registry/open.cpp",
     '// Opens.\n#include "lib/io/json.hpp"\n#include "lib/store/blobs/store.hpp"\n',
     "'registry' names 'database' and includes nothing of it"),
    ("the registry includes the builder", "registry/server.cpp",
     '// Serves.\n#include "builder/agent.hpp"\n', "registry/server.cpp:2: forbidden include of module 'builder'"),
    ("a folder in a module with folders includes what its module may not", "builder/schedule/lsf/lsf.hpp",
     '// LSF.\n#pragma once\n#include "lib/io/json.hpp"\n', "builder/schedule/lsf/lsf.hpp:3: forbidden include of module 'io'"),
    ("a program's wiring includes a module that its row does not name", "registry/main.cpp",
     '// Wiring.\n#include "builder/agent.hpp"\n', "the row of program 'the-registry' names only"),
    ("tests of a lower module include a higher one", "tests/io/json_test.cpp",
     '// Tests.\n#include "builder/agent.hpp"\n', "tests of 'io' may include only"),
    ("a library leaves its wrapper", "builder/plan.cpp",
     "// Plans.\n#include <nlohmann/json.hpp>\n", "(nlohmann-json) may only be included in"),
    ("a library in its wrapper's header", "lib/io/json.hpp",
     "// JSON.\n#pragma once\n#include <nlohmann/json.hpp>\n", "lib/io/json.hpp:3: <nlohmann/json.hpp>"),
    ("an indented include counts too", "builder/plan.cpp",
     "// Plans.\n  #  include <sqlite3.h>\n", "(SQLite) may only be included in"),
    ("a library nobody knows", "builder/plan.cpp",
     "// Plans.\n#include <absl/strings.h>\n", "has no row in tests/layers/third_party.py"),
    ("an include not spelled from the root", "lib/io/json.cpp",
     '// JSON.\n#include "json.hpp"\n', "spelled from the repository root"),
    ("product code includes tests", "builder/plan.cpp",
     '// Plans.\n#include "tests/README.md"\n', "only tests and benches include these"),
    ("a pure module reaches I/O through another header", "lib/io/json.hpp",
     '// JSON.\n#pragma once\n#include "lib/io/http_client.hpp"\n', "builder/plan/: must stay pure, but builder/plan/plan.hpp reaches lib/io/http_client.hpp"),
    ("a header without #pragma once", "lib/base/fd.hpp", "// A file descriptor.\n", "without #pragma once"),
    ("the code of an error is compared", "lib/io/json.cpp",
     '// JSON.\nbool gone = text.error().code == "os.ENOENT";\n', "lib/io/json.cpp:2: compares the code of an error"),
    ("the beginning of a code is compared", "registry/server.cpp",
     '// Serves.\nbool gone = error.code.starts_with("os.");\n', "registry/server.cpp:2: compares the code"),
    ("a code is compared with a name's value", "registry/server.cpp",
     "// Serves.\nbool over = lease.error().code != lease_over;\n", "registry/server.cpp:2: compares the code"),
    ("a code is compared from the other side", "registry/server.cpp",
     "// Serves.\nbool known = row.code == error.code;\n", "registry/server.cpp:2: compares the code"),
    ("a variable of that name is compared", "registry/server.cpp",
     '// Serves.\nbool known = code == "task.ended";\n', "registry/server.cpp:2: compares the code"),
    ("a code is looked for in a table", "registry/server.cpp",
     "// Serves.\nbool known = std::find(codes.begin(), codes.end(), error.code) != codes.end();\n",
     "registry/server.cpp:2: compares the code"),
    ("a condition asks a table for the code", "registry/server.cpp",
     "// Serves.\nvoid f() { if (find_rule(text.error().code) == nullptr) g(); }\n", "registry/server.cpp:2: compares the code"),
    ("a scheduler's name is compared", "builder/plan.cpp",
     '// Plans.\nbool batch = site.kind == "lsf";\n', "builder/plan.cpp:2: names a scheduler"),
    ("an accelerator's name is compared", "registry/server.cpp",
     '// Serves.  "npu" may be said here.\nbool has = kind == "npu";\n', "registry/server.cpp:2: names an accelerator"),
    ("the header of a kind of blob store is included", "registry/server.cpp",
     '// Serves.\n#include "lib/store/blobs/folder/folder_blobs.hpp"\n',
     "registry/server.cpp:2: knows a kind of blob store or its files"),
    ("a kind of blob store is named", "registry/server.cpp",
     "// Serves.\nauto* files = dynamic_cast<const blobs::FolderBlobs*>(&store);\n", "registry/server.cpp:2: knows a kind of blob store"),
    ("the path of a blob is put together", "registry/server.cpp",
     '// Serves.\nauto blob = data / "blobs" / hash;\n', "registry/server.cpp:2: knows a kind of blob store"),
    ("the path of a blob is one text", "registry/server.cpp",
     '// Serves.\nauto blob = data + "/blobs/sha256/" + hash;\n', "registry/server.cpp:2: knows a kind of blob store"),
    ("a file of the database is named outside its folder", "registry/server.cpp",
     '// Serves.\nauto file = folder / "catalog.sqlite";\n', "registry/server.cpp:2: names the engine behind the Store"),
    ("a companion of the database is named outside its folder", "registry/server.cpp",
     '// Serves.\nauto log = file + "-wal";\n', "registry/server.cpp:2: names the engine behind the Store"),
    ("a branch on the engine", "registry/server.cpp",
     "// Serves.\nif (store.engine() == Engine::Sqlite) f();\n", "registry/server.cpp:2: names the engine behind the Store"),
    ("the other engine is opened outside its folder", "registry/server.cpp",
     '// Serves. A configuration may say "postgres://host".\nauto catalog = catalog::open_postgres_catalog(target);\n',
     "registry/server.cpp:2: names the engine behind the Store"),
    ("wiring includes the engine's module", "registry/main.cpp",
     '// Wiring.\n#include "lib/store/sqlite/sqlite.hpp"\n', "registry/main.cpp:2: names the engine behind the Store"),
    ("a program prints by itself", "registry/main.cpp", '// "printf".\nint main() { std::printf("x"); }\n', "registry/main.cpp:2: prints"),
    ("markup in the C++ of a page", "registry/http/page.cpp",
     '// Shows <b>.\nauto text = std::string("<p class=\\"quiet\\">") + name;\n', "registry/http/page.cpp:2: has markup"),
    ("an end tag behind a quoted mark", "registry/http/page.cpp",
     "// Shows.\nauto text = name + '\"' + \"</td>\";\n", "registry/http/page.cpp:2: has markup"),
    ("markup in a raw text", "registry/http/page.cpp",
     '// Shows.\nauto text = R"(a "b"\n<br>)";\n', "registry/http/page.cpp:2: has markup"),
    ("a file that does not say what it is for", "builder/plan.cpp", "int main() {}\n", "what the file is for"),
    ("a folder without README", "registry/README.md", None, "registry/: no README.md"),
    ("another suffix would go unbuilt", "builder/plan.cc", "// Plans.\n", "sources are .hpp and .cpp"),
]


def check(files: dict[str, str | None]) -> tuple[int, str]:
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            if text is not None:
                target = Path(folder) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
        done = subprocess.run([sys.executable, "-B", HERE / "check_layers.py", folder], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class LayersTest(unittest.TestCase):
    def test_a_clean_tree_passes(self):
        code, output = check(CLEAN)
        self.assertEqual((code, output), (0, "layers: 0 complaints\n"))

    def test_every_breakage_is_detected(self):
        for what, path, text, complaint in BREAKAGES:
            with self.subTest(what):
                code, output = check(CLEAN | {path: text})
                self.assertEqual(code, 1, output)
                self.assertIn(complaint, output)
                self.assertIn("layers: 1 complaints", output)

    def test_a_code_may_be_shown_and_tests_may_compare_it(self):
        code, output = check(CLEAN | {
            "registry/server.cpp": '// Serves.\nvoid f() { log({{"code", problem.error().code}}); }\nint g = exit_code == 0;\n',
            "tests/io/json_test.cpp": '// Tests.\nCHECK(text.error().code == "os.ENOENT");\n'})
        self.assertEqual((code, output), (0, "layers: 0 complaints\n"))

    def test_blobs_may_be_counted_and_a_comment_may_say_where_they_lie(self):
        code, output = check(CLEAN | {
            "registry/server.cpp": '// TO/blobs/sha256/ab/<hash>\nauto n = {{"blobs", count}};\nblobs::SavedBlobs saved;  // to / "blobs"\n'})
        self.assertEqual((code, output), (0, "layers: 0 complaints\n"))

    def test_a_page_may_compare_and_the_layer_of_templates_may_have_markup(self):
        code, output = check(CLEAN | {
            "registry/http/page.cpp": '// <b>\nbool less = "a" <b && text == "1 < 2 /<index>/"; // "<b>"\n',
            "lib/page/README.md": "# Pages\n", "lib/page/html.cpp": '// Escapes.\nauto text = "<p>";\n',
            "registry/server.cpp": '// Serves.\nauto text = "<sha256>";\n'})
        self.assertEqual((code, output), (0, "layers: 0 complaints\n"))

    def test_a_cycle_in_the_table_is_refused(self):
        code, output = check(CLEAN | {"cmake/layers.cmake": LAYERS.replace("lib/base)", "lib/base io)")})
        self.assertEqual(code, 1)
        self.assertIn("'base' may include 'io', which has no row above it", output)

    def test_a_module_belongs_to_the_group_above_its_row(self):
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "cmake" / "layers.cmake"
            table.parent.mkdir()
            table.write_text("wheelyard_group(low: what all share)\nwheelyard_layer(base lib/base)\nwheelyard_layer(io lib/io base)\n"
                             "wheelyard_group(high: the rest)\nwheelyard_layer(plan builder/plan base)\n")
            low, high = layer_table.read_groups(Path(folder))
            self.assertEqual((low.name, low.purpose, low.modules), ("low", "what all share", ("base", "io")))
            self.assertEqual((high.name, high.modules), ("high", ("plan",)))
            table.write_text("wheelyard_layer(base lib/base)\n")
            with self.assertRaisesRegex(SystemExit, "'base' has no wheelyard_group above it"):
                layer_table.read_groups(Path(folder))

    def test_the_real_tree_has_a_forbidden_include_when_one_is_added(self):
        root = HERE.parents[1]
        files = {name: (root / "cmake" / name.split("/")[1]).read_text()
                 for name in ("cmake/layers.cmake", "cmake/programs.cmake")}
        files["builder/agent.hpp"] = "// The agent.\n#pragma once\n"
        files["registry/server.cpp"] = '// Serves.\n#include "builder/agent.hpp"\n'
        code, output = check(files)
        self.assertEqual(code, 1)
        self.assertIn("registry/server.cpp:2: forbidden include of module 'builder'", output)


if __name__ == "__main__":
    unittest.main()
