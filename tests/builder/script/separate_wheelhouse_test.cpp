// Who has the network, whose code runs, and what may be asked for.
#include "builder/script/wheelhouse.hpp"

#include <doctest/doctest.h>

#include "builder/script/separate_script.hpp"
#include "tests/builder/demo_build.hpp"

namespace wheelyard::builder {
namespace {

struct Upload : DemoBuild {
    Upload() {
        site.uploaded_sources = UploadedSources{"/usr/bin/bwrap"};
        site = for_namespace(site);
    }
};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST_CASE("what has the network installs nothing that the project can change, and takes wheels only") {
    Upload build;
    build.recipe.build_requires = {"ninja"};
    build.recipe.test_requires = {"pytest"};
    build.recipe.requirements_files = {"requirements.txt"};
    const std::string fetch = render_fetch_script(build.input());
    CHECK(has(fetch, "python -I -c \"$refuse_addresses\" wheel --only-binary :all: "));
    CHECK(has(fetch, "pip_wheel --requirement \"$folder/asked.txt\" ninja pytest\n"));
    CHECK_FALSE(has(fetch, "flit_core"));  // the project's words are read from files, and checked
    CHECK_FALSE(has(fetch, "pip_wheel --requirement requirements.txt"));
    CHECK(has(fetch, "/separate/tree/demo-1.0/requirements.txt"));
    CHECK_FALSE(has(fetch, "import_module"));
    CHECK(render_build_requires(build.input()) == "flit_core\n");
    build.recipe.front_end = "setup-py";
    CHECK(render_build_requires(build.input()).empty());
}

TEST_CASE("what runs the project's code installs from the wheelhouse") {
    Upload build;
    const std::string ask = render_ask_script(build.input());
    check_order(ask, {"--no-index --find-links \"$folder/wheelhouse\"", "pip_install --upgrade",
                      "flit_core\n", "if test \"$1\" = requires", "get_requires_for_build_wheel",
                      "exit\nfi\n", "prepare_metadata_for_build_wheel"});
    CHECK_FALSE(has(ask, "pip.conf"));
}

TEST_CASE("fetching and asking take turns; another project's words run the step again") {
    Upload build;
    const std::string text = render_separate_wheelhouse(build.input());
    check_order(text, {"\nfetching\n", "separately ask.sh requires\nfetching\n",
                       "separately ask.sh needs\nfetching\n"});
    build.attempt.source.build_requires = {"flit_core", "more"};
    CHECK(render_separate_wheelhouse(build.input()) != text);
    build.recipe.front_end = "setup-py";
    CHECK_FALSE(has(render_separate_wheelhouse(build.input()), "ask.sh requires"));
}

}  // namespace
}  // namespace wheelyard::builder
