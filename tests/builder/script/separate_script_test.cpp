// The command of the namespace, run by a real bash with a stand-in for bubblewrap that prints what it was given.
#include "builder/script/separate_script.hpp"

#include <doctest/doctest.h>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view stand_in = R"sh(#!/bin/bash
printf '%s\n' "$@"
env | sort | sed 's/^/env: /'
)sh";

// The arguments and variables of bubblewrap, one a line.
std::string seen(Network network, const EnvironmentMap& environment) {
    const auto dir = *base::TempDir::make("separate");
    testing::write(dir.path() / "it's bwrap", stand_in, 0755);
    Site site;
    site.uploaded_sources = UploadedSources{dir.path() / "it's bwrap", {"/cvmfs/a b"}};
    base::Command command;
    command.argv = {"/bin/bash", "-euc",
                    "folder=" + base::quote_shell(dir.path().string()) + "\n" +
                        render_namespace(site, network, "script.sh")};
    command.environment = environment;
    const auto finished = base::run_command(command);
    REQUIRE(finished.has_value());
    CHECK_MESSAGE(finished->exit_code == 0, finished->err);
    CHECK(fs::is_directory(dir.path() / "scratch"));
    return base::replace_all(finished->out, dir.path().string(), "FOLDER");
}

bool has_line(const std::string& text, const std::string& line) {
    const auto lines = base::split_lines(text);
    return std::find(lines.begin(), lines.end(), line) != lines.end();
}

TEST_CASE("a namespace sees the listed folders and variables, and nothing else of the agent's") {
    const std::string out = seen(Network::shared, {{"PATH", "/usr/bin:/bin"},
                                                   {"HOME", "/home/agent"},
                                                   {"LANG", "C.UTF-8"},
                                                   {"TMPDIR", "/lustre/tmp"},
                                                   {"WHEELYARD_TOKEN", "secret"}});
    for (const std::string line :
         {"--unshare-user", "--unshare-pid", "--die-with-parent", "--new-session", "/cvmfs/a b",
          "FOLDER/separate", "FOLDER/script.sh", "env: LANG=C.UTF-8"}) {
        CAPTURE(line);
        CHECK(has_line(out, line));
    }
    for (const std::string word :
         {"secret", "/home/agent", "/lustre", "--share-net", "--unshare-net", "/run/"}) {
        CAPTURE(word);
        CHECK(out.find(word) == std::string::npos);
    }
    // The attempt's folder comes last: no other mount hides it.
    CHECK(out.find("FOLDER/separate\nFOLDER\n--chdir\nFOLDER\n/bin/bash\nFOLDER/script.sh\n") !=
          std::string::npos);
}

TEST_CASE("a job without a network has none in its namespace") {
    CHECK(has_line(seen(Network::none, {{"PATH", "/usr/bin:/bin"}}), "--unshare-net"));
}

TEST_CASE("a build in a namespace uses no compiler cache and no scratch folder of the site") {
    Site site;
    site.compiler_cache_gib = 20;
    site.temporary = "/scratch/${USER}";
    CHECK(for_namespace(site).compiler_cache_gib == 0);
    CHECK(for_namespace(site).temporary.empty());
}

}  // namespace
}  // namespace wheelyard::builder
