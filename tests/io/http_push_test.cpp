// A request whose body comes in pieces: what arrives is the whole of it, and every end is an answer or an error.
#include "lib/io/http_push.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>

#include "tests/support/loopback_server.hpp"

using namespace wheelyard;
using io::HttpPush;
using testing::LoopbackAnswer;
using testing::LoopbackRequest;
using testing::LoopbackServer;

namespace {

io::HttpSettings direct() {
    io::HttpSettings settings;
    settings.uses_environment = false;
    return settings;
}

LoopbackServer::Handler answering(LoopbackAnswer answer) {
    return [answer = std::move(answer)](const LoopbackRequest&) { return answer; };
}

}  // namespace

TEST_CASE("the pieces of a body arrive as one body") {
    const std::string large(300'000, 'x');
    const LoopbackServer server(answering({.status = 201, .body = "made", .headers = {{"Location", "/a"}}}));
    auto push = HttpPush::begin(direct(), {.method = "PATCH",
                                           .url = server.url("/x?y=1"),
                                           .headers = {{"Authorization", "Bearer t"}, {"Upload-Offset", "7"}},
                                           .length_bytes = 2 * large.size() + 3})
                    .value();
    REQUIRE(push->feed(large));
    REQUIRE(push->feed("abc"));
    REQUIRE(push->feed(large));
    const auto answer = push->finish();
    REQUIRE_MESSAGE(answer.has_value(), answer.error().text());
    CHECK(answer->status == 201);
    CHECK(answer->body == "made");
    CHECK(answer->header("location") == "/a");
    const LoopbackRequest seen = server.requests().at(0);
    CHECK(seen.method == "PATCH");
    CHECK(seen.target == "/x?y=1");
    CHECK(seen.header("authorization") == "Bearer t");
    CHECK(seen.header("upload-offset") == "7");
    CHECK(seen.body == large + "abc" + large);
}

TEST_CASE("a request without a body is sent by its end") {
    for (const char* method : {"GET", "DELETE", "HEAD"}) {
        const LoopbackServer server(answering({.status = 204}));
        auto push = HttpPush::begin(direct(), {.method = method, .url = server.url()}).value();
        CHECK(push->finish().value().status == 204);
        CHECK(server.requests().at(0).method == method);
    }
}

TEST_CASE("a refusal before the whole body was sent is the answer") {
    const LoopbackServer server(answering({.status = 403, .body = "no", .read_body = false}));
    const std::string piece(1'000'000, 'x');
    constexpr int pieces = 200;  // more than sockets hold
    auto push = HttpPush::begin(
                    direct(), {.method = "POST", .url = server.url(), .length_bytes = pieces * piece.size()})
                    .value();
    int fed = 0;
    for (; fed < pieces && !push->has_ended(); ++fed)
        REQUIRE(push->feed(piece));
    CHECK(fed < pieces);
    const auto answer = push->finish();
    REQUIRE_MESSAGE(answer.has_value(), answer.error().text());
    CHECK(answer->status == 403);
}

TEST_CASE("a server that is not there or says nothing is an error, in time") {
    auto absent =
        HttpPush::begin(direct(), {.method = "POST", .url = "http://127.0.0.1:1/", .length_bytes = 3})
            .value();
    CHECK(absent->feed("abc"));
    CHECK(absent->finish().error().code == "http.connect");
    const LoopbackServer silent(answering({.silent = true}));
    io::HttpSettings impatient = direct();
    impatient.answer_timeout_ms = 200;
    auto push =
        HttpPush::begin(impatient, {.method = "POST", .url = silent.url(), .length_bytes = 3}).value();
    CHECK(push->feed("abc"));
    CHECK(push->finish().error().code == "http.timeout");
}

TEST_CASE("a request that is given up before its end is cut, and a header cannot inject another") {
    const LoopbackServer server(answering({}));
    {
        auto push =
            HttpPush::begin(direct(), {.method = "POST", .url = server.url(), .length_bytes = 1'000}).value();
        CHECK(push->feed("abc"));
    }
    for (const LoopbackRequest& seen : server.requests())
        CHECK(seen.body.size() < 1'000);
    CHECK(HttpPush::begin(direct(), {.method = "GET", .url = server.url(), .headers = {{"A", "b\r\nC: d"}}})
              .error()
              .code == "http.header");
}
