// The lines that the questions of survey.cpp print.
#include "builder/survey/survey.hpp"

#include <doctest/doctest.h>
#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/process/user.hpp"

namespace wheelyard::builder {
namespace {

TEST_CASE("one interpreter of each version; its path may contain spaces") {
    const auto pythons = parse_interpreters(
        "@python 3.11.2 venv headers - /usr/bin/python3.11\n@python 3.11.2 venv headers - /usr/bin/python3\n"
        "Traceback (most recent call last):\n@python 3 venv headers - /odd\n@python 3.6.8 - - rpath /opt/my "
        "python/bin/python3\n@python "
        "3\n");
    REQUIRE(pythons.size() == 2);
    CHECK(pythons[0].version == "3.11");
    CHECK(pythons[0].full_version == "3.11.2");
    CHECK(pythons[0].executable == "/usr/bin/python3.11");
    CHECK(pythons[0].has_venv);
    CHECK(pythons[0].has_headers);
    CHECK(pythons[1].version == "3.6");
    CHECK(pythons[1].executable == "/opt/my python/bin/python3");
    CHECK(!pythons[1].has_venv);
    CHECK(!pythons[0].has_rpath);
    CHECK(pythons[1].has_rpath);
}

TEST_CASE("folders have their origin, file system and free space") {
    const auto folders =
        parse_folders("@folder $SCRATCH lustre 2048 /lustre/me/\n@folder home ? 0 /\n@folder x\n");
    REQUIRE(folders.size() == 2);
    CHECK(folders[0].origin == "$SCRATCH");
    CHECK(folders[0].file_system == "lustre");
    CHECK(folders[0].free_bytes == 2048 * 1024);
    CHECK(folders[0].path == "/lustre/me");
    CHECK(folders[1].path == "/");
}

TEST_CASE("a module counts as loaded only where the shell says so") {
    Survey survey;
    survey.modules.tried = {{ModuleRole::compiler, {"gcc", "12.2"}}, {ModuleRole::mpi, {"openmpi", "4.1"}}};
    parse_module_tries("@loaded gcc/12.2\n@program gcc\n@program mpicc\n", survey);
    CHECK(survey.modules.tried[0].loads);
    CHECK(!survey.modules.tried[1].loads);
    CHECK(survey.has_program("mpicc"));
    CHECK(!survey.has_program("cc"));
}

TEST_CASE(
    "without programs and without HOME nothing gets the name of an error, and no folder is below the root") {
    const auto folder = base::TempDir::make("survey").value();
    const Survey survey = survey_machine({{"PATH", folder.path().string()}});
    utsname about{};
    REQUIRE(::uname(&about) == 0);
    const std::string host = about.nodename;
    CHECK(survey.machine == about.machine);
    CHECK(survey.host == host.substr(0, host.find('.')));
    CHECK(survey.user.name == base::user_name(::geteuid()));
    CHECK(survey.user.groups.empty());
    for (const FolderSurvey& found : survey.folders)
        CHECK(found.path == ::getpwuid(::geteuid())->pw_dir);
}

TEST_CASE("the best module of each role that there is gets tried, and counts if it loads") {
    const auto folder = base::TempDir::make("survey").value();
    // The file with most modules counts, of several that define `module`.
    REQUIRE(base::make_directories(folder.path() / "init"));
    REQUIRE(base::replace_file(folder.path() / "init/bash",
                               "module() {\n"
                               "    case \"$*\" in\n"
                               "        '-t avail') printf '%s\\n' gcc/11.3.0 gcc/12.2.0 openmpi/4.1.4\n"
                               "                     seq -f 'application-%g/1.0' 5000 ;;\n"
                               "        'load gcc/12.2.0') LOADEDMODULES=gcc/12.2.0 ;;\n"
                               "    esac\n"
                               "}\n"));
    const Survey survey =
        survey_machine({{"PATH", "/usr/bin:/bin"}, {"HOME", "/"}, {"LMOD_PKG", folder.path().string()}});
    CHECK(survey.modules.init == (folder.path() / "init/bash").string());
    REQUIRE(survey.modules.tried.size() == 2);  // neither CUDA nor ROCm
    CHECK(survey.modules.tried[0].role == ModuleRole::compiler);
    CHECK(survey.modules.tried[0].module.full_name() == "gcc/12.2.0");
    CHECK(survey.modules.tried[0].loads);
    CHECK(survey.modules.tried[1].role == ModuleRole::mpi);
    CHECK_FALSE(survey.modules.tried[1].loads);
}

}  // namespace
}  // namespace wheelyard::builder
