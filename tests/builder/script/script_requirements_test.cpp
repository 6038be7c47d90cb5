// What a wheel will ask for, known before it is built: the rendered question is asked of a real Python, with
// back ends of a few lines.
#include "builder/script/script_requirements.hpp"

#include <doctest/doctest.h>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;
using testing::write;

// A back end whose answer stands in METADATA, and that prints as its tools do.
constexpr std::string_view back_end = R"py(
import os, pathlib
def prepare_metadata_for_build_wheel(folder, config_settings=None):
    print("running dist_info")
    os.system("echo a tool is at work")
    info = pathlib.Path(folder, "demo-1.dist-info")
    info.mkdir()
    (info / "METADATA").write_text("Name: demo\nRequires-Dist: numpy>=1\nRequires-Dist: Torch (>=2)\n"
                                   "Requires-Dist: rich; extra == 'x'\n\nRequires-Dist: prose\n")
    return info.name
)py";

struct Asked {
    std::string needs;
    std::string log;
};

struct Project {
    base::TempDir folder = *base::TempDir::make("needs");
    Site site;
    Recipe recipe = default_recipe("demo");
    Attempt attempt;

    Project() {
        attempt.source.back_end = "back_end";
        attempt.source.back_end_path = {"."};
        write(folder.path() / "bin" / "python", "#!/bin/sh\nexec /usr/bin/env python3 \"$@\"\n", 0755);
        write(folder.path() / "tree" / "back_end.py", back_end);
    }
    void put(const std::string& name, std::string_view text) const {
        write(folder.path() / "tree" / name, text);
    }
    [[nodiscard]] Asked ask() const {
        const ScriptInput input{site, recipe, attempt, "/usr/bin/python3", {folder.path()}};
        base::Command command;
        command.environment = base::current_environment();
        command.argv = {"/bin/bash",
                        "-eu",
                        "-o",
                        "pipefail",
                        "-c",
                        "folder=" + base::quote_shell(folder.path().string()) +
                            "\nPATH=$folder/bin:$PATH\ncd \"$folder/tree\"\n" + render_needs(input)};
        const auto done = base::run_command(command);
        REQUIRE(done.has_value());
        REQUIRE_MESSAGE(done->exit_code == 0, done->err);
        return {testing::read(folder.path() / "needs.txt"), done->out + done->err};
    }
};

TEST_CASE("what pyproject.toml says for good is taken, and no back end is asked") {
    const Project project;
    project.put("back_end.py", "raise RuntimeError('asked')");
    project.put("pyproject.toml", "[project]\nname = \"demo\"\ndependencies = [\"attrs\", \"numpy<3\"]\n");
    CHECK(project.ask().needs == "attrs\nnumpy<3\n");
    project.put("pyproject.toml", "[project]\nname = \"demo\"\n");  // it asks for nothing
    CHECK(project.ask().needs == "\n");
}

TEST_CASE("a back end is asked where pyproject.toml leaves it to it, and what it prints is no requirement") {
    const Project project;
    for (const std::string pyproject : {"", "[project]\nname = \"demo\"\ndynamic = [\"dependencies\"]\n"}) {
        CAPTURE(pyproject);
        if (!pyproject.empty()) project.put("pyproject.toml", pyproject);
        const Asked asked = project.ask();
        CHECK(asked.needs == "numpy>=1\nTorch (>=2)\nrich; extra == 'x'\n");
        CHECK(asked.log.find("a tool is at work") != std::string::npos);
        CHECK(asked.log.find("running dist_info") != std::string::npos);
    }
}

TEST_CASE("what a wheel is built against is not asked for a second time") {
    Project project;
    project.attempt.against = "torch==2.4.0+cu123";
    CHECK(project.ask().needs == "numpy>=1\nrich; extra == 'x'\n");
}

TEST_CASE("where nobody can say before the build, the log says whose turn it is") {
    Project project;
    for (const char* broken : {"raise SystemExit(1)", "", "import nothing_of_this_name"}) {
        CAPTURE(broken);
        project.put("back_end.py", broken);
        const Asked asked = project.ask();
        CHECK(asked.needs == "\n");
        CHECK(asked.log.find("test.requires") != std::string::npos);
    }
    project.put("back_end.py", back_end);
    project.recipe.front_end = "setup-py";
    CHECK(project.ask().needs == "\n");
    project.put("pyproject.toml", "[project]\nname = \"demo\"\ndependencies = [\"attrs\"]\n");
    CHECK(project.ask().needs == "attrs\n");
}

}  // namespace
}  // namespace wheelyard::builder
