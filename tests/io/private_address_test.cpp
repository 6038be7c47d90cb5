// The addresses that a server must not be led to.
#include "lib/io/private_address.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstring>

#include "lib/io/http_client.hpp"
#include "tests/support/loopback_server.hpp"

using namespace wheelyard;

namespace {

sockaddr_storage address_of(const char* text) {
    sockaddr_storage storage{};
    auto& four = reinterpret_cast<sockaddr_in&>(storage);
    auto& six = reinterpret_cast<sockaddr_in6&>(storage);
    if (::inet_pton(AF_INET, text, &four.sin_addr) == 1) {
        four.sin_family = AF_INET;
    } else {
        REQUIRE(::inet_pton(AF_INET6, text, &six.sin6_addr) == 1);
        six.sin6_family = AF_INET6;
    }
    return storage;
}

bool is_private(const char* text) {
    const sockaddr_storage storage = address_of(text);
    return io::is_private_address(reinterpret_cast<const sockaddr&>(storage));
}

}  // namespace

TEST_CASE("addresses of this machine, its site and the cloud are private, also inside of IPv6") {
    for (const char* text : {"127.0.0.1",
                             "127.255.255.255",
                             "0.0.0.0",
                             "10.0.0.1",
                             "100.64.0.1",
                             "100.127.255.255",
                             "169.254.169.254",
                             "172.16.0.1",
                             "172.31.255.255",
                             "192.168.1.1",
                             "192.0.0.8",
                             "198.18.0.1",
                             "224.0.0.1",
                             "240.0.0.1",
                             "255.255.255.255",
                             "::",
                             "::1",
                             "::ffff:127.0.0.1",
                             "::ffff:10.0.0.1",
                             "64:ff9b::10.0.0.1",
                             "fe80::1",
                             "fc00::1",
                             "fd00:ec2::254",
                             "ff02::1",
                             "2001:db8::1",
                             "2001::1",
                             "2002:7f00:1::",
                             "2002:a00:1::",
                             "::127.0.0.1"})
        CHECK_MESSAGE(is_private(text), text);
    for (const char* text :
         {"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
          "128.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "223.255.255.255",
          "2606:4700::1111", "2a00:1450::1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::"})
        CHECK_MESSAGE(!is_private(text), text);
    sockaddr_storage socket{};
    socket.ss_family = AF_UNIX;
    CHECK(io::is_private_address(reinterpret_cast<const sockaddr&>(socket)));
}

TEST_CASE("a client that must not connect to private addresses sends nothing to them") {
    testing::LoopbackServer server([](const testing::LoopbackRequest&) { return testing::LoopbackAnswer{}; });
    io::HttpSettings settings;
    settings.uses_environment = false;
    settings.permits_private_hosts = false;
    io::HttpClient refusing(settings);
    for (const std::string& host :
         {std::string("127.0.0.1"), std::string("localhost"), std::string("[::1]")}) {
        const auto answer = refusing.get("http://" + host + ":" + std::to_string(server.port()) + "/");
        REQUIRE_FALSE(answer.has_value());
        if (host != "[::1]") CHECK(answer.error().code == "http.private");
    }
    CHECK(server.connections() == 0);
    settings.permits_private_hosts = true;
    CHECK(io::HttpClient(settings).get(server.url()).has_value());
}

TEST_CASE("without redirects a 3xx is the answer, and a sink takes only the body of a 200") {
    testing::LoopbackServer server([](const testing::LoopbackRequest& request) {
        if (request.target == "/away")
            return testing::LoopbackAnswer{.status = 302, .body = "go", .headers = {{"Location", "/x"}}};
        return testing::LoopbackAnswer{.body = "0123456789"};
    });
    io::HttpSettings settings;
    settings.uses_environment = false;
    settings.follows_redirects = false;
    io::HttpClient client(settings);
    std::string taken;
    const auto take = [&](std::string_view bytes) -> base::Status {
        taken += bytes;
        return {};
    };
    const auto away = client.fetch(server.url("/away"), {}, 100, take);
    REQUIRE(away.has_value());
    CHECK(away->status == 302);
    CHECK(away->header("location") == "/x");
    CHECK(away->body == "go");
    CHECK(taken.empty());
    CHECK(client.fetch(server.url("/file"), {}, 10, take)->status == 200);
    CHECK(taken == "0123456789");
    CHECK(client.fetch(server.url("/file"), {}, 9, take).error().kind == base::ErrorKind::too_large);
    const auto refuse = [](std::string_view) -> base::Status { return base::fail("test.full", "no more"); };
    CHECK(client.fetch(server.url("/file"), {}, 100, refuse).error().code == "test.full");
    int asked = 0;
    CHECK(client
              .fetch(server.url("/file"), {}, 100, take,
                     [&](std::uint64_t, std::uint64_t) { return ++asked < 1; })
              .error()
              .code == "http.stopped");
}
