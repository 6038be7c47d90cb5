// What an upstream's answers mean: a table of statuses, cache headers and bodies that are no page.
#include "registry/upstream/page_fetch.hpp"

#include <doctest/doctest.h>

#include "registry/upstream/freshness.hpp"
#include "registry/upstream/limits.hpp"

using namespace wheelyard;
using registry::CachedPage;
using registry::read_page_answer;

namespace {

constexpr base::UnixMicros noon = 1'700'000'000'000'000;
constexpr base::UnixMicros second = 1'000'000;
const std::string url = "https://index.example.org/simple/six/";
const std::string json_type = "application/vnd.pypi.simple.v1+json";

io::HttpAnswer answer(int status, io::HttpHeaders headers = {}, std::string body = {}) {
    io::HttpAnswer made;
    made.status = status;
    made.headers = std::move(headers);
    made.body = std::move(body);
    made.final_url = url;
    return made;
}

io::HttpAnswer page(std::string cache_control = "max-age=60") {
    return answer(
        200, {{"content-type", json_type}, {"cache-control", std::move(cache_control)}, {"etag", "\"x\""}},
        R"({"meta":{"api-version":"1.1"},"name":"six","files":[{"filename":"six-1.0-py3-none-any.whl",)"
        R"("url":"../f/six-1.0-py3-none-any.whl","hashes":{}}]})");
}

}  // namespace

TEST_CASE("freshness is the upstream's, within limits") {
    const struct {
        const char* cache_control;
        const char* age;
        std::int64_t seconds;
    } table[] = {{"", "", 600},
                 {"max-age=60", "", 60},
                 {"public, max-age=600", "100", 500},
                 {"MAX-AGE=\"60\"", "", 60},
                 {"max-age=600, s-maxage=30", "", 30},
                 {"no-cache", "", registry::min_fresh_s},
                 {"max-age=600, no-store", "", registry::min_fresh_s},
                 {"max-age=0", "", registry::min_fresh_s},
                 {"max-age=60", "99999999999999999999999", registry::min_fresh_s},
                 {"max-age=99999999999999999999999", "", registry::max_fresh_s},
                 {"max-age=-5", "", 600},
                 {"max-age=x", "", 600}};
    for (const auto& row : table) {
        CAPTURE(row.cache_control);
        CHECK(registry::fresh_seconds(
                  answer(200, {{"cache-control", row.cache_control}, {"age", row.age}})) == row.seconds);
    }
}

TEST_CASE("Retry-After counts in seconds or as a date, within limits") {
    const struct {
        const char* retry_after;
        const char* date;  // when the answer was sent
        std::int64_t seconds;
    } table[] = {{"30", "", 30},
                 {"0", "", 1},
                 {"", "", 60},
                 {"99999999999999999999", "", 3600},
                 {"Fri, 20 Nov 2026 07:47:35 GMT", "Fri, 20 Nov 2026 07:45:30 GMT", 125},
                 {"Fri, 20 Nov 2026 07:47:35 GMT", "Fri, 20 Nov 2026 07:50:00 GMT", 1},
                 {"Sat, 20 Nov 2027 07:47:35 GMT", "Fri, 20 Nov 2026 07:47:35 GMT", 3600},
                 {"Fri, 20 Nov 2026 07:47:35 GMT", "", 60},
                 {"soon", "Fri, 20 Nov 2026 07:50:00 GMT", 60}};
    for (const auto& row : table) {
        CAPTURE(row.retry_after);
        CHECK(registry::retry_after_seconds(
                  answer(429, {{"retry-after", row.retry_after}, {"date", row.date}})) == row.seconds);
    }
}

TEST_CASE("200, 304 and what means absent become a page") {
    const auto first = read_page_answer(page(), url, nullptr, noon);
    REQUIRE(first.has_value());
    CHECK(first->page.files.at(0).link.url == "https://index.example.org/simple/f/six-1.0-py3-none-any.whl");
    CHECK(first->page.etag == "\"x\"");
    CHECK(first->page.fresh_until == noon + 60 * second);
    const auto same =
        read_page_answer(answer(304, {{"cache-control", "max-age=90"}}), url, &first->page, noon + 5);
    REQUIRE(same.has_value());
    CHECK(same->is_unchanged);
    CHECK(same->page.files.size() == 1);
    CHECK(same->page.fresh_until == noon + 5 + 90 * second);
    for (const int status : {404, 403, 410}) {
        const auto absent = read_page_answer(answer(status), url, nullptr, noon);
        REQUIRE(absent.has_value());
        CHECK(absent->page.is_absent);
        CHECK_FALSE(absent->has_left);
        CHECK(absent->page.fresh_until == noon + registry::absent_fresh_s * second);
    }
}

TEST_CASE("only a whole answer says what the upstream does not have") {
    const auto first = read_page_answer(page(), url, nullptr, noon);
    REQUIRE(first.has_value());
    const std::string link = R"(<html><body><a href="six-1.0-py3-none-any.whl">six</a>)";
    const io::HttpHeaders html{{"content-type", "text/html"}};
    const struct {
        io::HttpAnswer answer;
        bool is_full;
    } table[] = {{page(), true},
                 {answer(304), false},
                 {answer(404), true},
                 {answer(410), true},
                 {answer(403), false},
                 {answer(200, html, link + "</body></HTML>\n"), true},
                 {answer(200, html, link), false}};
    const auto portal = read_page_answer(answer(200, html, "<html>Log in</html>"), url, nullptr, noon);
    REQUIRE(portal.has_value());
    CHECK_FALSE(portal->is_full);
    for (const auto& row : table) {
        CAPTURE(row.answer.status);
        CAPTURE(row.answer.body);
        const auto read = read_page_answer(row.answer, url, &first->page, noon);
        REQUIRE(read.has_value());
        CHECK(read->is_full == row.is_full);
    }
}

TEST_CASE(
    "508 of a registry that would have to ask this one says nothing of the upstream, another 508 is its "
    "failure") {
    const auto first = read_page_answer(page(), url, nullptr, noon);
    REQUIRE(first.has_value());
    for (const CachedPage* before : {static_cast<const CachedPage*>(nullptr), &first->page}) {
        const auto loop = read_page_answer(answer(508, {{"wheelyard-via", "one"}}), url, before, noon);
        REQUIRE_FALSE(loop.has_value());
        CHECK(loop.error().is_loop);
        CHECK_FALSE(loop.error().is_upstream_wide);
        CHECK(loop.error().error.code == "upstream.loop");
    }
    const auto of_others = read_page_answer(answer(508), url, nullptr, noon);  // RFC 5842
    REQUIRE_FALSE(of_others.has_value());
    CHECK_FALSE(of_others.error().is_loop);
    CHECK(of_others.error().is_upstream_wide);
}

TEST_CASE("a project that the upstream lost is kept as it was, with one alarm, until it is there again") {
    const std::string nothing = R"({"meta":{"api-version":"1.1"},"name":"six","files":[]})";
    const auto first = read_page_answer(page(), url, nullptr, noon);
    REQUIRE(first.has_value());
    for (const io::HttpAnswer& lost :
         {answer(404), answer(410), answer(200, {{"content-type", json_type}}, nothing)}) {
        CAPTURE(lost.status);
        const auto kept = read_page_answer(lost, url, &first->page, noon);
        REQUIRE(kept.has_value());
        CHECK(kept->has_left);
        CHECK_FALSE(kept->page.is_absent);
        CHECK(kept->page.files.size() == 1);
        CHECK(kept->page.absent_since == noon);
        CHECK(kept->page.fresh_until == noon + registry::absent_fresh_s * second);
        const auto again = read_page_answer(lost, url, &kept->page, noon + 5);
        REQUIRE(again.has_value());
        CHECK_FALSE(again->has_left);
        CHECK(again->page.absent_since == noon);
        for (const io::HttpAnswer& back : {page(), answer(304)}) {
            const auto returned = read_page_answer(back, url, &again->page, noon + 9);
            REQUIRE(returned.has_value());
            CHECK(returned->page.absent_since == 0);
            CHECK(returned->page.files.size() == 1);
        }
    }
    const auto empty =
        read_page_answer(answer(200, {{"content-type", json_type}}, nothing), url, nullptr, noon);
    REQUIRE(empty.has_value());
    CHECK(read_page_answer(answer(404), url, &empty->page, noon)->page.is_absent);  // nothing was there
}

TEST_CASE("an answer without links is a failure where files were known, whatever it is") {
    const auto first = read_page_answer(page(), url, nullptr, noon);
    REQUIRE(first.has_value());
    const struct {
        const char* type;
        std::string body;
    } table[] = {
        {"text/html", "<html><body><h1>Down for maintenance</h1></body></html>"},
        {"text/html; charset=utf-8", "<html><a href=\"/login?back=%2Fsimple%2Fsix%2F\">Log in</a></html>"},
        {"application/vnd.pypi.simple.v1+html", "<!DOCTYPE html><html></html>"},
        {"text/html", ""},
        {"text/html", page().body},  // JSON as HTML
    };
    for (const auto& row : table) {
        CAPTURE(row.body);
        const io::HttpAnswer wrong =
            answer(200, {{"content-type", row.type}, {"cache-control", "max-age=86400"}}, row.body);
        const auto read = read_page_answer(wrong, url, &first->page, noon);
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().error.code == "upstream.no_links");
        CHECK_FALSE(read.error().is_upstream_wide);
        const auto unknown = read_page_answer(wrong, url, nullptr, noon);  // a project may have no files
        REQUIRE(unknown.has_value());
        CHECK(unknown->page.fresh_until == noon + registry::absent_fresh_s * second);
    }
}

TEST_CASE("a project that the upstream has in quarantine is not offered, and what was known stays known") {
    const auto first = read_page_answer(page(), url, nullptr, noon);
    REQUIRE(first.has_value());
    const auto held = read_page_answer(
        answer(
            200, {{"content-type", json_type}},
            R"({"meta":{"api-version":"1.4"},"name":"six","project-status":{"status":"quarantined"},"files":[]})"),
        url, &first->page, noon);
    REQUIRE(held.has_value());
    CHECK(held->page.status == "quarantined");
    CHECK(held->page.absent_since == 0);
    CHECK(held->page.files.size() == 1);
    CHECK(held->page.gone.empty());
}

TEST_CASE("other answers are failures, of the page or of the whole upstream") {
    const CachedPage before;
    const struct {
        io::HttpAnswer answer;
        bool is_upstream_wide;
        std::int64_t pause_s;
    } table[] = {{answer(429, {{"retry-after", "7"}}), true, 7},
                 {answer(503, {{"retry-after", "7"}}), true, 7},
                 {answer(503), true, 0},
                 {answer(500), true, 0},
                 {answer(304), false, 0},  // nothing to be unchanged
                 {answer(401), false, 0},
                 {answer(200, {{"content-type", "image/png"}}), false, 0},
                 {answer(200, {{"content-type", json_type}}, "{"), false, 0},
                 {answer(200, {{"content-type", json_type}}, R"({"meta":{"api-version":"2.0"},"files":[]})"),
                  false, 0}};
    for (const auto& row : table) {
        CAPTURE(row.answer.status);
        const auto read = read_page_answer(row.answer, url, nullptr, noon);
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().is_upstream_wide == row.is_upstream_wide);
        CHECK(read.error().pause_s == row.pause_s);
    }
}
