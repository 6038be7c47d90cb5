// Who a request is from, behind proxies or not.
#include "registry/http/forwarded.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace wheelyard::http {

TEST_CASE("the network of a client is what one customer has: 24 bits of IPv4, 56 of IPv6 (RIPE-690)") {
    const RequestHead plain;
    const auto network = [&](const char* peer) { return network_of_client(client_of(plain, peer, {})); };
    CHECK(network("192.0.2.7") == network("192.0.2.200"));
    CHECK(network("192.0.2.7") != network("192.0.3.7"));
    CHECK(network("2001:db8:1:200::1") == network("2001:db8:1:2ff::9"));
    CHECK(network("2001:db8:1:200::1") != network("2001:db8:1:300::1"));
    CHECK(network("no address") == "no address");
    const auto home = [&](const char* peer) { return home_of_client(client_of(plain, peer, {})); };
    CHECK(home("192.0.2.7") != home("192.0.2.200"));
    CHECK(home("2001:db8:1:200::1") == home("2001:db8:1:2ff::9"));
}

TEST_CASE("a client is the nearest host that is no trusted proxy") {
    const std::vector<std::string> trusted{"127.0.0.1", "10.0.0.9", "unix"};
    const struct {
        const char* peer;
        const char* fields;
        const char* client;
    } table[] = {
        {"192.0.2.7", "", "192.0.2.7"},
        // Anybody can send the fields.
        {"192.0.2.7", "X-Forwarded-For: 192.0.2.8\r\nForwarded: for=192.0.2.9\r\n", "192.0.2.7"},
        {"127.0.0.1", "X-Forwarded-For: 192.0.2.8\r\n", "192.0.2.8"},
        {"unix", "X-Forwarded-For: 192.0.2.8:4711\r\n", "192.0.2.8"},
        // What the client has sent comes first, what the proxies have added last (RFC 7239 §5.2).
        {"127.0.0.1", "X-Forwarded-For: 1.1.1.1, 192.0.2.8, 10.0.0.9\r\n", "192.0.2.8"},
        {"127.0.0.1", "X-Forwarded-For: 10.0.0.9\r\n", "127.0.0.1"},
        {"127.0.0.1", "X-Forwarded-For: \"x, 192.0.2.8\r\n", "127.0.0.1"},
        {"127.0.0.1", "Forwarded: for=1.1.1.1, for=192.0.2.60;proto=https;by=203.0.113.43\r\n", "192.0.2.60"},
        {"127.0.0.1", "Forwarded: For=\"[2001:db8:cafe:1::17]:4711\"\r\n", "20010db8cafe0001::/64"},
        {"127.0.0.1", "X-Forwarded-For: 2001:db8:cafe:1::18\r\n", "20010db8cafe0001::/64"},
        {"127.0.0.1", "X-Forwarded-For: ::ffff:192.0.2.8\r\n", "192.0.2.8"},
        {"127.0.0.1", "X-Forwarded-For: ::FFFF:c000:0208\r\n", "192.0.2.8"},
        {"127.0.0.1", "Forwarded: for=\"[::FFFF:192.0.2.8]:4711\"\r\n", "192.0.2.8"},
        {"127.0.0.1", "X-Forwarded-For: 192.0.2.8, ::ffff:10.0.0.9\r\n", "192.0.2.8"},
        {"2001:db8:cafe:2::1", "", "20010db8cafe0002::/64"},
        {"127.0.0.1", "X-Forwarded-For: 192.0.2.60\r\nForwarded: for=1.1.1.1\r\n", "192.0.2.60"},
        {"127.0.0.1", "Forwarded: for=unknown\r\n", "unknown"},
        {"127.0.0.1", "Forwarded: proto=https\r\n", "127.0.0.1"},
        {"127.0.0.1", "", "127.0.0.1"},
    };
    for (const auto& row : table) {
        CAPTURE(row.peer);
        CAPTURE(row.fields);
        const auto head =
            parse_request_head("GET / HTTP/1.1\r\nHost: inside\r\n" + std::string(row.fields) + "\r\n");
        REQUIRE(head);
        CHECK(client_of(*head, row.peer, trusted) == row.client);
    }
}

TEST_CASE("a field that the proxies are not said to set is the client's, and counts for nothing") {
    std::string fields;
    for (const ProxyField& field : proxy_fields)
        fields += std::string(field.name) + ": x\r\n";
    for (const ProxyField& trusted : proxy_fields) {
        CAPTURE(trusted.name);
        auto head = parse_request_head("GET / HTTP/1.1\r\nHost: inside\r\n" + fields + "\r\n");
        REQUIRE(head);
        remove_untrusted_fields(*head, {std::string(trusted.name)});
        for (const ProxyField& field : proxy_fields)
            CHECK((*head).*field.value == (field.name == trusted.name ? "x" : ""));
    }
}

}  // namespace wheelyard::http
