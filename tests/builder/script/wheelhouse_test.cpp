// The script that fills a wheelhouse: the same steps for each kind of source, and an upstream's wheel as it
// is.
#include "builder/script/wheelhouse.hpp"

#include <doctest/doctest.h>

#include "builder/script/script_steps.hpp"
#include "tests/builder/demo_build.hpp"

namespace wheelyard::builder {
namespace {

struct Build : DemoBuild {
    [[nodiscard]] std::string script() const { return render_wheelhouse_script(input()); }
};

TEST_CASE("every kind of source that is built has its requirements and its wheel's made into wheels") {
    for (const SourceKind kind :
         {SourceKind::sdist, SourceKind::tarball, SourceKind::git, SourceKind::path}) {
        CAPTURE(source_kind_text(kind));
        Build build;
        build.recipe.source = kind;
        build.recipe.build_requires = {"ninja"};
        build.recipe.test_requires = {"pytest"};
        const std::string script = build.script();
        check_order(script,
                    {"pip_wheel() {", "cd \"$build\"/tree/demo-1.0\n", "pip_wheel flit_core ninja\n",
                     "pip_install flit_core ninja\n", "get_requires_for_build_wheel",
                     "pip_wheel --requirement \"$folder/requires.txt\"\n", "prepare_metadata_for_build_wheel",
                     "pip_wheel --requirement \"$folder/needs.txt\" pytest\n"});
        CHECK(script.find("pip download") == std::string::npos);
    }
}

TEST_CASE("what is built on the login node is built as in a job, with fewer compiles at once") {
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
    // The machine that jobs run on has those, not this one.
    CHECK(script.find("https_proxy") == std::string::npos);
    CHECK(script.find("TMPDIR") == std::string::npos);
}

TEST_CASE("setup.py is not asked, and what a wheel is built against is there for the build and the test") {
    Build build;
    build.recipe.front_end = "setup-py";
    build.attempt.against = "torch==2.4.0+x";
    const std::string script = build.script();
    CHECK(script.find("pip_wheel wheel torch==2.4.0+x\n") != std::string::npos);
    CHECK(script.find("pip_wheel --requirement \"$folder/needs.txt\" torch==2.4.0+x\n") != std::string::npos);
    CHECK(script.find("requires.txt") == std::string::npos);
}

TEST_CASE("an upstream's wheel comes from the recipe's index, else from where the agent's pip looks") {
    Build build;
    build.recipe.source = SourceKind::upstream;
    build.recipe.index = "https://h/simple/";
    const std::string named = "pip download --no-deps --only-binary :all: --index-url https://h/simple/ ";
    const std::string configured =
        "PIP_CONFIG_FILE=\"$folder/pip.conf\" python -I -m pip download --no-deps --only-binary :all: ";
    CHECK(build.script().find(named + "--dest \"$folder/wheelhouse\" demo==1.0\n") != std::string::npos);
    CHECK(render_build_step(build.input(), "").find(named) != std::string::npos);
    build.recipe.index.clear();
    CHECK(build.script().find(configured + "--dest \"$folder/wheelhouse\" demo==1.0\n") != std::string::npos);
    CHECK(build.script().find("pip_wheel \"$folder\"/wheelhouse/*.whl\n") != std::string::npos);
    CHECK(render_build_step(build.input(), "").find(configured) != std::string::npos);
    build.site.offline_jobs = true;
    CHECK(render_build_step(build.input(), "").find("--no-index") != std::string::npos);
}

}  // namespace
}  // namespace wheelyard::builder
