#include "indexer/avail_wheels/query/candidate.hpp"

#include <doctest/doctest.h>

#include "tests/indexer/avail_wheels/sample_wheels.hpp"

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

TEST_CASE("compressed tags are shown sorted and unique") {
    CHECK(joined_tags({"py3", "py2", "py3"}) == "py2,py3");
    CHECK(joined_tags({"cp311"}) == "cp311");
}

TEST_CASE("a file name is split before its tags; the build tag stays left, the variant label right") {
    struct Case {
        const char* filename;
        const char* release;
        const char* tags;
    };
    for (const auto& [filename, release, tags] :
         {Case{"a-1.0-py3-none-any.whl", "a-1.0", "py3-none-any"},
          Case{"a-1.0-1b-py3-none-any.whl", "a-1.0-1b", "py3-none-any"},
          Case{"a-1.0-py3-none-any-gpu.whl", "a-1.0", "py3-none-any-gpu"},
          Case{"a-1.0-1-py3-none-any-gpu.whl", "a-1.0-1", "py3-none-any-gpu"}}) {
        CAPTURE(filename);
        const auto halves = halves_of(filename);
        REQUIRE(halves);
        CHECK(halves->release == release);
        CHECK(halves->tags == tags);
    }
    for (const char* none :
         {"", ".whl", "----.whl", "a-1.0-py3-none.whl", "a-1.0-py3-none-any.zip", "a-b-c-d-e-f-g-h.whl"}) {
        CAPTURE(none);
        CHECK_FALSE(WheelNames().parse(none));
    }
}

TEST_CASE("names with cached halves parse as without the cache, and invalid names stay invalid") {
    const std::vector<std::string> filenames{"torch-2.4.0+cu126-cp312-cp312-linux_x86_64.whl",
                                             "torch-2.4.0+cu126-cp311-cp311-linux_x86_64.whl",
                                             "torch-2.4.0+cu126-1-cp311-cp311-linux_x86_64.whl",
                                             "Torch-2.4.0+cu126-cp311-cp311-linux_x86_64.whl",
                                             "torch-2.4.0-cp311-cp311-linux_x86_64.whl",
                                             "t!rch-2.4.0-cp311-cp311-linux_x86_64.whl",
                                             "torch-new-cp311-cp311-linux_x86_64.whl",
                                             "torch-2.4.0-cp311-cp311-linux x86_64.whl",
                                             "torch-2.4.0-py2.py3-none-any.whl",
                                             "six-1.17.0-py2.py3-none-any.whl",
                                             std::string(240, 'a') + "-1.0-py2.py3-none-any.whl"};
    WheelNames names;
    std::size_t right = 0;
    for (int round = 0; round < 2; ++round) {
        for (const auto& filename : filenames) {
            CAPTURE(filename);
            const auto alone = wheelyard::wheel::parse_wheel_filename(filename);
            const auto remembered = names.parse(filename);
            REQUIRE(alone.has_value() == remembered.has_value());
            if (!alone) continue;
            ++right;
            CHECK(remembered->release->name == alone->name);
            CHECK(remembered->release->project == alone->project);
            CHECK(remembered->release->version == alone->version);
            CHECK(remembered->release->build == (alone->build ? alone->build->text() : ""));
            CHECK(remembered->tags->tags == alone->tags);
            CHECK(remembered->tags->platforms == alone->platforms);
            CHECK(names.known_tags(remembered->tags->text) == remembered->tags.get());
        }
    }
    CHECK(right == 14);
}
