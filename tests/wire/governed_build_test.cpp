// The governor's summary: parsed, kept in journals, described.
#include "lib/wire/governed_build.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/text.hpp"

namespace wheelyard::wire {
namespace {

const std::string summary = R"({
  "format": "wheelyard.governor-summary/1",
  "compiles": 140, "known": 0, "failed": 1, "killed": 2, "oom_kills": 1, "could_not_fit": 1,
  "wall_s": 61.500, "high_water_bytes": 6442450944.000, "limit_bytes": 8589934592.000, "room_bytes": 1.0,
  "limit": "cgroup", "prediction_error_median": null,
  "worst": [{"source": "a.cu", "peak_bytes": 5368709120.000, "seconds": 30.250}],
  "messages": ["a.cu: needs 9 GiB"]
})";

TEST_CASE("a governor summary is parsed and survives a JSON round trip") {
    const auto build = parse_governor_summary(summary);
    REQUIRE_MESSAGE(build.has_value(), build.error().text());
    CHECK(build->compiles == 140);
    CHECK(build->retries() == 3);
    CHECK(build->high_water_bytes == 6'442'450'944);
    CHECK(build->worst.at(0).seconds == 30.25);
    CHECK(build->messages == std::vector<std::string>{"a.cu: needs 9 GiB"});
    CHECK(describe(*build) == "140 compiles, at most 6 GiB of 8 GiB (cgroup), 3 run again, 1 could not fit");
    GovernedBuild one;
    one.compiles = 1;
    CHECK(describe(one).find("1 compile, at most ") == 0);
    const auto again = io::parse_json(render_governed_build(*build).render());
    REQUIRE(again.has_value());
    CHECK(render_governed_build(parse_governed_build(*again)) == render_governed_build(*build));
}

TEST_CASE("text that is not a summary is rejected; invalid members become zero or are cut") {
    CHECK(!parse_governor_summary("").has_value());
    CHECK(parse_governor_summary("{}").error().code == "governor.format");
    CHECK(parse_governor_summary(base::replace_all(summary, "summary/1", "summary/2")).error().code ==
          "governor.format");
    const auto odd = parse_governor_summary(
        base::replace_all(base::replace_all(summary, "140", "-5"), "6442450944.000", "1e300"));
    REQUIRE(odd.has_value());
    CHECK(odd->compiles == 0);
    CHECK(odd->high_water_bytes == 1'000'000'000'000'000'000);
    std::string text;
    for (std::size_t i = 0; i < max_governor_text; ++i)
        text += "é";  // two bytes each, so the cut is between or inside characters
    const auto cut = parse_governor_summary(base::replace_all(summary, "needs 9 GiB", text));
    REQUIRE(cut.has_value());
    CHECK(cut->messages.at(0).size() <= max_governor_text);
    CHECK(base::is_utf8(cut->messages.at(0)));
}

}  // namespace
}  // namespace wheelyard::wire
