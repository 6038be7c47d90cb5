#include "registry/commands/advisories/advisory.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

using namespace wheelyard;
using advisories::VersionOrder;

namespace {

constexpr int no_order = 9;

int compared(VersionOrder order, std::string_view a, std::string_view b) {
    const auto found = advisories::compare_versions(order, a, b);
    return !found ? no_order : *found < 0 ? -1 : *found > 0 ? 1 : 0;
}

struct Pair {
    std::string_view a;
    std::string_view b;
    int expected;
};

void check(VersionOrder order, const std::vector<Pair>& pairs) {
    for (const auto& [a, b, expected] : pairs) {
        CAPTURE(a);
        CAPTURE(b);
        CHECK(compared(order, a, b) == expected);
        CHECK(compared(order, b, a) == (expected == no_order ? no_order : -expected));
    }
}

}  // namespace

TEST_CASE("versions of Semantic Versioning have the order of its section 11") {
    const std::vector<std::string_view> ascending{"1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta",
                                                  "1.0.0-beta",  "1.0.0-beta.2",  "1.0.0-beta.11",
                                                  "1.0.0-rc.1",  "1.0.0",         "2.0.0",
                                                  "2.1.0",       "2.1.1",         "2.1.10",
                                                  "10.0.0"};
    for (std::size_t at = 1; at < ascending.size(); ++at)
        check(VersionOrder::semver, {{ascending[at - 1], ascending[at], -1}});
    check(VersionOrder::semver, {{"1.0.0+build.1", "1.0.0+build.2", 0},
                                 {"v1.2.3", "1.2.3", 0},
                                 {"1.2", "1.2.0", 0},
                                 {"27.0.0-beta.1", "27.0.0-beta.2", -1},
                                 {"1.0.0", "1.0.0.1", no_order},
                                 {"", "1.0.0", no_order},
                                 {"1.x", "1.0.0", no_order}});
}

// The rows were compared with `rpm --eval '%{lua:print(rpm.vercmp(…))}'` of rpm 4.18.
TEST_CASE("versions of RPM have the order of rpm") {
    check(VersionOrder::rpm, {{"1.0", "1.0", 0},
                              {"1.0", "2.0", -1},
                              {"2.0.1a", "2.0.1", 1},
                              {"5.5p1", "5.5p2", -1},
                              {"5.5p10", "5.5p1", 1},
                              {"10xyz", "10.1xyz", -1},
                              {"xyz.4", "8", -1},
                              {"6.0.rc1", "6.0", 1},
                              {"10b2", "10a1", 1},
                              {"10.0001", "10.1", 0},
                              {"10.0001", "10.0039", -1},
                              {"2_0", "2.0", 0},
                              {"1.0~rc1", "1.0", -1},
                              {"1.0~rc1~git123", "1.0~rc1", -1},
                              {"1.0^", "1.0", 1},
                              {"1.0^git1", "1.0^git2", -1},
                              {"1.0^git1", "1.01", -1},
                              {"1.0^20160101", "1.0.1", -1},
                              {"1.0~rc1^git1", "1.0~rc1", 1},
                              {"1.0^git1~pre", "1.0^git1", -1},
                              {"1.2.11-18.el8_5", "1.2.11-19.el8_6", -1},
                              {"1.2.11-25.el8", "1.2.11-19.el8_6", 1},
                              {"1:1.0-1", "2.0-1", 1},
                              {"0:1.0-1", "1.0-1", 0},
                              {"1.2.11", "1.2.11-19.el8_6", -1}});
    check(VersionOrder::rpm, {{"", "1.0", no_order}, {"a:1.0", "1.0", no_order}});
}

TEST_CASE("the local part of a Python version does not count") {
    check(VersionOrder::pep440, {{"2.4.0+cu124.sm90", "2.4.0", 0},
                                 {"2.6.0a0", "2.6.0", -1},
                                 {"1!1.0", "2.0", 1},
                                 {"2.4.0-not-a-version", "2.4.0", no_order}});
    check(VersionOrder::none, {{"1.0", "1.0", no_order}});
}
