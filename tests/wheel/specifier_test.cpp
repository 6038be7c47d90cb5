// Version specifiers compared with `packaging`: 16,000 pairs of specifier and version, 1,100 texts of sets.
#include "lib/wheel/specifier.hpp"

#include "lib/wheel/limits.hpp"
#include "tests/wheel/golden_table.hpp"

namespace wheelyard::wheel {
namespace {

Version version_of(const std::string& text) {
    auto version = Version::parse(text);
    REQUIRE_MESSAGE(version.has_value(), text);
    return *version;
}

SpecifierSet set_of(const std::string& text) {
    auto set = SpecifierSet::parse(text);
    REQUIRE_MESSAGE(set.has_value(), text);
    return *set;
}

}  // namespace

TEST_CASE("a specifier contains the same versions as in packaging") {
    const auto rows = test::read_golden("specifiers.txt");
    std::vector<Version> versions;
    for (const auto& text : rows[0])
        versions.push_back(version_of(text));
    std::size_t pairs = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const auto& text = rows[i][0];
        const auto& expected = rows[i][1];
        const auto specifier = Specifier::parse(text);
        CHECK_MESSAGE(specifier.has_value() == (expected != "!"), text);
        if (!specifier || expected == "!") continue;
        REQUIRE(expected.size() == versions.size());
        for (std::size_t v = 0; v < versions.size(); ++v, ++pairs) {
            CHECK_MESSAGE(specifier->contains(versions[v]) == (expected[v] == '1'), text, " and ",
                          versions[v].text());
        }
    }
    CHECK(pairs > 10'000);
}

TEST_CASE("specifier sets are accepted, and mention pre-releases, as in packaging") {
    for (const auto& row : test::read_golden("specifier_syntax.txt")) {
        const auto set = SpecifierSet::parse(row[0]);
        CHECK_MESSAGE(set.has_value() == (row[1] != "!"), "'", row[0], "' ", row[1]);
        if (!set || row[1] == "!") continue;
        bool mentioned = false;
        for (const auto& specifier : set->specifiers())
            mentioned = mentioned || specifier.mentions_prerelease();
        CHECK_MESSAGE(mentioned == (row[1] == "1"), "'", row[0], "'");
        const auto again = SpecifierSet::parse(set->text());
        REQUIRE_MESSAGE(again.has_value(), row[0]);
        CHECK(again->text() == set->text());
        CHECK(again->specifiers() == set->specifiers());
    }
}

TEST_CASE("a pre-release matches only if a specifier mentions one or if allowed") {
    CHECK_FALSE(set_of(">=1.0").contains(version_of("2.0rc1")));
    CHECK(set_of(">=1.0").contains(version_of("2.0rc1"), Prereleases::allowed));
    CHECK(set_of(">=1.0rc1").contains(version_of("2.0rc1")));
    CHECK_FALSE(set_of(">=1.0rc1").contains(version_of("2.0rc1"), Prereleases::excluded));
    CHECK_FALSE(set_of("!=1.0rc1").contains(version_of("2.0rc1")));
    CHECK(set_of(">=1.0,!=3.0,<4.dev0").contains(version_of("2.0rc1")));
    CHECK_FALSE(SpecifierSet().contains(version_of("2.0rc1")));
    CHECK(SpecifierSet().contains(version_of("2.0")));
    CHECK(SpecifierSet().contains(version_of("2.0rc1"), Prereleases::allowed));
}

TEST_CASE("every specifier of a set must match") {
    const auto set = set_of(" >=1.21 , <3, !=2.0.* ");
    CHECK(set.text() == ">=1.21,<3,!=2.0.*");
    CHECK(set.contains(version_of("1.26.4")));
    CHECK_FALSE(set.contains(version_of("2.0.2")));
    CHECK(set.contains(version_of("2.1")));
    CHECK_FALSE(set.contains(version_of("3.0")));
}

TEST_CASE("a local part is ignored unless the specifier has one") {
    CHECK(set_of("==2.4.0").contains(version_of("2.4.0+cu126")));
    CHECK(set_of("==2.4.0+cu126").contains(version_of("2.4.0+CU126")));
    CHECK_FALSE(set_of("==2.4.0+cu118").contains(version_of("2.4.0+cu126")));
    CHECK(set_of("<=2.4.0").contains(version_of("2.4.0+cu126")));
    CHECK_FALSE(set_of(">2.4.0").contains(version_of("2.4.0+cu126")));
}

TEST_CASE("is_exact recognises exact specifiers") {
    CHECK(Specifier::parse("==1.0")->is_exact());
    CHECK(Specifier::parse("===1.0")->is_exact());
    CHECK_FALSE(Specifier::parse("==1.0.*")->is_exact());
    CHECK_FALSE(Specifier::parse("~=1.0")->is_exact());
    CHECK(Specifier::parse(" == 1.0 ")->text() == "==1.0");
    CHECK(Specifier::parse("~=1.0")->comparison() == Comparison::compatible);
}

TEST_CASE("sets are bounded, and errors show the offending text") {
    CHECK_FALSE(SpecifierSet::parse(std::string(max_specifier_set_bytes + 1, ' ')).has_value());
    std::string many;
    for (std::size_t i = 0; i <= max_specifiers; ++i)
        many += ">=1,";
    CHECK(SpecifierSet::parse(many).error().code == "specifier.too_many");
    CHECK(SpecifierSet::parse(">=1.0,what").error().value == "what");
    CHECK(Specifier::parse("===").error().code == "specifier.invalid");
}

}  // namespace wheelyard::wheel
