// The command of the namespace, run by a real bash with a stand-in for bubblewrap that prints what it was given.
#include "builder/script/separate_script.hpp"

#include <doctest/doctest.h>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view stand_in = R"sh(#!/bin/bash
if test "$1" = --help; then
    echo "    --size BYTES    of a tmpfs"
    exit
fi
printf '%s\n' "$@"
env | sort | sed 's/^/env: /'
)sh";
constexpr std::string_view printing_bound = R"sh(#!/bin/bash
shift # the word `bound`
while test "$1" != --; do
    echo "bound: $1 $2"
    shift; test "$1" = -- || shift
done
shift
exec "$@"
)sh";

struct Namespace {
    base::TempDir dir = *base::TempDir::make("separate");
    Site site;
    std::string program = std::string(stand_in);

    Namespace() {
        site.uploaded_sources = UploadedSources{dir.path() / "it's bwrap", {"/cvmfs/a b"}};
        site.governor.program = dir.path() / "the governor";
        site.cores = 4;
    }
    // What `command` gives to bubblewrap: arguments and variables, one a line.
    [[nodiscard]] std::string seen(const std::string& command, const EnvironmentMap& environment,
                                   const NamespaceBounds& job = {}) const {
        testing::write(site.uploaded_sources->bubblewrap, program, 0755);
        testing::write(site.governor.program, printing_bound, 0755);
        base::Command run;
        run.argv = {"/bin/bash", "-euc",
                    "folder=" + base::quote_shell(dir.path().string()) + "\n" + render_namespaces(site, job) +
                        command};
        run.environment = environment;
        const auto finished = base::run_command(run);
        REQUIRE(finished.has_value());
        CHECK_MESSAGE(finished->exit_code == 0, finished->err);
        return base::replace_all(finished->out, dir.path().string(), "FOLDER");
    }
};

const EnvironmentMap little = {{"PATH", "/usr/bin:/bin"}};

bool has_line(const std::string& text, const std::string& line) {
    const auto lines = base::split_lines(text);
    return std::find(lines.begin(), lines.end(), line) != lines.end();
}

TEST_CASE("a namespace sees the listed folders and variables, and nothing else of the agent's") {
    const Namespace scene;
    const std::string out = scene.seen("separately script.sh", {{"PATH", "/usr/bin:/bin"},
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
    for (const std::string word : {"secret", "/home/agent", "/lustre", "--share-net", "/run/"}) {
        CAPTURE(word);
        CHECK(out.find(word) == std::string::npos);
    }
    // The attempt's folder comes after the others, so that no other mount hides it; then nothing else can be written.
    CHECK(out.find("FOLDER/separate\nFOLDER\n--ro-bind\nFOLDER/fetch/wheelhouse\nFOLDER/"
                   "wheelhouse\n--remount-ro\n/\n"
                   "--chdir\nFOLDER\n/bin/bash\nFOLDER/script.sh\n") != std::string::npos);
    CHECK(out.find("--dev\n/dev\n--size\n536870912\n--tmpfs\n/dev/shm\n--remount-ro\n/dev\n") !=
          std::string::npos);
}

TEST_CASE("the code of a source has no network; what fetches for it has, and writes in a folder of its own") {
    const Namespace scene;
    CHECK(has_line(scene.seen("separately ask.sh needs", little), "--unshare-net"));
    const std::string fetching = scene.seen("fetching", little);
    CHECK_FALSE(has_line(fetching, "--unshare-net"));
    CHECK(
        fetching.find("--ro-bind\nFOLDER/separate\nFOLDER/separate\n--bind\nFOLDER/fetch\nFOLDER/fetch\n") !=
        std::string::npos);
    CHECK(fetching.find("--bind\nFOLDER/separate") == std::string::npos);
    CHECK(fetching.find("FOLDER/scratch") == std::string::npos);
}

TEST_CASE("the limits of a namespace come from the job and the site file") {
    Namespace scene;
    const auto bounds = [&](const NamespaceBounds& job = {}) {
        const std::string out = scene.seen("separately script.sh", little, job);
        return out.substr(0, out.find("bound: --folder"));
    };
    CHECK(bounds() ==
          "bound: --processes 576\nbound: --memory 8192M\nbound: --disk 20G\nbound: --idle 1800\n");
    CHECK(bounds({4096, 60}) ==
          "bound: --processes 576\nbound: --memory 4096M\nbound: --disk 20G\nbound: --idle 1800\nbound: "
          "--seconds 4200\n");
    scene.site.uploaded_sources->processes = 99;
    scene.site.uploaded_sources->memory_mib = 100;
    scene.site.uploaded_sources->disk_gib = 3;
    scene.site.uploaded_sources->shm_mib = 1;
    scene.site.uploaded_sources->idle_s = 90;
    CHECK(bounds() == "bound: --processes 99\nbound: --memory 100M\nbound: --disk 3G\nbound: --idle 90\n");
    CHECK(has_line(scene.seen("separately script.sh", little), "1048576"));
}

TEST_CASE(
    "where bubblewrap cannot bound a tmpfs, /dev/shm lies on the disk; where it can, no namespace is made in "
    "one") {
    Namespace scene;
    scene.program = base::replace_all(stand_in, "--size", "--other");
    CHECK(scene.seen("separately script.sh", little).find("--bind\nFOLDER/shm\n/dev/shm\n--remount-ro\n") !=
          std::string::npos);
    CHECK_FALSE(has_line(scene.seen("separately script.sh", little), "--disable-userns"));
    scene.program = base::replace_all(stand_in, "of a tmpfs", "x\n    --disable-userns   x");
    CHECK(has_line(scene.seen("separately script.sh", little), "--disable-userns"));
}

TEST_CASE("a build in a namespace uses no compiler cache, no scratch folder of the site and no network") {
    Site site;
    site.compiler_cache_gib = 20;
    site.temporary = "/scratch/${USER}";
    CHECK(for_namespace(site).compiler_cache_gib == 0);
    CHECK(for_namespace(site).temporary.empty());
    CHECK(for_namespace(site).offline_jobs);
}

}  // namespace
}  // namespace wheelyard::builder
