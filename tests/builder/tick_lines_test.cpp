#include "builder/tick_lines.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

constexpr base::UnixMicros second = 1'000'000;

TEST_CASE(
    "a line of a program that ticks for ever has the time, and is not repeated while ticks say it again") {
    TickLines lines;
    lines.begin();
    CHECK(lines.fresh("no answer\n", 1 * second) == "1970-01-01T00:00:01Z no answer\n");
    CHECK(lines.fresh("no answer\nanother\n", 2 * second) == "1970-01-01T00:00:02Z another\n");
    lines.begin();
    CHECK(lines.fresh("no answer\n", 3 * second).empty());
    lines.begin();
    CHECK(lines.fresh("no answer\n", 4 * second).empty());
    CHECK(lines.fresh("another\n", 4 * second) == "1970-01-01T00:00:04Z another\n");
    lines.begin();  // a tick that says nothing of it
    lines.begin();
    CHECK(lines.fresh("no answer\n", 5 * second) == "1970-01-01T00:00:05Z no answer\n");
}

TEST_CASE("a line that differs only in how long a connection was tried is not repeated") {
    TickLines lines;
    for (const std::string unit : {" ms: Could not connect", " milliseconds"}) {
        lines.begin();
        CHECK_FALSE(lines.fresh("Failed to connect to h after 3" + unit + "\n", second).empty());
        lines.begin();
        CHECK(lines.fresh("Failed to connect to h after 12" + unit + "\n", second).empty());
    }
    lines.begin();
    CHECK_FALSE(lines.fresh("fails after 3 attempts\n", second).empty());
    lines.begin();
    CHECK_FALSE(lines.fresh("fails after 4 attempts\n", second).empty());
}

}  // namespace
}  // namespace wheelyard::builder
