// Ranges and conditions at their edges.
#include "registry/http/ranges.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lib/base/text/http_date.hpp"

namespace wheelyard::http {

TEST_CASE("a Range names the whole, a part, or nothing that is there") {
    struct Row {
        std::string range;
        std::uint64_t size;
        RangeChoice expected;
    };
    const auto whole = [](std::uint64_t size) { return RangeChoice{RangeKind::whole, 0, size}; };
    const RangeChoice nothing{RangeKind::unsatisfiable, 0, 0};
    const std::vector<Row> table{
        {"bytes=0-", 10, {RangeKind::part, 0, 10}},
        {"bytes=0-0", 10, {RangeKind::part, 0, 1}},
        {"bytes=9-9", 10, {RangeKind::part, 9, 1}},
        {"bytes=4-7", 10, {RangeKind::part, 4, 4}},
        {"bytes=4-99", 10, {RangeKind::part, 4, 6}},
        {"bytes=4-18446744073709551615", 10, {RangeKind::part, 4, 6}},
        {"bytes=-3", 10, {RangeKind::part, 7, 3}},
        {"bytes=-10", 10, {RangeKind::part, 0, 10}},
        {"bytes=-99", 10, {RangeKind::part, 0, 10}},
        {"Bytes = 1-2", 10, {RangeKind::part, 1, 2}},
        {"bytes=5000000000-5000000001", 6'000'000'000, {RangeKind::part, 5'000'000'000, 2}},
        {"bytes=10-", 10, nothing},
        {"bytes=10-20", 10, nothing},
        {"bytes=-0", 10, nothing},
        {"bytes=0-", 0, nothing},
        {"bytes=-5", 0, nothing},
        {"bytes=0-0,5-6", 10, whole(10)},
        {"bytes=0-0,", 10, whole(10)},
        {"bytes=5-4", 10, whole(10)},
        {"bytes=", 10, whole(10)},
        {"bytes=-", 10, whole(10)},
        {"bytes", 10, whole(10)},
        {"bytes=a-b", 10, whole(10)},
        {"bytes=1-2-3", 10, whole(10)},
        {"bytes=+1-2", 10, whole(10)},
        {"bytes=99999999999999999999-", 10, whole(10)},
        {"lines=1-2", 10, whole(10)},
    };
    for (const Row& row : table) {
        CAPTURE(row.range);
        CHECK(choose_range(row.range, row.size) == row.expected);
    }
}

TEST_CASE("If-Range lets a part through only for the very same bytes") {
    const std::string etag = "\"abc\"";
    const std::string date = "Fri, 20 Nov 2026 07:47:35 GMT";
    CHECK(range_still_valid("", etag, date));
    CHECK(range_still_valid("\"abc\"", etag, date));
    CHECK(range_still_valid(date, etag, date));
    CHECK_FALSE(range_still_valid("W/\"abc\"", etag, date));
    CHECK_FALSE(range_still_valid("\"abd\"", etag, date));
    CHECK_FALSE(range_still_valid("Fri, 20 Nov 2026 07:47:36 GMT", etag, date));
}

TEST_CASE("If-None-Match finds our tag in a list, weak or not") {
    const std::string etag = "\"a,b\"";
    for (const char* list :
         {"*", "\"a,b\"", "W/\"a,b\"", "\"x\", \"a,b\"", "\"x\",W/\"y\" , W/\"a,b\"", " \"a,b\" "})
        CHECK_MESSAGE(names_etag(list, etag), list);
    for (const char* list : {"", "\"a\"", "a,b", "\"x\" junk \"a,b\"", "\"a,b", "\"x\", *", "W/", ","})
        CHECK_MESSAGE(!names_etag(list, etag), list);
}

TEST_CASE("a page that has not changed is 304, and If-None-Match overrules dates") {
    const base::UnixMicros modified = *base::parse_http_date("Fri, 20 Nov 2026 07:47:35 GMT") + 999'999;
    CHECK(not_modified("\"e\"", "", "\"e\"", modified));
    CHECK_FALSE(not_modified("\"f\"", "Fri, 20 Nov 2026 07:47:35 GMT", "\"e\"", modified));
    CHECK(not_modified("", "Fri, 20 Nov 2026 07:47:35 GMT", "\"e\"", modified));
    CHECK(not_modified("", "Sat, 21 Nov 2026 00:00:00 GMT", "\"e\"", modified));
    CHECK_FALSE(not_modified("", "Fri, 20 Nov 2026 07:47:34 GMT", "\"e\"", modified));
    CHECK_FALSE(not_modified("", "yesterday", "\"e\"", modified));
    CHECK_FALSE(not_modified("", "", "\"e\"", modified));
}

TEST_CASE("HTTP dates are read back as they are written") {
    for (const base::UnixMicros time :
         {std::int64_t{0}, std::int64_t{784'111'777}, std::int64_t{1'795'160'855}, std::int64_t{951'782'400},
          std::int64_t{4'102'444'799}}) {
        const std::string text = base::render_http_date(time * 1'000'000);
        CHECK_MESSAGE(base::parse_http_date(text) == time * 1'000'000, text);
    }
    for (const char* text :
         {"", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
          "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Xxx 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
          "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT"})
        CHECK_MESSAGE(!base::parse_http_date(text), text);
}

}  // namespace wheelyard::http
