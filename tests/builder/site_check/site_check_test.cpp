// The disk space that a site needs, computed without checking the machine.
#include "builder/site_check/site_check.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "lib/base/limits.hpp"
#include "lib/base/process/process.hpp"
#include "tests/builder/fake_farm.hpp"
#include "tests/support/loopback_server.hpp"

namespace wheelyard::builder {
namespace {

TEST_CASE("a site that builds sdists needs less space than one that clones") {
    Site site;
    Want want;
    want.package = "demo";
    site.wants.push_back(want);
    Recipes recipes;
    CHECK(min_work_bytes(site, recipes) == 2 * base::gib);
    Recipe other = default_recipe("torch");
    other.source = SourceKind::git;
    recipes.add(other);  // not wanted here
    CHECK(min_work_bytes(site, recipes) == 2 * base::gib);
    site.wants.front().package = "torch";
    CHECK(min_work_bytes(site, recipes) == 20 * base::gib);
}

// A site with PBS, whose programs are these scripts.
struct PbsPlace {
    base::TempDir folder = *base::TempDir::make("check");
    Site site;
    PbsPlace() {
        site.scheduler = find_scheduler_kind("pbs");
        site.state_directory = folder.path() / "state";
        site.work_directory = folder.path() / "work";
        for (const char* name : {"qstat", "qsub"})
            program(name, "exit 0");
        program("qselect", "exit 0");
    }
    void program(const std::string& name, const std::string& text) const {
        testing::write(folder.path() / "bin" / name, "#!/bin/sh\n" + text + "\n", 0755);
    }
    [[nodiscard]] std::optional<SiteLine> line(const std::string& what) const {
        const auto lines =
            check_site(site, Recipes(), {{"PATH", (folder.path() / "bin").string() + ":/usr/bin:/bin"}});
        const auto found =
            std::find_if(lines.begin(), lines.end(), [&](const SiteLine& one) { return one.what == what; });
        return found == lines.end() ? std::nullopt : std::optional(*found);
    }
};

TEST_CASE_FIXTURE(PbsPlace, "a module that does not load has its reason, and git is there all the same") {
    testing::write(
        folder.path() / "lmod.sh",
        "module() {\n"
        "  case \"$*\" in 'load nosuch/1.0')\n"
        "    echo 'Lmod has detected the following error:  The following module(s) are unknown: "
        "\"nosuch/1.0\"' >&2\n"
        "    echo >&2; echo 'Please check the spelling or version number.' >&2\n"
        "    echo 'Also make sure that all modulefiles begin with the string #%Module' >&2; return 1;;\n"
        "  esac\n}\n");
    site.modules.init = (folder.path() / "lmod.sh").string();
    site.modules.load = {"nosuch/1.0"};
    site.launcher = "mpirun -n 2";
    program("mpirun", "exit 0");
    REQUIRE(line("module nosuch/1.0").has_value());
    CHECK(!line("module nosuch/1.0")->good);
    CHECK(line("module nosuch/1.0")->found == "The following module(s) are unknown: \"nosuch/1.0\"");
    REQUIRE(line("MPI launcher").has_value());
    CHECK(line("MPI launcher")->good);
    program("mpirun", "exit 0");
    site.launcher = "nosuchrun";
    CHECK(line("MPI launcher")->found == "`nosuchrun` was not found");
}

TEST_CASE_FIXTURE(PbsPlace, "a package that no source has is reported, and one that is there is not") {
    testing::write(folder.path() / "links" / "demo-1.0.tar.gz", "x");
    site.wants = {{"demo", {"latest"}, {}}, {"dmeo", {"latest"}, {}}};
    const auto lines = check_site(site, Recipes(),
                                  {{"PATH", "/usr/bin:/bin"},
                                   {"PIP_NO_INDEX", "1"},
                                   {"PIP_FIND_LINKS", (folder.path() / "links").string()}});
    std::vector<std::string> sources;
    for (const auto& one : lines) {
        if (one.what.starts_with("source of ")) sources.push_back(one.what);
    }
    CHECK(sources == std::vector<std::string>{"source of dmeo"});
}

TEST_CASE_FIXTURE(PbsPlace, "a repository that does not answer is reported, and one that does is not") {
    site.wants = {{"demo", {"1.0"}, {}}};
    const std::string repository = (folder.path() / "demo").string();
    const auto source_line = [&]() -> std::optional<SiteLine> {
        Recipe recipe = default_recipe("demo");
        recipe.source = SourceKind::git;
        recipe.url = repository;
        Recipes recipes;
        recipes.add(recipe);
        for (auto& one : check_site(site, recipes, {{"PATH", "/usr/bin:/bin"}, {"PIP_NO_INDEX", "1"}})) {
            if (one.what == "source of demo") return one;
        }
        return std::nullopt;
    };
    const auto missing = source_line();
    REQUIRE(missing.has_value());
    CHECK(!missing->good);
    CHECK(missing->found.find(repository) != std::string::npos);
    CHECK(missing->advice.starts_with("check the recipe's `url`"));
    base::Command make;
    make.argv = {"git", "init", "--quiet", repository};
    REQUIRE(base::run_command(make)->exit_code == 0);
    CHECK_FALSE(source_line().has_value());
}

// As the recipes of torch of the sites that take the upstream's wheels: the repository is that of the others.
TEST_CASE_FIXTURE(PbsPlace,
                  "a repository is not asked where every wanted version is taken from an upstream") {
    testing::write(folder.path() / "recipes/demo.toml",
                   "config_version = 1\npackage = \"demo\"\n[source]\nkind = \"git\"\nurl = \"file://" +
                       (folder.path() / "nowhere").string() +
                       "\"\n[[override]]\nversions = \"==1.*\"\n"
                       "source = { kind = \"upstream\", index = \"https://127.0.0.1:1/simple\" }\n");
    site.recipes = {folder.path() / "recipes"};
    const auto recipes = read_recipes(site);
    REQUIRE_MESSAGE(recipes.has_value(), recipes.error().text());
    const auto asks = [&](const std::vector<std::string>& versions) {
        site.wants = {{"demo", versions, {}}};
        const auto lines = check_site(site, *recipes, {{"PATH", "/usr/bin:/bin"}, {"PIP_NO_INDEX", "1"}});
        return std::any_of(lines.begin(), lines.end(),
                           [](const SiteLine& one) { return one.what == "source of demo"; });
    };
    CHECK_FALSE(asks({"1.0"}));
    CHECK(asks({"1.0", "2.0"}));
    CHECK(asks({"latest"}));
}

TEST_CASE_FIXTURE(PbsPlace, "a version that no source has is reported with the newest that is there") {
    testing::write(folder.path() / "links" / "demo-1.0.tar.gz", "x");
    testing::write(folder.path() / "links" / "demo-1.1.tar.gz", "x");
    site.wants = {{"demo", {"1.0", "1.1+cu126", ">=1,<2", "latest", "3.0.99", ">=4"}, {}}};
    std::vector<std::string> found, advice;
    for (const auto& one : check_site(site, Recipes(),
                                      {{"PATH", "/usr/bin:/bin"},
                                       {"PIP_NO_INDEX", "1"},
                                       {"PIP_FIND_LINKS", (folder.path() / "links").string()}})) {
        if (!one.what.starts_with("source of ")) continue;
        found.push_back(one.found.substr(0, one.found.find(" in ")));
        advice.push_back(one.advice);
    }
    CHECK(found == std::vector<std::string>{"no sdist of 3.0.99", "no sdist of >=4"});
    CHECK(advice.at(0) ==
          "correct `versions` in [[want]] (the newest version there is 1.1), or name its source in a recipe");
}

TEST_CASE_FIXTURE(PbsPlace, "the source of a want whose wheels are all there is not missed") {
    const wheelyard::testing::LoopbackServer index([](const wheelyard::testing::LoopbackRequest& request) {
        const std::string page =
            R"({"meta":{"api-version":"1.1"},"files":[{"filename":"demo-2.0-py3-none-any.whl",)"
            R"("url":"demo-2.0-py3-none-any.whl","hashes":{},"requires-python":"<3.99"},)"
            R"({"filename":"demo-3.0-py3-none-any.whl","url":"demo-3.0-py3-none-any.whl",)"
            R"("hashes":{},"requires-python":"<3"}]})";
        if (request.target != "/main/simple/demo/") return wheelyard::testing::LoopbackAnswer{404};
        return wheelyard::testing::LoopbackAnswer{
            200, page, {{"Content-Type", "application/vnd.pypi.simple.v1+json"}}};
    });
    site.registry = RegistrySettings{};
    site.registry->url = index.url("");
    site.registry->index = "main";
    program("python", R"(echo '{"implementation":"cpython","major":3,"minor":11,"full_version":"3.11.2",)"
                      R"("prefix":"/py","machine":"x86_64","libc":"glibc 2.36","free_threaded":false}')");
    site.pythons = {{"3.11", (folder.path() / "bin/python").string()}};
    const auto sources = [&] {
        std::vector<std::string> lines;
        for (const auto& one : check_site(site, Recipes(),
                                          {{"PATH", "/usr/bin:/bin"},
                                           {"PIP_NO_INDEX", "1"},
                                           {"PIP_FIND_LINKS", (folder.path() / "links").string()}})) {
            if (one.what.starts_with("source of "))
                lines.push_back((one.good ? "ok " : "FAIL ") + one.found.substr(0, one.found.find(" in ")));
        }
        return lines;
    };
    testing::write(folder.path() / "links" / "other-1.0.tar.gz", "x");
    site.wants = {{"demo", {"2.0"}, {"3.11"}}};
    CHECK(sources() == std::vector<std::string>{"ok no sdist"});
    testing::write(folder.path() / "links" / "demo-0.0.2.tar.gz", "x");
    CHECK(sources() == std::vector<std::string>{"ok no sdist of 2.0"});
    // No wheel of it, and one that no installer takes for this Python.
    site.wants = {{"demo", {"1.0", "2.0", "3.0"}, {"3.11"}}};
    CHECK(sources() ==
          std::vector<std::string>{"FAIL no sdist of 1.0", "ok no sdist of 2.0", "FAIL no sdist of 3.0"});
}

TEST_CASE_FIXTURE(PbsPlace, "a Python that is not there is named with its path, and fails no other check") {
    site.pythons = {{"3.11", (folder.path() / "bin/nosuch").string()}};
    site.pythons.front().modules = {"nosuch/1.0"};
    testing::write(folder.path() / "lmod.sh", "module() { case $1 in load) return 1;; esac; }\n");
    site.modules.init = (folder.path() / "lmod.sh").string();
    site.wants = {{"demo", {"latest"}, {}}};
    const auto lines = check_site(site, Recipes(), {{"PATH", "/usr/bin:/bin"}});
    const auto python = std::find_if(lines.begin(), lines.end(),
                                     [](const SiteLine& one) { return one.what == "Python 3.11"; });
    REQUIRE(python != lines.end());
    CHECK(!python->good);
    CHECK(python->found.find((folder.path() / "bin/nosuch").string()) != std::string::npos);
    for (const auto& one : lines) {
        if (one.what.starts_with("source of ") || one.what.find("compiler") != std::string::npos)
            CHECK_MESSAGE(one.good, (one.what + ": " + one.found));
    }
}

TEST_CASE_FIXTURE(PbsPlace, "an empty token file is said to be empty, with what to put into it") {
    site.registry = RegistrySettings{};
    site.registry->url = "http://127.0.0.1:1";
    site.registry->index = "main";
    site.registry->token_file = folder.path() / "main.token";
    testing::write(site.registry->token_file, "\n", 0600);
    const auto token = line("token file");
    REQUIRE(token.has_value());
    CHECK(!token->good);
    CHECK(token->found.starts_with("The token file is empty"));
    CHECK(token->advice.find("wheelyard-registry token create") != std::string::npos);
    testing::write(site.registry->token_file, "wy_1_2\n", 0600);
    CHECK(line("token file")->good);
}

TEST_CASE("what every build needs is required, and what a tick asks again is not") {
    const std::vector<SiteLine> lines = {{"C compiler cc", false, "cc: command not found", "install it"},
                                         {"Python 3.11", true, "3.11.2", ""},
                                         {"registry", false, "no answer", "ask", false}};
    CHECK(failed_requirements(lines) == std::vector<std::string>{"C compiler cc: cc: command not found"});
    CHECK(!all_good(lines));
}

TEST_CASE_FIXTURE(PbsPlace, "a site whose compiler is missing fails in what is required") {
    site.compilers.c = "no-such-compiler";
    site.launcher = "nosuchrun";
    REQUIRE(line("C compiler no-such-compiler").has_value());
    CHECK(!line("C compiler no-such-compiler")->good);
    CHECK(line("C compiler no-such-compiler")->required);
    CHECK(!line("MPI launcher")->required);
}

TEST_CASE_FIXTURE(PbsPlace, "a site that wants pure packages alone is not stopped without a compiler") {
    for (const char* name : {"cc", "c++"})
        program(name, "echo 'no compiler here' >&2; exit 1");
    site.pythons = {{"3.11", "/usr/bin/python3"}};
    site.wants = {{"demo", {"1.0"}, {}}, {"pure", {"latest"}, {}}};
    testing::write(folder.path() / "pip.conf",
                   "[global]\nno-index = true\nfind-links = " + (folder.path() / "links").string() + "\n");
    for (const char* name : {"demo-1.0.tar.gz", "demo-1.0-py3-none-any.whl", "pure-2.0.tar.gz",
                             "pure-2.0-py3-none-any.whl", "pure-1.0-cp311-cp311-linux_x86_64.whl"})
        testing::write(folder.path() / "links" / name, "x");
    const auto stops = [this](const Recipes& recipes = {}) {
        const auto failed =
            failed_requirements(check_site(site, recipes,
                                           {{"PATH", (folder.path() / "bin").string() + ":/usr/bin:/bin"},
                                            {"PIP_CONFIG_FILE", (folder.path() / "pip.conf").string()}}));
        return std::any_of(failed.begin(), failed.end(), [](const std::string& one) {
            return one.find("C compiler") != std::string::npos;
        });
    };
    CHECK(!stops());
    SUBCASE("an extension, by the index") {
        testing::write(folder.path() / "links" / "demo-1.0-cp311-cp311-linux_x86_64.whl", "x");
        CHECK(stops());
    }
    SUBCASE("no wheel says what it is, but its recipe does") {
        std::filesystem::remove(folder.path() / "links" / "demo-1.0-py3-none-any.whl");
        CHECK(stops());
        Recipe recipe = default_recipe("demo");
        recipe.extension = ExtensionWish::optional;
        Recipes recipes;
        recipes.add(recipe);
        CHECK(!stops(recipes));
    }
    SUBCASE("a compiler that the site names") {
        site.compilers.c = "cc";
        CHECK(stops());
    }
}

TEST_CASE("a reason is the program's message, without the number of a line of our script") {
    const auto answer = query_machine("true\nnosuch-compiler -c x.c", {{"PATH", "/usr/bin:/bin"}});
    CHECK(!answer.good);
    CHECK(answer.last_line == "nosuch-compiler: command not found");
    CHECK(reason_in("/bin/bash: line 12: module: command not found\n") == "module: command not found");
    CHECK(reason_in("bash: cc: command not found\n") == "bash: cc: command not found");
    // As Lmod 8.6 prints it.
    CHECK(reason_in(
              "Lmod has detected the following error: The following module(s) are unknown:\n\"foo/1.2\"\n\n"
              "Please check the spelling or version number. Also try \"module spider ...\"\n") ==
          "The following module(s) are unknown: \"foo/1.2\"");
}

TEST_CASE_FIXTURE(PbsPlace, "a Python without its headers is reported with the folders that were searched") {
    const auto real = base::find_program("python3");
    REQUIRE(real.has_value());
    base::Command command;
    command.argv = {real->string(), "-c", "import sys; print('%d.%d' % sys.version_info[:2], end='')"};
    const auto version = base::run_command(command);
    REQUIRE(version.has_value());
    const auto own = folder.path() / "own";
    const auto of_a_module = folder.path() / "module";
    // A Python that expects its headers in `own`.
    program("python", "shift 2\nexec " + real->string() +
                          " -I -c \"import sysconfig\nsysconfig.get_path = lambda name: '" + own.string() +
                          "'\n$1\"");
    site.pythons = {{version->out, (folder.path() / "bin/python").string()}};
    const std::string what = "headers of Python " + version->out;
    REQUIRE(line(what).has_value());
    CHECK(!line(what)->good);
    CHECK(line(what)->found == "no Python.h in " + own.string());
    CHECK(line(what)->advice.find("python3-dev") != std::string::npos);

    site.environment = {{"CPATH", of_a_module.string()}};
    CHECK(line(what)->found == "no Python.h in " + own.string() + ", " + of_a_module.string());
    testing::write(of_a_module / "Python.h", "");
    CHECK(line(what)->found == (of_a_module / "Python.h").string());
    testing::write(own / "Python.h", "");
    CHECK(line(what)->good);
    CHECK(line(what)->found == (own / "Python.h").string());
    // Modules leave `set -u` on; a variable that only jobs have is no fault of the headers.
    testing::write(folder.path() / "modules.sh", "module() { LOADEDMODULES=$2; }\n");
    site.modules.init = (folder.path() / "modules.sh").string();
    site.modules.load = {"yard/1.0"};
    site.environment.emplace_back("NODE_CACHE", "${SLURM_JOB_ID}/cache");
    CHECK_MESSAGE(line(what)->good, line(what)->found);
}

TEST_CASE_FIXTURE(PbsPlace, "the check of a PBS site says whether the server keeps a job history") {
    REQUIRE(line("job history").has_value());
    CHECK(line("job history")->found == "kept");
    program("qselect", "echo 'qselect: PBS is not configured to maintain job history' >&2\nexit 35");
    CHECK(line("job history")->good);  // jobs work without it
    CHECK(line("job history")->found.starts_with("not kept: "));
    program("qselect", "echo 'qselect: cannot connect to server' >&2\nexit 1");
    CHECK(!line("job history")->good);
}

TEST_CASE_FIXTURE(PbsPlace, "a PBS site that asks for GPUs needs nodes with the resource ngpus") {
    program("pbsnodes", "echo 'n1'; echo '     resources_available.ncpus = 8'");
    CHECK(!line("resource ngpus").has_value());
    site.queue.gpus = 4;
    REQUIRE(line("resource ngpus").has_value());
    CHECK(!line("resource ngpus")->good);
    program("pbsnodes", "echo 'n1'; echo '     resources_available.ngpus = 4'");
    CHECK(line("resource ngpus")->good);
    // The GPU nodes are the last of a large cluster: pbsnodes has printed 5 MB before.
    program("pbsnodes",
            "yes '     comment = x' | head -c 5000000; echo; echo '     resources_available.ngpus = 4'");
    CHECK(line("resource ngpus")->good);
    program("pbsnodes", "echo 'pbsnodes: not allowed' >&2; exit 1");
    CHECK(line("resource ngpus")->found == "not checked: pbsnodes: not allowed");
}

TEST_CASE("the check of uploaded sources starts the namespace, and has its words if that fails") {
    const base::TempDir folder = *base::TempDir::make("check");
    const auto program = folder.path() / "bwrap";
    Site site;
    site.state_directory = folder.path() / "state";
    site.work_directory = folder.path() / "work";
    site.governor.program = folder.path() / "governor";
    testing::write(site.governor.program, testing::fake_bound, 0755);
    const auto check = [&site](uid_t user = 1000) {
        return check_uploaded_sources(site, {{"PATH", "/usr/bin:/bin"}, {"PIP_CONFIG_FILE", "/dev/null"}},
                                      user);
    };
    CHECK(!check().has_value());
    site.uploaded_sources = UploadedSources{program};
    REQUIRE(check().has_value());
    CHECK(!check()->good);
    CHECK(check()->advice.find("install bubblewrap") != std::string::npos);
    testing::write(program, "#!/bin/sh\necho 'bwrap: no permission for a namespace' >&2\nexit 1\n", 0755);
    CHECK(!check()->good);
    CHECK(check()->found == "bwrap: no permission for a namespace");
    CHECK(check()->advice.find("user namespaces") != std::string::npos);
    testing::write(program, "#!/bin/sh\n", 0755);
    CHECK(check()->good);
    CHECK(check()->found ==
          "built in a namespace of " + program.string() +
              ", with at most 528 processes and threads, 8192 MiB of memory, 20 GiB of disk and "
              "512 MiB of /dev/shm");
    CHECK(!check(0)->good);
    CHECK(check(0)->found.find("runs as root") != std::string::npos);
}

}  // namespace
}  // namespace wheelyard::builder
