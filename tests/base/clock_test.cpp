// Rendering and parsing of times, and clocks.
#include "lib/base/clock.hpp"

#include <doctest/doctest.h>

using namespace wheelyard::base;

TEST_CASE("times are rendered as in PEP 700 and RFC 9110 and parsed back") {
    struct Row {
        UnixMicros time;
        const char* rfc3339;
        const char* http;
    };
    for (const Row& row :
         {Row{0, "1970-01-01T00:00:00.000000Z", "Thu, 01 Jan 1970 00:00:00 GMT"},
          Row{784111777'000000, "1994-11-06T08:49:37.000000Z", "Sun, 06 Nov 1994 08:49:37 GMT"},
          Row{1709164799'999999, "2024-02-28T23:59:59.999999Z", "Wed, 28 Feb 2024 23:59:59 GMT"},
          Row{1709208000'000001, "2024-02-29T12:00:00.000001Z", "Thu, 29 Feb 2024 12:00:00 GMT"},
          Row{-1, "1969-12-31T23:59:59.999999Z", "Wed, 31 Dec 1969 23:59:59 GMT"}}) {
        CHECK(render_rfc3339(row.time) == row.rfc3339);
        CHECK(render_http_date(row.time) == row.http);
        CHECK(parse_rfc3339(row.rfc3339) == row.time);
    }
}

TEST_CASE("a time has zero to six fraction digits") {
    CHECK(parse_rfc3339("1970-01-01T00:00:01Z") == 1'000'000);
    CHECK(parse_rfc3339("1970-01-01T00:00:00.5Z") == 500'000);
    CHECK(parse_rfc3339("1970-01-01T00:00:00.000123Z") == 123);
    CHECK(parse_rfc3339("0000-01-01T00:00:00Z"));
    CHECK(parse_rfc3339("9999-12-31T23:59:59.999999Z"));
}

TEST_CASE("text that is not a UTC time is rejected") {
    for (const char* refused : {"",
                                "Z",
                                "2024-01-01",
                                "2024-01-01T00:00:00",
                                "2024-01-01 00:00:00Z",
                                "2024-01-01T00:00:00+00:00",
                                "2023-02-29T00:00:00Z",
                                "2024-13-01T00:00:00Z",
                                "2024-00-01T00:00:00Z",
                                "2024-01-32T00:00:00Z",
                                "2024-01-01T24:00:00Z",
                                "2024-01-01T00:60:00Z",
                                "2024-01-01T00:00:60Z",
                                "2024-01-01T00:00:00.Z",
                                "2024-01-01T00:00:00.1234567Z",
                                "2024-01-01T00:00:00.12x4Z",
                                "2024-01-01T00:00:0aZ",
                                "2o24-01-01T00:00:00Z",
                                "2024-01-01T00:00:00,5Z",
                                "-024-01-01T00:00:00Z",
                                "2024-01-01T00:00:00ZZ"}) {
        CAPTURE(refused);
        CHECK(parse_rfc3339(refused).error().code == "clock.syntax");
    }
}

TEST_CASE("a manual clock moves only when set or slept on; the system clock moves forward") {
    ManualClock clock(1'000'000);
    clock.sleep_ms(5);
    CHECK(clock.now() == 1'005'000);
    clock.set(7);
    CHECK(clock.now() == 7);
    SystemClock machine;
    const auto before = machine.now();
    machine.sleep_ms(2);
    CHECK(machine.now() >= before + 1'000);
    CHECK(before > 1'700'000'000'000'000);
}
