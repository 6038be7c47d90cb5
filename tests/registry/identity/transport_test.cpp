// Requests to providers over a real connection: each limit of the transport against a server that exceeds it.
#include "registry/identity/exchange.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "registry/identity/limits.hpp"
#include "tests/support/loopback_server.hpp"

using namespace wheelyard;
using testing::LoopbackAnswer;
using testing::LoopbackRequest;
using testing::LoopbackServer;

namespace {

LoopbackServer provider_that(LoopbackAnswer answer) {
    return LoopbackServer([answer = std::move(answer)](const LoopbackRequest&) { return answer; });
}

std::string fetched(const LoopbackServer& provider, bool permits_private = true) {
    const auto document = identity::fetch_over_network(permits_private)(provider.url("/keys"));
    return document ? "200 " + *document : document.error().code;
}

std::string posted(const LoopbackServer& provider, bool permits_private = true,
                   const std::string& secret = "") {
    const auto answer = identity::post_over_network(permits_private)(
        provider.url("/token"), {{"grant_type", "authorization_code"}, {"code", "a b"}}, "wheel:yard",
        secret);
    return answer ? std::to_string(answer->status) + " " + answer->body : answer.error().code;
}

const std::string body_of_any_length = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";

}  // namespace

TEST_CASE("a document of 64 KiB is taken, and of a longer or endless one no more than that") {
    const std::string most(identity::max_document_bytes, 'k');
    const auto longest = provider_that({.raw = body_of_any_length + most});
    CHECK(fetched(longest) == "200 " + most);
    CHECK(posted(longest) == "200 " + most);
    const auto longer = provider_that({.raw = body_of_any_length + most + "k"});
    CHECK(fetched(longer) == "http.too_large");
    CHECK(posted(longer) == "http.too_large");
}

TEST_CASE("a provider that sends a byte now and then is not waited for to its end") {
    // It would be done after 15 seconds, and never stalls.
    const auto slow =
        provider_that({.raw = body_of_any_length + std::string(110, 'k'), .byte_pause_ms = 100});
    CHECK(fetched(slow) == "http.timeout");
}

TEST_CASE("a redirect leads nowhere: a document has none, and a secret is sent to no other address") {
    const auto moved = provider_that({.status = 307, .headers = {{"Location", "/other"}}});
    CHECK(fetched(moved) == "provider.status");
    CHECK(posted(moved, true, "s") == "307 ");
    CHECK(moved.requests().size() == 2);
}

TEST_CASE("an address inside the site is connected to only where the rules permit it") {
    const auto inside = provider_that({.body = "{}"});
    CHECK(fetched(inside, false) == "http.private");
    CHECK(posted(inside, false) == "http.private");
    CHECK(inside.connections() == 0);
    CHECK(fetched(inside) == "200 {}");
    CHECK(posted(inside) == "200 {}");
}

TEST_CASE("a confidential client sends its secret as Basic, encoded for forms, and a public one sends none") {
    const auto provider = provider_that({.status = 400, .body = "{}"});
    CHECK(posted(provider, true, "100% a+b&c=\xc3\xbc") == "400 {}");
    CHECK(posted(provider) == "400 {}");
    const auto requests = provider.requests();
    REQUIRE(requests.size() == 2);
    // RFC 6749, 2.3.1: wheel%3Ayard:100%25%20a%2Bb%26c%3D%C3%BC
    CHECK(requests[0].header("authorization") ==
          "Basic d2hlZWwlM0F5YXJkOjEwMCUyNSUyMGElMkJiJTI2YyUzRCVDMyVCQw==");
    CHECK(requests[1].header("authorization").empty());
    for (const LoopbackRequest& request : requests) {
        CHECK(request.method == "POST");
        CHECK(request.header("content-type") == "application/x-www-form-urlencoded");
        CHECK(request.body == "grant_type=authorization_code&code=a%20b");
    }
}

TEST_CASE("neither a proxy of the environment nor ~/.netrc has a part in a log-in") {
    const auto provider = provider_that({.body = "{}"});
    const base::TempDir home = *base::TempDir::make("transport");
    REQUIRE(base::replace_file(home.path() / ".netrc", "machine 127.0.0.1 login me password mine\n", 0600));
    const char* const old_home = ::getenv("HOME");
    const std::string before = old_home == nullptr ? "" : old_home;
    ::setenv("HOME", home.path().c_str(), 1);
    ::setenv("http_proxy", "http://127.0.0.1:1", 1);
    ::setenv("no_proxy", "", 1);
    CHECK(fetched(provider) == "200 {}");
    CHECK(posted(provider) == "200 {}");
    ::unsetenv("http_proxy");
    ::unsetenv("no_proxy");
    ::setenv("HOME", before.c_str(), 1);
    for (const LoopbackRequest& request : provider.requests())
        CHECK(request.header("authorization").empty());
}
