// Heads accepted and refused: what lets requests be smuggled past a proxy never gets through.
#include "registry/http/request_head.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace wheelyard::http {
namespace {

std::string head_with(std::string_view fields, std::string_view first = "GET / HTTP/1.1") {
    return std::string(first) + "\r\n" + std::string(fields) + "\r\n";
}

}  // namespace

TEST_CASE("a head becomes values") {
    const auto head = parse_request_head(head_with(
        "Host: registry.example:8080\r\nAccept: text/html\r\nACCEPT: */*;q=0.1\r\nContent-Length: 12\r\n"
        "Range: bytes=1-2\r\nIf-Range: \"e\"\r\nIf-None-Match: \"a\"\r\nif-none-match: \"b\"\r\n"
        "Authorization: Basic eDp5\r\nContent-Type: multipart/form-data; boundary=x\r\nExpect: "
        "100-Continue\r\nOrigin: https://a.example\r\nSec-Fetch-Site: cross-site\r\n",
        "POST /site/legacy/?a=b HTTP/1.1"));
    REQUIRE(head);
    CHECK(head->method == "POST");
    CHECK(head->target == "/site/legacy/?a=b");
    CHECK(head->host == "registry.example:8080");
    CHECK(head->accept == "text/html, */*;q=0.1");
    CHECK(head->content_length == 12);
    CHECK(head->range == "bytes=1-2");
    CHECK(head->if_range == "\"e\"");
    CHECK(head->if_none_match == "\"a\", \"b\"");
    CHECK(head->authorization == "Basic eDp5");
    CHECK(head->content_type == "multipart/form-data; boundary=x");
    CHECK(head->expects_continue);
    CHECK(head->origin == "https://a.example");
    CHECK(head->fetch_site == "cross-site");
    CHECK(head->keep_alive);
    CHECK(head->has_body());
}

TEST_CASE("version and Connection decide whether the connection is kept") {
    const std::vector<std::pair<std::string, bool>> table{
        {head_with("Host: a\r\n"), true},
        {head_with("Host: a\r\nConnection: close\r\n"), false},
        {head_with("Host: a\r\nConnection: Upgrade, CLOSE\r\n"), false},
        {head_with("", "GET / HTTP/1.0"), false},
        {head_with("Connection: keep-alive\r\n", "GET / HTTP/1.0"), true},
    };
    for (const auto& [text, keep] : table) {
        CAPTURE(text);
        const auto head = parse_request_head(text);
        REQUIRE(head);
        CHECK(head->keep_alive == keep);
    }
}

TEST_CASE("ambiguous or malformed heads are refused with their status") {
    const std::string host = "Host: a\r\n";
    const std::vector<std::pair<std::string, int>> table{
        {head_with(""), 400},           // no Host
        {head_with(host + host), 400},  // two
        {head_with("Host: a/b\r\n"), 400},
        {head_with("Host: a b\r\n"), 400},
        {head_with("Host: user@a\r\n"), 400},
        {head_with(host + "Content-Length: 1\r\nContent-Length: 1\r\n"), 400},  // even when equal
        {head_with(host + "Content-Length: 1\r\nContent-Length: 2\r\n"), 400},
        {head_with(host + "Content-Length: 1, 1\r\n"), 400},
        {head_with(host + "Content-Length: +1\r\n"), 400},
        {head_with(host + "Content-Length: -1\r\n"), 400},
        {head_with(host + "Content-Length: 0x1\r\n"), 400},
        {head_with(host + "Content-Length: 1 1\r\n"), 400},
        {head_with(host + "Content-Length:\r\n"), 400},
        {head_with(host + "Content-Length: 18446744073709551616\r\n"), 400},
        {head_with(host + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400},
        {head_with(host + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"), 400},
        {head_with(host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
        {head_with(host + "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"), 400},
        {head_with("Transfer-Encoding: chunked\r\n", "POST / HTTP/1.0"), 400},
        {head_with(host + "Transfer-Encoding: gzip, chunked\r\n"), 501},
        {head_with(host + "Transfer-Encoding: gzip\r\n"), 501},
        {head_with(host + "Transfer-Encoding: identity\r\n"), 501},
        {head_with(host + "Transfer-Encoding: \"chunked\"\r\n"), 501},
        {head_with(host + "Transfer-Encoding: xchunked\r\n"), 501},
        {head_with(host + "Transfer-Encoding:\r\n"), 501},
        {head_with(host + "Transfer-Encoding : chunked\r\n"), 400},  // blank before the colon
        {head_with(host + "X: a\r\n b\r\n"), 400},                   // obs-fold
        {head_with(host + "X: a\r\n\tb\r\n"), 400},
        {head_with(" Host: a\r\n"), 400},
        {head_with(host + "X: a\rb\r\n"), 400},  // bare CR
        {"GET / HTTP/1.1\nHost: a\n\r\n", 400},  // bare LF
        {head_with(host + "X: a\nb\r\n"), 400},
        {head_with(host + std::string("X: a\0b\r\n", 8)), 400},
        {head_with(host + "X: a\x7f\r\n"), 400},
        {head_with(host + "no colon\r\n"), 400},
        {head_with(host + ": empty name\r\n"), 400},
        {head_with(host + "X Y: blank in name\r\n"), 400},
        {head_with(host + "Authorization: a\r\nAuthorization: b\r\n"), 400},
        {head_with(host + "Content-Type: a/b\r\nContent-Type: c/d\r\n"), 400},
        {head_with(host, "GET  / HTTP/1.1"), 400},
        {head_with(host, "GET / "), 505},
        {head_with(host, "GET /"), 400},
        {head_with(host, "GET / HTTP/1.1 "), 505},
        {head_with(host, "G(T / HTTP/1.1"), 400},
        {head_with(host, "GET / HTTP/2.0"), 505},
        {head_with(host, "GET / HTTP/0.9"), 505},
        {head_with(host + "Expect: a-teapot\r\n"), 417},
    };
    for (const auto& [text, status] : table) {
        CAPTURE(text);
        const auto head = parse_request_head(text);
        REQUIRE_FALSE(head);
        CHECK(head.error().status == status);
    }
}

TEST_CASE("HTTP/1.0 needs no Host and expects nothing") {
    const auto head = parse_request_head(head_with("Expect: 100-continue\r\n", "GET / HTTP/1.0"));
    REQUIRE(head);
    CHECK_FALSE(head->expects_continue);
}

TEST_CASE("the end of a head is found wherever the pieces are cut") {
    const std::string bytes = head_with("Host: a\r\n") + "body";
    const std::size_t end = bytes.size() - 4;
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
        const std::size_t first = find_head_end(std::string_view(bytes).substr(0, cut), 0);
        if (first == std::string_view::npos)
            CHECK(find_head_end(bytes, cut) == end);
        else
            CHECK(first == end);
    }
}

}  // namespace wheelyard::http
