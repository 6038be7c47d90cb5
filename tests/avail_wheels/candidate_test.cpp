#include "indexer/avail_wheels/candidate.hpp"

#include <doctest/doctest.h>

#include "tests/avail_wheels/sample_wheels.hpp"

using namespace wheelyard::avail_wheels;

TEST_CASE("the architecture is the machine of the platform tags, `generic` for any") {
    struct Case {
        const char* platform;
        const char* arch;
    };
    for (const auto& [platform, arch] :
         {Case{"any", "generic"}, Case{"linux_x86_64", "x86_64"}, Case{"linux_aarch64", "aarch64"},
          Case{"manylinux_2_17_x86_64.manylinux2014_x86_64", "x86_64"},
          Case{"musllinux_1_2_aarch64", "aarch64"},
          Case{"manylinux2014_aarch64.manylinux2014_x86_64", "aarch64,x86_64"}, Case{"win32", "win32"}}) {
        CAPTURE(platform);
        CHECK(make_candidate(std::string("a-1.0-cp311-cp311-") + platform + ".whl").arch == arch);
    }
}

TEST_CASE("compressed tags are shown sorted, each once") {
    CHECK(joined_tags({"py3", "py2", "py3"}) == "py2,py3");
    CHECK(joined_tags({"cp311"}) == "cp311");
}
