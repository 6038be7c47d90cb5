// Requests that are refused before anything is sent, and redirects in a circle.
#include "registry/upstream/upstream_client.hpp"

#include <doctest/doctest.h>

#include "tests/support/loopback_server.hpp"

using namespace wheelyard;

TEST_CASE(
    "what leads back to this registry is refused at once, unless its upstream is itself an index of it") {
    registry::UpstreamConfig upstream;
    upstream.url = "http://127.0.0.1:1/simple/";
    upstream.hosts = upstream.private_hosts = {"127.0.0.1:1"};
    const std::atomic<bool> stopping = false;
    const auto is_own = [](const std::string& url) { return url.find("/base/") != std::string::npos; };
    registry::UpstreamClient client(upstream, stopping, is_own);
    const auto refused = client.get("http://127.0.0.1:1/base/files/x.whl", {}, 1);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == "upstream.redirect");
    CHECK(refused.error().kind == base::ErrorKind::refused);
    CHECK(client.get("http://127.0.0.1:1/other/x.whl", {}, 1).error().code == "http.connect");
    upstream.url = "http://127.0.0.1:1/base/simple/";
    registry::UpstreamClient of_own(upstream, stopping, is_own);
    CHECK(of_own.get("http://127.0.0.1:1/base/files/x.whl", {}, 1).error().code == "http.connect");
}

TEST_CASE("every request says through which registries it comes, also after a redirect") {
    registry::UpstreamConfig upstream;
    const testing::LoopbackServer server([](const testing::LoopbackRequest& request) {
        return request.target == "/a"
                   ? testing::LoopbackAnswer{.status = 302, .headers = {{"Location", "/b"}}}
                   : testing::LoopbackAnswer{.status = 200};
    });
    upstream.url = server.url();
    upstream.hosts = upstream.private_hosts = {"127.0.0.1:" + std::to_string(server.port())};
    const std::atomic<bool> stopping = false;
    registry::UpstreamClient client(upstream, stopping);
    client.send_via("one, two");
    REQUIRE(client.get(server.url("/a"), {}, 1000).has_value());
    REQUIRE(server.requests().size() == 2);
    for (const testing::LoopbackRequest& request : server.requests())
        CHECK(request.header("wheelyard-via") == "one, two");
}

TEST_CASE("a status says whether asking again may help, and its address is named without secrets") {
    using Kind = base::ErrorKind;
    const std::string url = "https://anna:secret@wheels.example/files/six.whl?signature=secret";
    for (const auto& [status, kind] :
         {std::pair(404, Kind::missing), std::pair(410, Kind::missing), std::pair(401, Kind::unauthorized),
          std::pair(403, Kind::unauthorized), std::pair(451, Kind::unauthorized),
          std::pair(408, Kind::unavailable), std::pair(429, Kind::unavailable),
          std::pair(500, Kind::unavailable), std::pair(503, Kind::unavailable)}) {
        CAPTURE(status);
        const base::Error error = registry::fail_answer(status, url).value();
        CHECK(error.kind == kind);
        CHECK((error.recovery == base::Recovery::retry) == (kind == Kind::unavailable));
        CHECK(registry::is_upstreams_no(error) == (kind != Kind::unavailable));
        CHECK(error.text().find("wheels.example/files/six.whl") != std::string::npos);
        CHECK(error.text().find("secret") == std::string::npos);
    }
}

TEST_CASE("redirects in a circle end where it closes") {
    registry::UpstreamConfig upstream;
    const testing::LoopbackServer server([](const testing::LoopbackRequest& request) {
        return testing::LoopbackAnswer{.status = 302,
                                       .headers = {{"Location", request.target == "/a" ? "/b" : "/a"}}};
    });
    upstream.url = server.url();
    upstream.hosts = upstream.private_hosts = {"127.0.0.1:" + std::to_string(server.port())};
    const std::atomic<bool> stopping = false;
    registry::UpstreamClient client(upstream, stopping);
    CHECK(client.get(server.url("/a"), {}, 1000).error().code == "upstream.redirect");
    CHECK(server.requests().size() == 2);
}

TEST_CASE("a proxy that is down is named as the proxy, and not as the upstream") {
    registry::UpstreamConfig upstream;
    upstream.url = "https://index.example/simple/";
    upstream.hosts = {"index.example"};
    const std::atomic<bool> stopping = false;
    for (const auto& [proxy, shown] : {std::pair("http://127.0.0.1:1", "http://127.0.0.1:1"),
                                       std::pair("http://ann:secret@127.0.0.1:1", "http://****@127.0.0.1:1"),
                                       std::pair("http://proxy.invalid:3128", "http://proxy.invalid:3128")}) {
        upstream.proxy = proxy;
        registry::UpstreamClient client(upstream, stopping);
        const auto failed = client.get("https://index.example/simple/six/", {}, 1000);
        REQUIRE_FALSE(failed.has_value());
        CHECK(failed.error().sentence.starts_with("The proxy cannot be reached"));
        CHECK(failed.error().value.starts_with(shown));
        CHECK(failed.error().kind == base::ErrorKind::unreachable);
    }
}
