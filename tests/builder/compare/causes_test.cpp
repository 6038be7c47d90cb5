#include "builder/compare/causes.hpp"

#include <doctest/doctest.h>

#include <set>

#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

TEST_CASE("the page on reproducibility has the table of causes") {
    CHECK(test_support::part_difference("how-to/check-reproducibility.md", "causes", render_causes()) == "");
}

TEST_CASE("each cause has a row with a code of its own, and a cure unless it follows from others") {
    std::set<std::string_view> codes;
    for (int i = 0; i <= static_cast<int>(Cause::record); ++i) {
        const CauseRow& row = cause_row(static_cast<Cause>(i));
        CHECK(static_cast<int>(row.cause) == i);
        CHECK(codes.insert(row.code).second);
        CHECK(row.cure.empty() == row.follows);
    }
}

}  // namespace
}  // namespace wheelyard::builder
