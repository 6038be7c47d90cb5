// The part of the script, run by a real bash with a stand-in for ccache on PATH.
#include "builder/script/script_frame.hpp"

#include <doctest/doctest.h>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

std::string render(std::int64_t gib, Purpose purpose) {
    Site site;
    site.work_directory = "/scratch/it's work";
    site.compiler_cache_gib = gib;
    Attempt attempt;
    attempt.asked.purpose = purpose;
    const Recipe recipe = default_recipe("demo");
    return render_compiler_cache({site, recipe, attempt, "/usr/bin/python3", {"/scratch/attempts/w1"}});
}

// What the build would see: `before` runs first.
std::string seen(const std::string& before, bool has_ccache = true, bool has_cmake = false) {
    const auto folder = *base::TempDir::make("cache");
    testing::write(folder.path() / "bin/python", "#!/bin/bash\necho gcc-of-python -pthread\n", 0755);
    if (has_ccache) testing::write(folder.path() / "bin/ccache", "#!/bin/bash\n", 0755);
    if (has_cmake) testing::write(folder.path() / "CMakeLists.txt", "");
    base::Command command;
    command.argv = {"/bin/bash", "-c",
                    "set -eu; cd " + base::quote_shell(folder.path().string()) + "\nbuild=/b; " + before +
                        "\n" + render(20, Purpose::build) +
                        "\necho \"${CC-none}|${CXX-none}|${CMAKE_C_COMPILER_LAUNCHER-none}|"
                        "${CMAKE_CUDA_COMPILER_LAUNCHER-none}|${CCACHE_DIR-none}|${CCACHE_MAXSIZE-none}\""};
    command.environment = EnvironmentMap{{"PATH", (folder.path() / "bin").string()}};
    const auto finished = base::run_command(command);
    REQUIRE(finished.has_value());
    CHECK(finished->exit_code == 0);
    return std::string(base::trim(finished->out)) + finished->err;
}

TEST_CASE("a build finds the site's cache as a launcher of CMake, or in front of its compilers") {
    const std::string cache = "/scratch/it's work/ccache|20Gi";
    const std::string python = "gcc-of-python -pthread";
    CHECK(seen("") == "ccache " + python + "|ccache " + python + "|none|none|" + cache);
    CHECK(seen("export CC=gcc-12 CXX='ccache g++'") == "ccache gcc-12|ccache g++|none|none|" + cache);
    CHECK(seen("", true, true) == "none|none|ccache|ccache|" + cache);
    CHECK(seen("export CC=gcc-12 CMAKE_C_COMPILER_LAUNCHER=sccache", true, true) ==
          "gcc-12|none|sccache|ccache|" + cache);
    const std::string without = seen("", false);
    CHECK(without.find("There is no ccache on PATH") != std::string::npos);
    CHECK(without.find("none|none|none|none|none|none") != std::string::npos);
}

TEST_CASE("a site without a cache has none, and no reproduction uses one") {
    CHECK(render(0, Purpose::build).empty());
    CHECK(render(20, Purpose::reproduction).empty());
    CHECK_FALSE(render(20, Purpose::build).empty());
}

}  // namespace
}  // namespace wheelyard::builder
