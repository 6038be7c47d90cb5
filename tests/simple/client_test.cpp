// The client with a server on loopback.
#include "lib/simple/client.hpp"

#include <doctest/doctest.h>

#include "lib/simple/limits.hpp"
#include "tests/support/loopback_server.hpp"

namespace wheelyard::simple {
namespace {

using testing::LoopbackAnswer;
using testing::LoopbackRequest;
using testing::LoopbackServer;

LoopbackAnswer html(const std::string& body) {
    return {.status = 200, .body = body, .headers = {{"Content-Type", "text/html"}}};
}

LoopbackAnswer answer(const LoopbackRequest& request) {
    if (request.target == "/simple/") return html("<a href=foo-bar/>Foo.Bar</a>");
    if (request.target == "/simple/foo-bar/") return html("<a href=\"foo_bar-1.0-py3-none-any.whl\">x</a>");
    if (request.target == "/simple/moved/")
        return {.status = 302, .headers = {{"Location", "/elsewhere/moved/"}}};
    if (request.target == "/elsewhere/moved/") return html("<a href=\"moved-1.0.tar.gz\">x</a>");
    if (request.target == "/simple/hidden/") return {.status = 403};
    if (request.target == "/simple/broken/") return {.status = 503};
    if (request.target == "/simple/early/") return {.status = 425};
    if (request.target == "/simple/odd/")
        return {.status = 200, .body = "x", .headers = {{"Content-Type", "text/plain"}}};
    return {.status = 404};
}

}  // namespace

TEST_CASE("a project's page is requested under its normalised name, JSON preferred") {
    const LoopbackServer server(answer);
    io::HttpClient http;
    const auto page = fetch_project(http, server.url("/simple"), "Foo.Bar");
    REQUIRE(page.has_value());
    REQUIRE(page->has_value());
    CHECK((*page)->files.at(0).url == server.url("/simple/foo-bar/foo_bar-1.0-py3-none-any.whl"));
    REQUIRE(server.requests().size() == 1);
    CHECK(server.requests()[0].header("accept") == std::string(accept_pages));
}

TEST_CASE("404 and 403 mean that the index does not have the project") {
    const LoopbackServer server(answer);
    io::HttpClient http;
    for (const char* name : {"absent", "hidden"}) {
        const auto page = fetch_project(http, server.url("/simple/"), name);
        REQUIRE_MESSAGE(page.has_value(), name);
        CHECK_MESSAGE(!page->has_value(), name);
    }
}

TEST_CASE("an index that may be unknown or private is no index that only tokens may read") {
    const auto error = [](int status, const char* body) {
        io::HttpAnswer answer;
        answer.status = status;
        answer.body = body;
        return error_of_answer("x", answer, "http://h/main/", "see its log");
    };
    const auto told =
        error(401, R"({"code":"auth.missing","detail":"Unknown, or private.","advice":"send a header"})");
    CHECK(told.sentence == "Unknown, or private");
    CHECK(told.advice.starts_with("check the index's name; if only tokens may read it"));
    CHECK(error(401, "").advice == told.advice);
    const auto expired =
        error(401, R"({"code":"auth.token_refused","detail":"It expired.","advice":"ask for one"})");
    CHECK(expired.advice == "ask for one");
    CHECK(error(500, "").advice == "see its log");
}

TEST_CASE("links resolve against the URL after a redirect") {
    const LoopbackServer server(answer);
    io::HttpClient http;
    const auto page = fetch_project(http, server.url("/simple/"), "moved");
    REQUIRE((page.has_value() && page->has_value()));
    CHECK((*page)->files.at(0).url == server.url("/elsewhere/moved/moved-1.0.tar.gz"));
}

TEST_CASE("a temporary status is worth a retry") {
    const LoopbackServer server(answer);
    io::HttpClient http;
    for (const char* name : {"broken", "early"}) {
        CAPTURE(name);
        const auto page = fetch_project(http, server.url("/simple/"), name);
        REQUIRE(!page.has_value());
        CHECK(page.error().recovery == base::Recovery::retry);
    }
}

TEST_CASE("other statuses are errors that show no password") {
    const LoopbackServer server(answer);
    io::HttpClient http;
    const auto with_password = "http://user:secret@127.0.0.1:" + std::to_string(server.port()) + "/simple/";
    const auto broken = fetch_project(http, with_password, "broken");
    REQUIRE_FALSE(broken.has_value());
    CHECK(broken.error().code == "simple.http");
    CHECK(broken.error().text().find("secret") == std::string::npos);
    CHECK(broken.error().sentence.find("503") != std::string::npos);
    CHECK(fetch_project(http, server.url("/simple/"), "odd").error().code == "simple.content_type");
    CHECK_FALSE(fetch_root(http, server.url("/nothing/")).has_value());
}

TEST_CASE("what is no page of an index is named with its URL, and where an index may be") {
    const LoopbackServer server([](const LoopbackRequest& /*request*/) {
        return LoopbackAnswer{.status = 200,
                              .body = "{}",
                              .headers = {{"Content-Type", "application/vnd.pypi.simple.v1+json"}}};
    });
    io::HttpClient http;
    const auto page = fetch_project(http, server.url("/"), "foo");
    const auto root = fetch_root(http, server.url("/"));
    REQUIRE(!page.has_value());
    REQUIRE(!root.has_value());
    CHECK(page.error().value == server.url("/foo/"));
    CHECK(root.error().value == server.url("/"));
    for (const base::Error& error : {page.error(), root.error()})
        CHECK(error.advice.find("/simple/") != std::string::npos);
}

TEST_CASE("a server's reason for a refusal is shown, with its advice, in one printable line") {
    io::HttpAnswer refused;
    refused.status = 401;
    refused.body =
        R"({"code":"auth.token_refused","detail":"This token expired\non 2026\u001b[2J.","advice":"ask for a new one"})";
    CHECK(told_refusal(refused).reason == "This token expired on 2026?[2J");
    CHECK(told_refusal(refused).advice == "ask for a new one");
    const auto page =
        fetch_project([&](const auto&, const auto&, auto) { return base::Result<io::HttpAnswer>(refused); },
                      "https://wheels.example.org/main/simple/", "foo");
    REQUIRE_FALSE(page.has_value());
    CHECK(page.error().sentence == "This token expired on 2026?[2J");
    CHECK(page.error().advice == "ask for a new one");
    refused.body = R"({"code":"x","detail":")" + std::string(100'000, 'x') + "\"}";
    CHECK(told_refusal(refused).reason.size() == max_told_bytes);
    for (const char* other : {"<html>", "[]", R"({"message":"no code of ours"})"}) {
        refused.body = other;
        CHECK(told_refusal(refused).reason.empty());
    }
    refused.body = R"({"code":"x","detail":"why"})";
    for (const int status : {400, 404, 414}) {
        refused.status = status;
        CHECK(told_refusal(refused).reason == "why");
    }
    for (const int passes : {200, 408, 429, 500}) {
        refused.status = passes;
        CHECK(told_refusal(refused).reason.empty());
    }
}

TEST_CASE("the root page returns the project names") {
    const LoopbackServer server(answer);
    io::HttpClient http;
    CHECK(*fetch_root(http, server.url("/simple")) == std::vector<std::string>{"Foo.Bar"});
}

}  // namespace wheelyard::simple
