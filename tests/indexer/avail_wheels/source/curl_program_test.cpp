// HTTP with the program `curl`, for the static avail_wheels, which does not link libcurl.
#include "indexer/avail_wheels/source/source.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/process/process.hpp"
#include "tests/support/loopback_server.hpp"

using namespace wheelyard;

TEST_CASE("the program curl reads the log-ins that $NETRC names, and no others") {
    if (!base::find_program("curl")) return;
    const auto folder = *base::TempDir::make("curl-program");
    const std::string named = (folder.path() / "named").native();
    REQUIRE(base::replace_file(named, "machine 127.0.0.1 login me password secret\n", 0600));
    const testing::LoopbackServer server([](const testing::LoopbackRequest& request) {
        return testing::LoopbackAnswer{.body = request.header("authorization")};
    });
    const auto sent = [&](const char* netrc) {
        ::setenv("NETRC", netrc, 1);
        const auto answer = avail_wheels::get_by_curl_program(server.url(), {}, 1000);
        ::unsetenv("NETRC");
        return answer ? answer->body : answer.error().code;
    };
    ::setenv("no_proxy", "*", 1);
    CHECK(sent(named.c_str()) == "Basic bWU6c2VjcmV0");
    CHECK(sent("/nowhere").empty());
    CHECK(sent("").empty());
}

TEST_CASE("what the program curl prints is taken up to the limit, and of several answers the last") {
    if (!base::find_program("curl")) return;
    const testing::LoopbackServer server([](const testing::LoopbackRequest& request) {
        if (request.target == "/old")
            return testing::LoopbackAnswer{.status = 302, .body = "moved", .headers = {{"Location", "new"}}};
        const int status = request.target == "/new" ? 200 : 404;
        return testing::LoopbackAnswer{
            .status = status, .body = std::string(1000, 'x'), .headers = {{"ETag", "one"}}};
    });
    ::setenv("no_proxy", "*", 1);
    const auto answer = avail_wheels::get_by_curl_program(server.url("/old"), {}, 1000).value();
    CHECK(answer.status == 200);
    CHECK(answer.body == std::string(1000, 'x'));
    CHECK(answer.final_url == server.url("/new"));
    CHECK(answer.header("etag") == "one");
    const auto more = avail_wheels::get_by_curl_program(server.url("/new"), {}, 999).error();
    CHECK(more.code == "http.too_large");
    CHECK(more.value == server.url("/new"));
    std::string taken;
    const io::HttpSink sink = [&taken](std::string_view bytes) {
        taken += bytes;
        return base::Status{};
    };
    CHECK(avail_wheels::get_by_curl_program(server.url("/gone"), {}, {1000, &sink})->body.size() == 1000);
    CHECK(taken.empty());
    CHECK(avail_wheels::get_by_curl_program(server.url("/new"), {}, {1000, &sink})->body.empty());
    CHECK(taken.size() == 1000);
    CHECK(avail_wheels::post_by_curl_program(server.url("/old"), "{}", {})->status == 302);
}
