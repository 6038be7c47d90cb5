#include "indexer/avail_wheels/query/query.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/indexer/avail_wheels/sample_wheels.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

using Names = std::vector<std::string>;

Query query_for(const Names& wanted, const Names& pythons = {}) {
    Query query;
    query.wanted = make_wanted(wanted);
    query.pythons = make_pythons(pythons);
    return query;
}

const Names numpys{"numpy-1.21.0-cp39-cp39-linux_x86_64.whl", "numpy-1.22.2-cp310-cp310-linux_x86_64.whl",
                   "numpy-1.22.2-cp39-cp39-linux_x86_64.whl", "numpy-1.22.2-cp310-cp310-linux_aarch64.whl"};

}  // namespace

TEST_CASE("only the newest version is listed, for every architecture and Python that has it") {
    CHECK(filenames_of(select(query_for({"numpy"}), make_candidates(numpys))) ==
          Names{"numpy-1.22.2-cp310-cp310-linux_x86_64.whl", "numpy-1.22.2-cp39-cp39-linux_x86_64.whl",
                "numpy-1.22.2-cp310-cp310-linux_aarch64.whl"});
}

TEST_CASE("the newest version is chosen among those that match the Python") {
    auto names = numpys;
    names.push_back("numpy-2.0.0-cp312-cp312-linux_x86_64.whl");
    CHECK(filenames_of(select(query_for({"numpy"}, {"3.9"}), make_candidates(names))) ==
          Names{"numpy-1.22.2-cp39-cp39-linux_x86_64.whl"});
}

TEST_CASE("all versions are listed on request, newest first") {
    auto query = query_for({"numpy"}, {"3.9"});
    query.all_versions = true;
    CHECK(filenames_of(select(query, make_candidates(numpys))) ==
          Names{"numpy-1.22.2-cp39-cp39-linux_x86_64.whl", "numpy-1.21.0-cp39-cp39-linux_x86_64.whl"});
}

TEST_CASE(
    "rows are ordered by name ignoring case, then version, architecture and Python downwards, in whatever "
    "order they came") {
    const Names sorted{"alpha-1.0-py3-none-any.whl",
                       "Beta-1.10-cp312-cp312-linux_x86_64.whl",
                       "Beta-1.10-cp39-cp39-linux_x86_64.whl",
                       "Beta-1.10-cp312-cp312-linux_aarch64.whl",
                       "Beta-1.9-cp312-cp312-linux_x86_64.whl",
                       "foo1-1.0-py3-none-any.whl",
                       "foo_bar-1.0-py3-none-any.whl",
                       "gamma-1.0-py3-none-any.whl"};
    auto query = query_for({"*"});
    query.all_versions = true;
    auto names = sorted;
    std::reverse(names.begin(), names.end());
    CHECK(filenames_of(select(query, make_candidates(names))) == sorted);
    std::rotate(names.begin(), names.begin() + 3, names.end());
    CHECK(filenames_of(select(query, make_candidates(names))) == sorted);
}

TEST_CASE("names match as PEP 503 compares them, globs over the normal form") {
    const auto wheels =
        make_candidates({"Flash_Attn-2.5.0-py3-none-any.whl", "netCDF4-1.5.8-py3-none-any.whl",
                         "h5netcdf-0.7.4-py3-none-any.whl", "zope.interface-6.0-py3-none-any.whl"});
    struct Case {
        const char* wanted;
        std::size_t found;
    };
    for (const auto& [wanted, found] :
         {Case{"flash.attn", 1}, Case{"FLASH-ATTN", 1}, Case{"flash__attn", 1}, Case{"*cdf*", 2},
          Case{"*CDF4", 1}, Case{"zope_interface", 1}, Case{"zope*", 1}, Case{"flash?attn", 1},
          Case{"flash", 0}, Case{"attn*", 0}, Case{"*", 4}}) {
        CAPTURE(wanted);
        CHECK(select(query_for({wanted}), wheels).wheels.size() == found);
    }
}

TEST_CASE("specifiers select versions, and the newest remaining one is listed") {
    const auto wheels =
        make_candidates({"torch-2.3.1-py3-none-any.whl", "torch-2.4.0+cu126-py3-none-any.whl",
                         "torch-2.4.0+rocm6.1-py3-none-any.whl", "torch-2.6.0-py3-none-any.whl"});
    const auto found = [&](const char* wanted) { return filenames_of(select(query_for({wanted}), wheels)); };
    CHECK(found("torch<2.6") ==
          Names{"torch-2.4.0+rocm6.1-py3-none-any.whl", "torch-2.4.0+cu126-py3-none-any.whl"});
    CHECK(found("torch==2.4.0").size() == 2);  // a local version satisfies the public one (PEP 440)
    CHECK(found("torch==2.4.0+cu126") == Names{"torch-2.4.0+cu126-py3-none-any.whl"});
    CHECK(found("torch==2.3.*") == Names{"torch-2.3.1-py3-none-any.whl"});
    CHECK(found("tor*~=2.4.0").size() == 2);
    CHECK(found("torch>3").empty());
}

TEST_CASE("a pre-release is listed only if nothing else is left, on request, or with all versions") {
    const auto wheels = make_candidates(
        {"a-1.0-py3-none-any.whl", "a-2.0rc1-py3-none-any.whl", "b-1.0.dev1-py3-none-any.whl"});
    CHECK(filenames_of(select(query_for({"*"}), wheels)) ==
          Names{"a-1.0-py3-none-any.whl", "b-1.0.dev1-py3-none-any.whl"});
    CHECK(filenames_of(select(query_for({"a>=2.0rc1"}), wheels)) == Names{"a-2.0rc1-py3-none-any.whl"});
    CHECK(filenames_of(select(query_for({"a>1.0"}), wheels)) == Names{"a-2.0rc1-py3-none-any.whl"});
    auto query = query_for({"a"});
    query.all_versions = true;
    CHECK(filenames_of(select(query, wheels)) ==
          Names{"a-2.0rc1-py3-none-any.whl", "a-1.0-py3-none-any.whl"});
    query = query_for({"*"});
    query.prereleases = true;  // a call without names
    CHECK(filenames_of(select(query, wheels)) ==
          Names{"a-2.0rc1-py3-none-any.whl", "b-1.0.dev1-py3-none-any.whl"});
}

TEST_CASE("a Python accepts the wheels that pip accepts") {
    struct Case {
        const char* tags;
        const char* python;
        bool is_taken;
    };
    for (const auto& [tags, python, is_taken] : {
             Case{"cp311-cp311-linux_x86_64", "3.11", true},
             Case{"cp311-cp311-linux_x86_64", "3.12", false},
             Case{"cp311-cp311-linux_x86_64", "3.1", false},
             Case{"py3-none-any", "3.12", true},
             Case{"py2.py3-none-any", "3.12", true},
             Case{"py2-none-any", "3.12", false},
             Case{"cp38-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64", "3.12", true},
             Case{"cp312-abi3-linux_aarch64", "3.11", false},
             Case{"py312-none-any", "3.11", false},
             Case{"cp313-cp313t-linux_x86_64", "3.13", false},
             Case{"cp313-cp313t-linux_x86_64", "3.13t", true},
             Case{"pp310-pypy310_pp73-linux_x86_64", "3.10", false},
         }) {
        CAPTURE(tags);
        CAPTURE(python);
        const auto wheels = make_candidates({std::string("sample-1.0-") + tags + ".whl"});
        CHECK(select(query_for({"*"}, {python}), wheels).wheels.size() == (is_taken ? 1 : 0));
    }
}

TEST_CASE("Requires-Python hides a wheel from a Python that it excludes") {
    struct Case {
        const char* requires_python;
        const char* python;
        bool is_listed;
    };
    for (const auto& [requires_python, python, is_listed] : {
             Case{">=3.9", "3.9", true},
             Case{">=3.10", "3.9", false},
             Case{"<3.12", "3.12", false},
             Case{">=3.9.7", "3.9", true},  // some 3.9 release matches
             Case{">=3.9.7", "3.9.2", false},
             Case{"<3.9.5", "3.9", true},
             Case{"not a specifier", "3.9", true},
             Case{"", "3.9", true},
         }) {
        CAPTURE(requires_python);
        CAPTURE(python);
        auto wheels = make_candidates({"sample-1.0-py3-none-any.whl"});
        wheels[0].link.requires_python = requires_python;
        CHECK(select(query_for({"sample"}, {python}), wheels).wheels.size() == (is_listed ? 1 : 0));
    }
}

TEST_CASE("wheels for other systems and for musl are listed only with everything") {
    const auto wheels = make_candidates(
        {"a-1.0-cp311-cp311-win_amd64.whl", "a-1.0-cp311-cp311-macosx_11_0_arm64.whl",
         "a-1.0-cp311-cp311-musllinux_1_2_x86_64.whl", "a-1.0-cp311-cp311-manylinux2014_x86_64.whl"});
    CHECK(filenames_of(select(query_for({"a"}), wheels)) ==
          Names{"a-1.0-cp311-cp311-manylinux2014_x86_64.whl"});
    auto query = query_for({"a"});
    query.everything = true;
    CHECK(select(query, wheels).wheels.size() == 4);
}

TEST_CASE("wheels for another machine are hidden, and on musl those for glibc") {
    const auto wheels = make_candidates({"a-1.0-cp311-cp311-musllinux_1_2_x86_64.whl",
                                         "a-1.0-cp311-cp311-manylinux2014_x86_64.whl",
                                         "a-1.0-cp311-cp311-linux_aarch64.whl", "a-1.0-py3-none-any.whl"});
    auto query = query_for({"a"});
    query.machine = "x86_64";
    CHECK(filenames_of(select(query, wheels)) ==
          Names{"a-1.0-cp311-cp311-manylinux2014_x86_64.whl", "a-1.0-py3-none-any.whl"});
    query.musl = true;
    CHECK(filenames_of(select(query, wheels)) ==
          Names{"a-1.0-cp311-cp311-musllinux_1_2_x86_64.whl", "a-1.0-py3-none-any.whl"});
}

TEST_CASE("a glob of -v matches public versions as text") {
    auto query = query_for({"numpy"});
    query.all_versions = true;
    query.wanted[0].version_glob = "1.2[12]*";
    CHECK(select(query, make_candidates(numpys)).wheels.size() == 4);
    query.wanted[0].version_glob = "1.21*";
    CHECK(filenames_of(select(query, make_candidates(numpys))) ==
          Names{"numpy-1.21.0-cp39-cp39-linux_x86_64.whl"});
    query.wanted[0].version_glob = "*";
    CHECK(select(query, make_candidates(numpys)).wheels.size() == 4);
}

TEST_CASE("architectures are filtered independently") {
    auto query = query_for({"numpy"});
    query.archs = {"aarch64"};
    CHECK(filenames_of(select(query, make_candidates(numpys))) ==
          Names{"numpy-1.22.2-cp310-cp310-linux_aarch64.whl"});
    query.archs = {"aarch64", "x86_64"};
    CHECK(select(query, make_candidates(numpys)).wheels.size() == 3);
    query.archs = {"generic"};
    CHECK(select(query, make_candidates(numpys)).wheels.empty());
}

TEST_CASE("a yanked wheel is listed only when its version is pinned exactly, or with everything") {
    auto wheels = make_candidates({"a-1.0-py3-none-any.whl", "a-1.1-py3-none-any.whl"});
    wheels[1].link.yanked = true;
    const auto found = [&](const char* wanted) { return filenames_of(select(query_for({wanted}), wheels)); };
    CHECK(found("a") == Names{"a-1.0-py3-none-any.whl"});
    CHECK(found("a>=1.1").empty());
    CHECK(found("a==1.1") == Names{"a-1.1-py3-none-any.whl"});
    CHECK(found("a==1.*") == Names{"a-1.0-py3-none-any.whl"});  // a prefix is not a pin
    auto query = query_for({"a"});
    query.everything = true;
    CHECK(filenames_of(select(query, wheels)) == Names{"a-1.1-py3-none-any.whl"});
}

TEST_CASE("names without a wheel are listed as given, once, in order") {
    const auto answer =
        select(query_for({"zlib", "numpy>9", "Pip", "numpy", "no*thing", "pip"}), make_candidates(numpys));
    CHECK(answer.not_available == Names{"no*thing", "Pip", "pip", "zlib"});
    CHECK(select(query_for({"*"}), {}).not_available.empty());
}

TEST_CASE("an empty request lists nothing") {
    CHECK(select(query_for({}), make_candidates(numpys)).wheels.empty());
}

TEST_CASE("requirements whose marker excludes every Python of the query are dropped") {
    const auto left = [](const char* requirement, const Names& pythons, const char* machine = "x86_64") {
        return !applicable(make_wanted({requirement}), make_pythons(pythons), machine).empty();
    };
    CHECK(left("torch; platform_machine == 'x86_64'", {"3.11"}));
    CHECK(!left("torch; platform_machine != 'x86_64'", {"3.11"}));
    CHECK(left("torch; platform_machine == 'x86_64'", {"3.11"}, ""));  // any machine
    CHECK(left("torch; platform_machine != 'x86_64'", {"3.11"}, ""));
    CHECK(left("torch; implementation_version >= '3.11'", {"3.11"}));
    CHECK(!left("torch; 'dev' in dependency_groups", {"3.11"}));
    CHECK(!left("tomli; python_version < '3.11'", {"3.11"}));
    CHECK(left("tomli; python_version < '3.11'", {"3.10", "3.11"}));
    CHECK(left("tomli; python_version < '3.11'", {}));
    CHECK(!left("pywin32; sys_platform == 'win32'", {"3.11"}));
    // Whichever Python is asked about.
    CHECK(!left("pywin32; sys_platform == 'win32'", {}));
    CHECK(!left("enum34; python_version < '3'", {}));
    CHECK(!left("cupy; extra == 'gpu'", {}));
    CHECK(left("cffi; implementation_name == 'pypy'", {}));
    CHECK(left("numpy", {"3.11"}));
}

TEST_CASE("digits compare by value") {
    const Names sorted{"", "cp9", "cp39", "cp310", "cp310t", "pp310", "py2", "py2,py3", "py3", "py10"};
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        for (std::size_t j = 0; j < sorted.size(); ++j) {
            CAPTURE(sorted[i]);
            CAPTURE(sorted[j]);
            CHECK((compare_naturally(sorted[i], sorted[j]) < 0) == (i < j));
        }
    }
    CHECK(compare_naturally("cp0310", "cp310") == 0);
}
