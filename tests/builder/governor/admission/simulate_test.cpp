// The simulator on hand-made builds, and the governor on a build shaped like PyTorch's.
#include "bench/governor_simulate/simulate.hpp"

#include <doctest/doctest.h>

#include "builder/governor/memory/limits.hpp"

using namespace wheelyard::governor;

namespace {

constexpr double gibibyte = static_cast<double>(gib);

// Many medium compiles and a few large ones, like PyTorch.
std::vector<ProfileRow> shape() {
    std::vector<ProfileRow> rows;
    for (int i = 0; i < 60; ++i) {
        rows.push_back({"s" + std::to_string(i), 3.0 + i % 7, (0.3 + 0.01 * (i % 30)) * gibibyte});
    }
    for (int i = 0; i < 4; ++i)
        rows.push_back({"g" + std::to_string(i), 30.0 + i * 8, (1.2 + 0.2 * i) * gibibyte});
    return rows;
}

SimulationPlan plan(unsigned cores, double gibibytes, Policy policy = Policy::governed) {
    SimulationPlan made;
    made.cores = cores;
    made.limit_bytes = gibibytes * gibibyte;
    made.policy = policy;
    return made;
}

}  // namespace

TEST_CASE("a single compile takes its own time, which is the bound") {
    const auto result = simulate({{"a", 10, gibibyte}}, plan(4, 8));
    CHECK(result.makespan_s == doctest::Approx(10));
    CHECK(result.ratio() == doctest::Approx(1));
}

TEST_CASE("a fixed -j dies when memory is exhausted; a restart with -j1 survives, slowly") {
    const std::vector<ProfileRow> rows(8, {"a", 10, gibibyte});
    auto fixed = plan(4, 3.5, Policy::fixed_j);
    fixed.jobs = 4;
    CHECK_FALSE(simulate(rows, fixed).survived());
    fixed.jobs = 3;
    CHECK(simulate(rows, fixed).makespan_s == doctest::Approx(30));
    auto then = plan(4, 3.5, Policy::fixed_then_j1);
    then.jobs = 4;
    const auto result = simulate(rows, then);
    CHECK(result.survived());
    CHECK(result.makespan_s == doctest::Approx(80 + 5 * 3.5 / 4).epsilon(0.01));
}

TEST_CASE("governed builds stay near the bound and under the limit, without failures") {
    const auto rows = scale_profile(shape(), 2000, 1);
    struct Row {
        unsigned cores;
        double gibibytes, max_known, max_first;
    };
    for (const auto& [cores, gibibytes, max_known, max_first] :
         {Row{16, 8, 1.10, 1.5}, Row{72, 32, 1.10, 1.5}, Row{128, 60, 1.10, 1.5}}) {
        CAPTURE(cores);
        const auto oracle = simulate(rows, plan(cores, gibibytes, Policy::oracle));
        auto first = plan(cores, gibibytes);
        const auto known = simulate(rows, first);
        first.history = false;
        const auto unknown = simulate(rows, first);
        CHECK(oracle.kills == 0);
        CHECK(oracle.stops == 0);
        CHECK(known.ratio() < max_known);
        CHECK(known.makespan_s < 1.05 * oracle.makespan_s);
        CHECK(unknown.ratio() < max_first);
        for (const auto* result : {&oracle, &known, &unknown}) {
            CHECK(result->failed == 0);
            CHECK(result->high_water_bytes <= gibibytes * gibibyte * 1.0001);
        }
    }
}

TEST_CASE("a partial history leads to no failure") {
    const auto rows = scale_profile(shape(), 1000, 2);
    auto half = plan(16, 8);
    half.history_fraction = 0.5;
    const auto result = simulate(rows, half);
    CHECK(result.survived());
    CHECK(result.ratio() < 1.5);
}

TEST_CASE("compiles stopped for a large one resume when it ends and lose only that time") {
    SimulationPlan first = plan(4, 4.4);
    first.history = false;  // all are predicted at 0.8 GiB
    const auto result =
        simulate({{"large", 4, 4 * gibibyte}, {"a", 40, 0.3 * gibibyte}, {"b", 40, 0.3 * gibibyte}}, first);
    CHECK(result.stops == 2);
    CHECK(result.kills == 0);
    CHECK(result.failed == 0);
    CHECK(result.makespan_s > 41.5);  // the large one passes 0.95 of the room before 2 s, and ends at 4
    CHECK(result.makespan_s < 42.5);
}

TEST_CASE("only the compile that is larger than the machine fails") {
    auto rows = shape();
    rows.push_back({"too large", 10, 9 * gibibyte});
    const auto result = simulate(rows, plan(8, 8));
    CHECK(result.failed == 1);
}

TEST_CASE("a window smaller than the build is respected and costs time") {
    const auto rows = scale_profile(shape(), 500, 3);
    auto narrow = plan(16, 8);
    narrow.window = 16;
    const auto result = simulate(rows, narrow);
    CHECK(result.survived());
    CHECK(result.makespan_s >= simulate(rows, plan(16, 8)).makespan_s * 0.99);
}

TEST_CASE("profiles: columns by name, plain numbers; malformed ones are refused") {
    const auto rows = parse_profile("cpu_s,source,max_rss_kib\r\n1.5,a.cpp,2048\n\n");
    REQUIRE(rows);
    REQUIRE(rows->size() == 1);
    CHECK(rows->at(0).source == "a.cpp");
    CHECK(rows->at(0).peak_bytes == 2048 * 1024);
    for (const char* broken :
         {"", "source,cpu_s\na,1\n", "source,cpu_s,max_rss_kib\n", "source,cpu_s,max_rss_kib\na,b,1\n",
          "source,cpu_s,max_rss_kib\na,1\n", "source,cpu_s,max_rss_kib\na,-1,5\n",
          "source,cpu_s,max_rss_kib\na,nan,5\n", "source,cpu_s,max_rss_kib\na,1,1e99\n"}) {
        CAPTURE(broken);
        CHECK_FALSE(parse_profile(broken));
    }
}

TEST_CASE("the same seed draws the same build") {
    const auto a = scale_profile(shape(), 100, 7), b = scale_profile(shape(), 100, 7),
               c = scale_profile(shape(), 100, 8);
    CHECK(a.back().seconds == b.back().seconds);
    CHECK(a.front().seconds != c.front().seconds);
}
