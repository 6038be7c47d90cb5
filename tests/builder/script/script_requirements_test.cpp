// The requirements of a wheel before it is built: the rendered query runs in a real Python, with back ends of
// a few lines.
#include "builder/script/script_frame.hpp"

#include <doctest/doctest.h>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;
using testing::write;

// A back end that reports requirements in METADATA, and prints to stdout like its tools do.
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
    [[nodiscard]] ScriptInput input() const {
        return {site, recipe, attempt, "/usr/bin/python3", {folder.path()}};
    }
    [[nodiscard]] Asked ask() const {
        const base::Finished done = run(render_needs(input()));
        REQUIRE_MESSAGE(done.exit_code == 0, done.err);
        return {testing::read(folder.path() / "needs.txt"), done.out + done.err};
    }
    [[nodiscard]] base::Finished run(const std::string& script) const {
        base::Command command;
        command.environment = base::current_environment();
        command.argv = {"/bin/bash",
                        "-eu",
                        "-o",
                        "pipefail",
                        "-c",
                        "folder=" + base::quote_shell(folder.path().string()) +
                            "\nPATH=$folder/bin:$PATH\ncd \"$folder/tree\"\n" + script};
        const auto done = base::run_command(command);
        REQUIRE(done.has_value());
        return *done;
    }
};

TEST_CASE("a build begins with the newest tools that are allowed, and continues with those that began it") {
    Project project;
    project.attempt.source.build_requires = {"setuptools"};
    const auto installs = [&project](const std::string& line) {
        return render_script(project.input()).find("\n" + line + "\n") != std::string::npos;
    };
    CHECK(installs("pip_install --upgrade --upgrade-strategy eager setuptools"));
    project.attempt.job.builds_in = "w1ng00000000000";
    CHECK(installs("pip_install setuptools"));
}

TEST_CASE("a closure's build environment is installed by the names and hashes of the index's wheels") {
    Project project;
    project.attempt.asked.closure = ClosurePart{};
    CHECK(render_lock(project.input(), "pip_install").empty());
    project.attempt.asked.closure->lock = {{"Yard_Tool-2.0+here-py3-none-any.whl", "sha256:cc"},
                                           {"setuptools-59.8-py3-none-any.whl", "sha256:dd"}};
    const std::string script = render_lock(project.input(), "pip_install");
    CHECK(script.find("'yard-tool==2.0+here --hash=sha256:cc'") != std::string::npos);
    CHECK(script.find("'setuptools==59.8 --hash=sha256:dd'") != std::string::npos);
    CHECK(script.find("--no-deps --require-hashes") != std::string::npos);
}

TEST_CASE("what is not a requirement never reaches pip, from pyproject.toml or from the back end") {
    const Project project;
    for (const char* entry : {"--help", "-e .", "attrs\\n--index-url=https://example.org", "./local"}) {
        CAPTURE(entry);
        project.put("pyproject.toml", "[project]\nname = \"demo\"\ndependencies = [\"attrs\", \"" +
                                          std::string(entry) + "\"]\n");
        CHECK(project.run(render_needs(project.input())).exit_code != 0);
        project.put("back_end.py",
                    "def get_requires_for_build_wheel(settings=None):\n    return [\"wheel\", \"" +
                        std::string(entry) + "\"]\n");
        CHECK(project.run(render_asking(project.input())).exit_code != 0);
    }
    project.put("back_end.py",
                "def get_requires_for_build_wheel(settings=None):\n    return [\"wheel>=0.40\"]\n");
    CHECK(project.run(render_asking(project.input())).exit_code == 0);
    CHECK(testing::read(project.folder.path() / "requires.txt") == "wheel>=0.40\n");
}

TEST_CASE("static dependencies in pyproject.toml are used without querying the back end") {
    const Project project;
    project.put("back_end.py", "raise RuntimeError('asked')");
    project.put("pyproject.toml", "[project]\nname = \"demo\"\ndependencies = [\"attrs\", \"numpy<3\"]\n");
    CHECK(project.ask().needs == "attrs\nnumpy<3\n");
    project.put("pyproject.toml", "[project]\nname = \"demo\"\n");  // no dependencies
    CHECK(project.ask().needs == "\n");
}

TEST_CASE("dynamic dependencies come from the back end, and its output is not taken for requirements") {
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

TEST_CASE("the package that a wheel is built against is left out") {
    Project project;
    project.attempt.asked.against = "torch==2.4.0+cu123";
    CHECK(project.ask().needs == "numpy>=1\nrich; extra == 'x'\n");
}

TEST_CASE("requirements that are unknown before the build are noted in the log") {
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
