// Compares with golden files, or writes them.
#include "tests/support/golden.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "lib/base/file.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::test_support {

namespace {

constexpr std::uint64_t max_golden_bytes = 1 << 20;

std::string first_difference(std::string_view expected, std::string_view actual) {
    const auto want = base::split(expected, '\n');
    const auto have = base::split(actual, '\n');
    for (std::size_t i = 0; i < std::max(want.size(), have.size()); ++i) {
        const std::string_view wanted = i < want.size() ? want[i] : "(end)";
        const std::string_view got = i < have.size() ? have[i] : "(end)";
        if (wanted == got) continue;
        return "line " + std::to_string(i + 1) + "\n  expected: " + std::string(wanted) +
               "\n  actual:   " + std::string(got);
    }
    return {};
}

}  // namespace

std::string golden_difference(std::string_view name, std::string_view actual) {
    const std::filesystem::path file = std::filesystem::path(WHEELYARD_TEST_DATA) / "golden" / name;
    const char* update = std::getenv("WHEELYARD_UPDATE_GOLDEN");
    if (update != nullptr && std::string_view(update) == "1") {
        std::filesystem::create_directories(file.parent_path());
        const auto written = base::replace_file(file, actual);
        return written ? std::string() : written.error().text();
    }
    const auto expected = base::read_file(file, max_golden_bytes);
    if (!expected) return expected.error().text() + "; WHEELYARD_UPDATE_GOLDEN=1 writes it";
    return first_difference(*expected, actual);
}

}  // namespace wheelyard::test_support
