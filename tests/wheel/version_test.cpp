// Versions: the order, verified on one sorted array, and the grammar, compared with `packaging`.
#include "lib/wheel/version.hpp"

#include "lib/wheel/limits.hpp"
#include "tests/wheel/golden_table.hpp"

namespace wheelyard::wheel {
namespace {

Version parsed(const std::string& text) {
    auto version = Version::parse(text);
    REQUIRE_MESSAGE(version.has_value(), text);
    return *version;
}

}  // namespace

TEST_CASE("the order is total and that of packaging: every pair of a sorted list in both directions") {
    struct Placed {
        Version version;
        std::size_t place;
    };
    std::vector<Placed> sorted;
    const auto rows = test::read_golden("version_order.txt");
    for (std::size_t place = 0; place < rows.size(); ++place) {
        for (const auto& text : rows[place])
            sorted.push_back({parsed(text), place});
    }
    std::size_t wrong = 0;
    for (const auto& a : sorted) {
        for (const auto& b : sorted) {
            const auto expected = a.place <=> b.place;
            if ((a.version <=> b.version) == expected && (a.version == b.version) == (expected == 0))
                continue;
            ++wrong;
            INFO(a.version.text(), " against ", b.version.text());
            CHECK(wrong == 0);
        }
    }
    CHECK(sorted.size() > 100);
}

TEST_CASE("versions are accepted and normalised as by packaging") {
    for (const auto& row : test::read_golden("version_normal.txt")) {
        REQUIRE(row.size() == 2);
        const auto version = Version::parse(row[0]);
        CHECK_MESSAGE((version ? version->text() : "!") == row[1], "'", row[0], "'");
        if (!version) continue;
        CHECK(Version::parse(version->text())->text() == row[1]);
        CHECK(*Version::parse(version->text()) == *version);
    }
}

TEST_CASE("the parts of a version are accessible") {
    const auto version = parsed(" v1!02.0-RC_1.rev2-DEV3+Cu126_01 ");
    CHECK(version.as_written() == "v1!02.0-RC_1.rev2-DEV3+Cu126_01");
    CHECK(version.text() == "1!2.0rc1.post2.dev3+cu126.1");
    CHECK(version.public_text() == "1!2.0rc1.post2.dev3");
    CHECK(version.base_text() == "1!2.0");
    CHECK(version.local_text() == "cu126.1");
    CHECK(version.without_local().text() == version.public_text());
    CHECK(version.epoch().text() == "1");
    CHECK(version.release().size() == 2);
    CHECK(version.is_prerelease());
    CHECK(version.is_postrelease());
    CHECK(version.has_local());

    const auto plain = parsed("2.4.0");
    CHECK_FALSE(plain.is_prerelease());
    CHECK_FALSE(plain.is_postrelease());
    CHECK_FALSE(plain.has_local());
    CHECK(plain.local_text().empty());
    CHECK(parsed("1.0.dev1").is_prerelease());
    CHECK_FALSE(parsed("1.0.post1").is_prerelease());
}

TEST_CASE("trailing zeros of a release make no difference; a local part does") {
    CHECK(parsed("1") == parsed("1.0.0"));
    // As canonicalize_version of Python's packaging.
    for (const auto& [written, stripped] :
         {std::pair("1.0.0", "1"), std::pair("1.0.10", "1.0.10"), std::pair("0.0", "0"),
          std::pair("2!1.0.0rc1.post0.dev0+cu.0", "2!1rc1.post0.dev0+cu.0"), std::pair("1.0.1.0", "1.0.1")})
        CHECK(parsed(written).without_trailing_zeros().text() == stripped);
    CHECK(parsed("1.0") != parsed("1.0+cu126"));
    CHECK(parsed("1.0").compare_public(parsed("1.0+cu126")) == 0);
}

TEST_CASE("numbers longer than any machine integer keep their value") {
    CHECK(parsed("20240101123456789012345.1").text() == "20240101123456789012345.1");
    CHECK(parsed("99999999999999999999") < parsed("100000000000000000000"));
    CHECK(Number("000").text() == "0");
    CHECK(Number("").is_zero());
    CHECK(Number(std::uint64_t{18446744073709551615U}).text() == "18446744073709551615");
    CHECK(Number("0012") == Number(std::uint64_t{12}));
    CHECK(Number("9") < Number("10"));
}

TEST_CASE("text that is not a version is rejected with its value, however long or odd") {
    const auto refused = Version::parse("1.0-banana\x01");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == "version.invalid");
    CHECK(refused.error().value == "1.0-banana?");
    CHECK(Version::parse(std::string(max_version_bytes, '1')).has_value());
    CHECK_FALSE(Version::parse(std::string(max_version_bytes + 1, '1')).has_value());
    CHECK_FALSE(Version::parse(std::string_view("1.0\0", 4)).has_value());
}

}  // namespace wheelyard::wheel
