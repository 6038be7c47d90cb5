// Requirements compared with `packaging`.
#include "lib/wheel/requirement.hpp"

#include <algorithm>

#include "lib/wheel/limits.hpp"
#include "tests/wheel/marker_environments.hpp"

namespace wheelyard::wheel {

TEST_CASE("requirements are accepted and interpreted as by packaging") {
    const auto environments = test::marker_environments(test::read_golden("markers.txt"));
    std::size_t accepted = 0;
    for (const auto& row : test::read_golden("requirements.txt")) {
        const auto requirement = Requirement::parse(row[0]);
        CHECK_MESSAGE(requirement.has_value() == (row[1] != "!"), "'", row[0], "'");
        if (!requirement || row[1] == "!") continue;
        ++accepted;
        REQUIRE(row.size() == 6);
        auto extras = requirement->extras;
        std::sort(extras.begin(), extras.end());
        extras.erase(std::unique(extras.begin(), extras.end()), extras.end());
        std::vector<std::string> specifiers;
        for (const auto& specifier : requirement->specifiers.specifiers())
            specifiers.push_back(specifier.text());
        std::sort(specifiers.begin(), specifiers.end());
        specifiers.erase(std::unique(specifiers.begin(), specifiers.end()), specifiers.end());
        const auto marker = requirement->marker ? test::verdicts(*requirement->marker, environments) : "-";
        CHECK_MESSAGE(requirement->name == row[1], row[0]);
        CHECK_MESSAGE(base::join(extras, ",") == row[2], row[0]);
        CHECK_MESSAGE(base::join(specifiers, ",") == row[3], row[0]);
        CHECK_MESSAGE(requirement->url == row[4], row[0]);
        CHECK_MESSAGE(marker == row[5], row[0]);
        const auto again = Requirement::parse(requirement->text());
        REQUIRE_MESSAGE(again.has_value(), requirement->text());
        CHECK(again->text() == requirement->text());
    }
    CHECK(accepted > 200);
}

TEST_CASE("a requirement is rendered in its normal form") {
    const auto text = [](const char* requirement) { return Requirement::parse(requirement)->text(); };
    CHECK(text("  NumPy [ b , a ] ( >= 1.21 , < 3 ) ; python_version>='3.9'") ==
          "NumPy[b,a]>=1.21,<3; python_version >= \"3.9\"");
    CHECK(text("foo@https://example.org/foo.zip ;os_name=='nt'") ==
          "foo @ https://example.org/foo.zip ; os_name == \"nt\"");
    CHECK(Requirement::parse("Foo.Bar_baz>=1")->project == "foo-bar-baz");
}

TEST_CASE("errors include the position, and input is bounded") {
    const auto refused = Requirement::parse("numpy >= 1.0 < 2");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == "requirement.invalid");
    CHECK(refused.error().value == "numpy >= 1.0 < 2");
    CHECK(Requirement::parse("foo; os_name = 'nt'").error().code == "marker.invalid");
    CHECK(Requirement::parse(std::string(max_requirement_bytes + 1, 'a')).error().code ==
          "requirement.too_long");
    CHECK_FALSE(Requirement::parse(std::string(max_name_bytes + 1, 'a')).has_value());
    std::string many = "foo[a";
    for (std::size_t i = 0; i < max_extras; ++i)
        many += ",a";
    CHECK_FALSE(Requirement::parse(many + "]").has_value());
    CHECK_FALSE(Requirement::parse("foo @ https://example.org/\x01").has_value());
}

}  // namespace wheelyard::wheel
