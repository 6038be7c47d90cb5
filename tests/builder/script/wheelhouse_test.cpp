// The script that fills a wheelhouse: the same steps for every kind of source; an upstream wheel is
// downloaded.
#include "builder/script/wheelhouse.hpp"

#include <doctest/doctest.h>

#include "builder/script/script_frame.hpp"
#include "tests/builder/demo_build.hpp"

namespace wheelyard::builder {
namespace {

struct Build : DemoBuild {
    [[nodiscard]] std::string script() const { return render_wheelhouse_script(input()); }
};

TEST_CASE("the wheelhouse has build and run-time requirements for every kind of source") {
    for (const SourceKind kind :
         {SourceKind::sdist, SourceKind::tarball, SourceKind::git, SourceKind::path}) {
        CAPTURE(source_kinds.text(kind));
        Build build;
        build.recipe.source = kind;
        build.recipe.build_requires = {"ninja"};
        build.recipe.test_requires = {"pytest"};
        const std::string script = build.script();
        check_order(
            script,
            {"pip_wheel() {", "cd \"$build\"/tree/demo-1.0\n", "pip_wheel flit_core ninja\n",
             "pip_install --upgrade --upgrade-strategy eager flit_core ninja\n",
             "get_requires_for_build_wheel", "pip_wheel --requirement \"$folder/requires.txt\"\n",
             "prepare_metadata_for_build_wheel", "pip_wheel --requirement \"$folder/needs.txt\" pytest\n"});
        CHECK(script.find("pip download") == std::string::npos);
    }
}

TEST_CASE("builds on the login node use the job's settings, with fewer parallel compiles") {
    Build build;
    build.site.modules.load = {"gcc/12.2"};
    build.site.compilers.c = "cc";
    build.site.environment = {{"MAX_JOBS", "64"}, {"HDF5_DIR", "${EBROOTHDF5}"}};
    build.site.proxies = {{"https_proxy", "http://of-the-nodes:3128"}};
    build.site.temporary = "/local/${SLURM_JOB_ID}";
    build.recipe.build_environment = {{"USE_MPI", "1"}};
    const std::string script = build.script();
    check_order(script, {"module load gcc/12.2\n", "set +u", "export CC=cc\n", "export MAX_JOBS=64\n",
                         "export HDF5_DIR=\"${EBROOTHDF5}\"\n", "export USE_MPI=1\n", "set -u\n",
                         "export MAX_JOBS=2 ", "pip_wheel flit_core\n"});
    // Only the jobs' machines have these, not the login node.
    CHECK(script.find("https_proxy") == std::string::npos);
    CHECK(script.find("TMPDIR") == std::string::npos);
}

TEST_CASE("setup.py is not queried, and the package built against is there for build and test") {
    Build build;
    build.recipe.front_end = "setup-py";
    build.attempt.asked.against = "torch==2.4.0+x";
    const std::string script = build.script();
    CHECK(script.find("pip_wheel wheel torch==2.4.0+x\n") != std::string::npos);
    CHECK(script.find("pip_wheel --requirement \"$folder/needs.txt\" torch==2.4.0+x\n") != std::string::npos);
    CHECK(script.find("requires.txt") == std::string::npos);
}

TEST_CASE("an upstream wheel comes from the recipe's index, else from the agent's pip configuration") {
    Build build;
    build.recipe.source = SourceKind::upstream;
    build.recipe.index = "https://h/simple/";
    const std::string named = "pip download --no-deps --only-binary :all: --index-url https://h/simple/ ";
    const std::string configured =
        "PIP_CONFIG_FILE=\"$folder/pip.conf\" python -I -m pip download --no-deps --only-binary :all: ";
    CHECK(build.script().find(named + "\\\n    --dest \"$folder/wheelhouse\" demo==1.0\n") !=
          std::string::npos);
    CHECK(render_build_step(build.input(), "").find(named) != std::string::npos);
    build.recipe.index.clear();
    CHECK(build.script().find(configured + "\\\n    --dest \"$folder/wheelhouse\" demo==1.0\n") !=
          std::string::npos);
    CHECK(build.script().find("pip_wheel \"$folder\"/wheelhouse/*.whl\n") != std::string::npos);
    CHECK(render_build_step(build.input(), "").find(configured) != std::string::npos);
    build.site.offline_jobs = true;
    CHECK(render_build_step(build.input(), "").find("--no-index") != std::string::npos);
}

TEST_CASE("a closure's upstream wheel is downloaded by its hash, which the attempt's folder keeps") {
    Build build;
    build.recipe.source = SourceKind::upstream;
    build.attempt.asked.closure.emplace().sha256 = "cc";
    for (const std::string& script : {build.script(), render_build_step(build.input(), "")})
        check_order(script, {"echo 'demo==1.0 --hash=sha256:cc' > \"$folder/upstream.txt\"\n",
                             "python -I -m pip download",
                             " --require-hashes --requirement \"$folder/upstream.txt\"\n"});
}

}  // namespace
}  // namespace wheelyard::builder
