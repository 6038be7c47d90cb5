#include "builder/script/job_inputs.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

// The copied patches in the order of a shell wildcard, in which the job applies them.
std::vector<std::string> applied(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder / "patches"))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

TEST_CASE("patches keep their order, however many there are") {
    for (const int count : {1, 9, 10, 99, 100, 101, 250}) {
        CAPTURE(count);
        const auto folder = *base::TempDir::make("patches");
        std::vector<fs::path> patches;
        for (int i = 0; i < count; ++i) {
            patches.push_back(folder.path() / ("fix-" + std::to_string(i)));
            testing::write(patches.back(), std::to_string(i));
        }
        const auto put = put_patches(patches, folder.path() / "attempt");
        REQUIRE(put.has_value());
        const auto names = applied(folder.path() / "attempt");
        REQUIRE(names.size() == patches.size());
        for (std::size_t i = 0; i < names.size(); ++i)
            CHECK(names[i].substr(names[i].find('-') + 1) == patches[i].filename().string());
    }
}

}  // namespace
}  // namespace wheelyard::builder
