// Logs of builds that made a pure wheel of a source with an extension. The lines are those of the projects'
// own setup.py and of setuptools.
#include "builder/steps/built_wheel.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/temp_dir.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

using testing::Farm;
namespace fs = std::filesystem;

const std::string build_phase = "@@wheelyard phase=build at=2026-11-28T08:00:00Z\n";

// What markupsafe 3.0.2 prints where there is no compiler (pip wheel --verbose).
const std::string markupsafe =
    "  running build_ext\n"
    "  building 'markupsafe._speedups' extension\n"
    "  creating build/temp.linux-x86_64-cpython-311/src/markupsafe\n"
    "  gcc -fno-strict-overflow -Wsign-compare -DNDEBUG -c src/markupsafe/_speedups.c -o "
    "build/temp/_speedups.o\n"
    "  error: command 'gcc' failed: No such file or directory\n"
    "  *****************************************************************\n"
    "  WARNING: The C extension could not be compiled, speedups are not enabled.\n"
    "  Failure information, if any, is above.\n"
    "  Retrying the build without the C extension now.\n"
    "  WARNING: Plain-Python build succeeded.\n"
    "  Successfully built MarkupSafe\n";

TEST_CASE("an extension that was begun or left out is found, with the reason if a later line has it") {
    struct Row {
        std::string log;
        const char* found;  // nullptr: nothing
    };
    const Row rows[] = {
        {build_phase + markupsafe, "error: command 'gcc' failed: No such file or directory"},
        {markupsafe, "error: command 'gcc' failed"},
        {build_phase + "building extension \"x._fast\" failed: command 'cc' failed with exit code 1\n",
         "building extension \"x._fast\" failed"},
        {build_phase + "* Pure Python build *\n", "Pure Python build"},
        {build_phase + "** Couldn't install with extension module, trying without it...\n", "without it"},
        {build_phase + "Build optional Rust extension demo._rust failed.\n", "Rust extension"},
        {build_phase + "building 'a.b' extension\nIn file included from x.c:1:\nx.c:3:10: fatal error: "
                       "Python.h: No such "
                       "file or directory\n",
         "Python.h"},
        {build_phase + "running build_py\ncopying demo.py -> build/lib\nrunning bdist_wheel\n", nullptr},
        // What it requires may be built before, with an extension of its own.
        {"@@wheelyard phase=venv at=1\nbuilding 'cython.x' extension\n" + build_phase +
             "running bdist_wheel\n",
         nullptr},
        {"", nullptr},
    };
    for (const auto& row : rows) {
        CAPTURE(row.log);
        const auto found = find_left_out_extension(row.log);
        REQUIRE(found.has_value() == (row.found != nullptr));
        if (found) CHECK(found->text.find(row.found) != std::string::npos);
    }
    CHECK(find_left_out_extension(build_phase + markupsafe)->number == 6);
}

TEST_CASE("a project's own build files say that it can have an extension") {
    struct Row {
        const char* file;
        const char* text;
        const char* found;
    };
    const Row rows[] = {
        {"setup.py", "from mypyc.build import mypycify\nsetup(ext_modules=mypycify(['a.py']))\n",
         "ext_modules in setup.py"},
        {"setup.py", "MYPYC_MODULES = mypycify([])\n", "mypycify in setup.py"},
        {"pyproject.toml", "[build-system]\nrequires = [\"setuptools\", \"cython\"]\n",
         "cython in pyproject.toml"},
        {"setup.py", "from setuptools import setup\nsetup()\n", ""},
    };
    for (const auto& row : rows) {
        const auto folder = base::TempDir::make("project").value();
        testing::write(folder.path() / row.file, row.text);
        CHECK(extension_in_source(folder.path()) == row.found);
    }
}

TEST_CASE("a pure wheel after a compile that failed is no success; after retry it is built again") {
    Farm farm;
    testing::write(farm.folder.path() / "warns", markupsafe);
    TickReport report = farm.settle();
    REQUIRE(farm.attempts().size() == 1);
    const Attempt failed = farm.attempts().front();
    REQUIRE(failed.failure.has_value());
    CHECK(failed.failure->error.code == "build.extension_missing");
    CHECK(failed.failure->first_error.find("command 'gcc' failed") != std::string::npos);
    CHECK(failed.failure->line > 0);
    CHECK(farm.registry.uploads == 0);
    CHECK(report.plan.cells.front().state == CellState::given_up);
    CHECK(report.plan.cells.front().reason.find("The build left an extension out") != std::string::npos);
    fs::remove(farm.folder.path() / "warns");  // the compiler is there now
    REQUIRE(Agent(farm.parts()).retry("demo-1.0-cp311").has_value());
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 2);
}

TEST_CASE("a recipe says whether a wheel needs its extension") {
    struct Row {
        ExtensionWish wish;
        bool has_line;
        CellState state;
    };
    for (const Row& row : {Row{ExtensionWish::unsaid, false, CellState::have},
                           Row{ExtensionWish::optional, true, CellState::have},
                           Row{ExtensionWish::required, false, CellState::given_up}}) {
        Farm farm;
        Recipe recipe = farm.recipes.of("demo", "1.0", "cpu");
        recipe.extension = row.wish;
        farm.recipes.add(recipe);
        if (row.has_line) testing::write(farm.folder.path() / "warns", markupsafe);
        CHECK(farm.settle().plan.cells.front().state == row.state);
    }
}

TEST_CASE("a pure wheel of a source that can have an extension is published with a notice") {
    Farm farm;
    testing::write(farm.folder.path() / "project" / "setup.py", "setup(ext_modules=mypycify(['demo.py']))\n");
    const TickReport report = farm.settle();
    const Cell& cell = report.plan.cells.front();
    CHECK(cell.state == CellState::have);
    CHECK(cell.reason.find("demo-1.0-py3-none-any.whl, without an extension") == 0);
    CHECK(cell.reason.find("ext_modules in setup.py") != std::string::npos);
    CHECK(farm.registry.provenance.find("\"notice\":\"without an extension") != std::string::npos);
    const auto again = parse_attempt(render_attempt(farm.attempts().front()));
    REQUIRE(again.has_value());
    CHECK(again->wheel.notice == farm.attempts().front().wheel.notice);
}

}  // namespace
}  // namespace wheelyard::builder
