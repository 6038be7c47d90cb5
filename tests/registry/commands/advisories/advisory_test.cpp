#include "registry/commands/advisories/advisory.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace wheelyard;
using advisories::Impact;

namespace {

std::string record(std::string_view ecosystem, std::string_view name, std::string_view rest) {
    return R"({"id":"X-1","modified":"2026-01-01T00:00:00Z","affected":[{"package":{"ecosystem":")" +
           std::string(ecosystem) + R"(","name":")" + std::string(name) + "\"}," + std::string(rest) + "}]}";
}
advisories::Judgement judged(const std::string& text, std::string_view version) {
    const auto advisory = advisories::parse_advisory(text);
    REQUIRE(advisory);
    REQUIRE(advisory->affected.size() == 1);
    return advisories::judge(advisory->affected.front(), version);
}
std::string ranges(std::string_view events) {
    return R"("ranges":[{"type":"ECOSYSTEM","events":[)" + std::string(events) + "]}]";
}

}  // namespace

TEST_CASE("a version is hit from `introduced` up to `fixed`, without it") {
    // GHSA-53q9-r3pm-6pq6 (CVE-2025-32434)
    const std::string torch = record("PyPI", "torch", ranges(R"({"introduced":"0"},{"fixed":"2.6.0"})"));
    CHECK(judged(torch, "2.5.1").impact == Impact::affected);
    CHECK(judged(torch, "2.5.1").fixed == "2.6.0");
    CHECK(judged(torch, "2.5.1+cu124.sm90").impact == Impact::affected);
    CHECK(judged(torch, "2.6.0rc1").impact == Impact::affected);
    CHECK(judged(torch, "2.6.0").impact == Impact::unaffected);
    CHECK(judged(torch, "2.6.0+cu126").impact == Impact::unaffected);
    CHECK(judged(torch, "nightly").impact == Impact::not_judged);
}

TEST_CASE("a version is hit up to `last_affected`, with it") {
    const std::string text =
        record("PyPI", "demo", ranges(R"({"introduced":"1.0"},{"last_affected":"1.4"})"));
    CHECK(judged(text, "0.9").impact == Impact::unaffected);
    CHECK(judged(text, "1.0").impact == Impact::affected);
    CHECK(judged(text, "1.4+site").impact == Impact::affected);
    CHECK(judged(text, "1.4").fixed.empty());
    CHECK(judged(text, "1.4.1").impact == Impact::unaffected);
}

TEST_CASE("the events of a range come in any order, and a range has several intervals") {
    const std::string text = record(
        "npm", "electron",
        ranges(R"({"fixed":"24.8.3"},{"introduced":"24.0.0"},{"introduced":"22.0.0"},{"fixed":"22.3.24"})"));
    CHECK(judged(text, "21.9.9").impact == Impact::unaffected);
    CHECK(judged(text, "22.3.23").fixed == "22.3.24");
    CHECK(judged(text, "22.3.24").impact == Impact::unaffected);
    CHECK(judged(text, "23.0.0").impact == Impact::unaffected);
    CHECK(judged(text, "24.8.2").fixed == "24.8.3");
    CHECK(judged(text, "24.8.3").impact == Impact::unaffected);
}

TEST_CASE("`limit` ends a range; ranges of commits do not count") {
    const std::string limited = record("PyPI", "demo", ranges(R"({"introduced":"1.0"},{"limit":"2.0"})"));
    CHECK(judged(limited, "1.9").impact == Impact::affected);
    CHECK(judged(limited, "2.0").impact == Impact::unaffected);
    const std::string endless = record("PyPI", "demo", ranges(R"({"introduced":"1.0"},{"limit":"*"})"));
    CHECK(judged(endless, "9").impact == Impact::affected);
    // PYSEC-2022-43015, shortened
    const std::string commits = record(
        "PyPI", "torch",
        R"("ranges":[{"type":"GIT","repo":"x","events":[{"introduced":"0"},{"fixed":"767f6aa4"}]}],"versions":["1.0.1.post2","1.13.0"])");
    CHECK(judged(commits, "1.13.0+cu117").impact == Impact::affected);
    CHECK(judged(commits, "1.13.1").impact == Impact::unaffected);
}

TEST_CASE("a package of a distribution is compared with advisories for its release") {
    // ALSA-2022:7106 (CVE-2022-37434)
    const std::string zlib =
        record("AlmaLinux:8", "zlib", ranges(R"({"introduced":"0"},{"fixed":"1.2.11-19.el8_6"})"));
    CHECK(judged(zlib, "1.2.11-18.el8_5").impact == Impact::affected);
    CHECK(judged(zlib, "1.2.11-18.el8_5").fixed == "1.2.11-19.el8_6");
    CHECK(judged(zlib, "1.2.11-25.el8").impact == Impact::unaffected);
    CHECK(judged(zlib, "1.2.7-18.el7").impact == Impact::unaffected);
    CHECK(judged(zlib, "1.2.11-17.el88").impact == Impact::unaffected);
    CHECK(judged(zlib, "1.2.11").impact == Impact::not_judged);
}

TEST_CASE("a withdrawn record and unknown ecosystems affect nothing; other JSON is no record") {
    const auto withdrawn = advisories::parse_advisory(
        R"({"id":"X-2","modified":"2026-01-01T00:00:00Z","withdrawn":"2026-02-01T00:00:00Z","affected":[{"package":{"ecosystem":"PyPI","name":"six"},"versions":["1.0"]}]})");
    REQUIRE(withdrawn);
    CHECK(withdrawn->affected.empty());
    const auto foreign =
        advisories::parse_advisory(record("NuGet", "SkiaSharp", ranges(R"({"introduced":"0"})")));
    REQUIRE(foreign);
    CHECK(foreign->affected.empty());
    for (const char* text :
         {"{}", "[]", "null", R"({"id":"X"})", R"({"modified":"x"})", "{", R"({"id":7,"modified":1})"}) {
        CAPTURE(text);
        CHECK_FALSE(advisories::parse_advisory(text));
    }
}
