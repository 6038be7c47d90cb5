// The choice of an sdist among the offers of several places.
#include "builder/plan/offers.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

SdistOffer offer(const std::string& filename, const std::string& sha256, bool yanked = false) {
    return {*wheel::Version::parse("1.0"),
            filename,
            "https://h/" + filename,
            {},
            sha256,
            "",
            yanked,
            "https://h/"};
}

TEST_CASE("the chosen offer is by precedence: pinned digest, not yanked, .tar.gz, first place") {
    const std::string a(64, 'a');
    const std::string b(64, 'b');
    struct Row {
        std::vector<SdistOffer> offers;
        std::string pinned;
        int chosen;  // -1: none
    };
    const Row rows[] = {
        {{}, "", -1},
        {{offer("x-1.0.tar.gz", a), offer("x-1.0.tar.gz", b)}, "", 0},
        {{offer("x-1.0.tar.gz", a), offer("x-1.0.tar.gz", b)}, b, 1},
        {{offer("x-1.0.zip", a), offer("x-1.0.tar.gz", b)}, "", 1},
        {{offer("x-1.0.tar.gz", a, true), offer("x-1.0.zip", b)}, "", 1},
        {{offer("x-1.0.tar.gz", a, true)}, "", 0},
    };
    for (const auto& row : rows) {
        const SdistOffer* chosen = choose_sdist(row.offers, *wheel::Version::parse("1.0.0"), row.pinned);
        if (row.chosen < 0) {
            CHECK(chosen == nullptr);
        } else {
            CHECK(chosen == &row.offers[static_cast<std::size_t>(row.chosen)]);
        }
    }
    CHECK(choose_sdist({offer("x-1.0.tar.gz", a)}, *wheel::Version::parse("1.1"), "") == nullptr);
}

TEST_CASE("only sdists of the project count on a page") {
    simple::ProjectPage page;
    for (const char* name : {"demo-1.0.tar.gz", "demo-1.0-py3-none-any.whl", "demo_extra-1.0.tar.gz",
                             "demo-x.tar.gz", "-rf-1.0.tar.gz"}) {
        simple::FileLink file;
        file.filename = name;
        page.files.push_back(file);
    }
    const auto found = sdists_on_page(page, "demo", "p");
    REQUIRE(found.size() == 1);
    CHECK(found.front().filename == "demo-1.0.tar.gz");
}

TEST_CASE("a stub or a placeholder is known by its name, and what only begins like one is none") {
    for (const char* project : {"tensorrt", "tensorrt-cu12", "tensorrt-cu13-libs", "cudf-cu12", "cudf",
                                "nvidia-dali-cuda120", "pytorch", "sklearn"})
        CHECK_MESSAGE(!why_stub(project).empty(), project);
    for (const char* project :
         {"torch-tensorrt", "tensorrt-yolo", "cudfx", "nvidia-ml-py", "torch", "pytorch-lightning"})
        CHECK_MESSAGE(why_stub(project).empty(), project);
}

}  // namespace
}  // namespace wheelyard::builder
