// The URL at which clients see this server
#include "registry/http/forwarded.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace wheelyard::http {

namespace {

RequestHead proxied_head(const std::string& fields) {
    const auto head = parse_request_head("GET / HTTP/1.1\r\nHost: inside:8080\r\n" + fields + "\r\n");
    REQUIRE(head);
    return *head;
}

}  // namespace

TEST_CASE("the server's URL is what a named proxy says of the client's request") {
    const std::vector<std::pair<std::string, std::string>> table{
        {"", "http://inside:8080"},
        {"X-Forwarded-Proto: https\r\n", "https://inside:8080"},
        {"X-Forwarded-Proto: HTTPS\r\nX-Forwarded-Host: w.example:8443\r\nX-Forwarded-Prefix: /a/b\r\n",
         "https://w.example:8443/a/b"},
        {"X-Forwarded-Prefix: /a/b/\r\n", "http://inside:8080/a/b"},
        {"X-Forwarded-Prefix: /\r\n", "http://inside:8080"},
        {"X-Forwarded-Host: [2001:db8::1]:8443\r\n", "http://[2001:db8::1]:8443"},
        // What the client has sent comes first, what the proxy has added last (RFC 7239 §4).
        {"X-Forwarded-Host: evil.example, w.example\r\n", "http://w.example"},
        {"X-Forwarded-Host: evil.example\r\nX-Forwarded-Host: w.example\r\n", "http://w.example"},
        {"X-Forwarded-Prefix: /evil, /a\r\n", "http://inside:8080/a"},
        // RFC 7239 §4 and §6.
        {"Forwarded: for=192.0.2.60;proto=https;by=203.0.113.43;host=w.example\r\n", "https://w.example"},
        {"Forwarded: For=\"[2001:db8:cafe::17]:4711\";Host=\"w.example:8443\";Proto=https\r\n",
         "https://w.example:8443"},
        {"Forwarded: host=evil.example;proto=http, host=w.example; proto=https\r\n", "https://w.example"},
        {"Forwarded: host=\"evil, host=more.example\", for=_x\r\n", "http://inside:8080"},
        {"Forwarded: for=_x, host=w.example\r\nX-Forwarded-Prefix: /a\r\n", "http://w.example/a"},
        {"Forwarded: host=w.example\r\nX-Forwarded-Host: x.example\r\n", "http://x.example"},
        // A quote that the client opens takes in nothing of what the proxy adds, in a field line of its own or in the client's.
        {"Forwarded: host=evil.example;x=\"\r\nForwarded: for=_x;host=w.example\r\n", "http://w.example"},
        {"Forwarded: host=evil.example;x=\"\\\r\nForwarded: for=\"[2001:db8::1]:1\";host=w.example\r\n",
         "http://w.example"},
        {"Forwarded: host=evil.example;x=\", for=_x;host=w.example\r\n", "http://inside:8080"},
        {"Forwarded: host=evil.example;x=\", for=\"[2001:db8::1]:1\";host=w.example\r\n",
         "http://inside:8080"},
        {"X-Forwarded-Host: \"evil\r\nX-Forwarded-Host: w.example\r\n", "http://w.example"},
    };
    for (const auto& [fields, url] : table) {
        CAPTURE(fields);
        CHECK(public_url_of(proxied_head(fields), false, true, "") == url);
        CHECK(public_url_of(proxied_head(fields), false, false, "") == "http://inside:8080");
        CHECK(public_url_of(proxied_head(fields), true, false, "") == "https://inside:8080");
        CHECK(public_url_of(proxied_head(fields), true, true, "https://own.example/all") ==
              "https://own.example/all");
    }
}

TEST_CASE("what is no scheme, host or path is as if the proxy had not said it") {
    const std::string long_text(300, 'a');
    for (const std::string& fields : std::vector<std::string>{"X-Forwarded-Proto: javascript\r\n",
                                                              "X-Forwarded-Proto: https://evil\r\n",
                                                              "X-Forwarded-Host: a\"b\r\n",
                                                              "X-Forwarded-Host: a/b\r\n",
                                                              "X-Forwarded-Host: user@evil\r\n",
                                                              "X-Forwarded-Host: a<b>\r\n",
                                                              "X-Forwarded-Host: a b\r\n",
                                                              "X-Forwarded-Host: " + long_text + "\r\n",
                                                              "X-Forwarded-Host: ,\r\n",
                                                              "X-Forwarded-Prefix: a/b\r\n",
                                                              "X-Forwarded-Prefix: //evil.example\r\n",
                                                              "X-Forwarded-Prefix: /a//b\r\n",
                                                              "X-Forwarded-Prefix: /a/../b\r\n",
                                                              "X-Forwarded-Prefix: /..\r\n",
                                                              "X-Forwarded-Prefix: /./a\r\n",
                                                              "X-Forwarded-Prefix: /a?b\r\n",
                                                              "X-Forwarded-Prefix: /a#b\r\n",
                                                              "X-Forwarded-Prefix: /a\"><script>\r\n",
                                                              "X-Forwarded-Prefix: /%2e%2e/a\r\n",
                                                              "X-Forwarded-Prefix: /a\\b\r\n",
                                                              "X-Forwarded-Prefix: @evil.example/\r\n",
                                                              "X-Forwarded-Prefix: /" + long_text + "\r\n",
                                                              "Forwarded: host\r\n",
                                                              "Forwarded: host=\"a\\\"b\"\r\n",
                                                              "Forwarded: host=\"\r\n",
                                                              "Forwarded: proto=ftp;;=;host=\r\n",
                                                              "Forwarded: \"\\\r\n"}) {
        CAPTURE(fields);
        CHECK(public_url_of(proxied_head(fields), false, true, "") == "http://inside:8080");
    }
}

TEST_CASE("a change that a page of another site made a browser send is recognised") {
    struct Row {
        const char* method;
        const char* fetch_site;
        const char* origin;
        bool is_other;
    };
    for (const Row& row : {
             Row{"POST", "", "", false},  // a program
             Row{"POST", "same-origin", "https://wheels.example.org", false},
             Row{"POST", "none", "", false},
             Row{"POST", "same-site", "https://www.example.org", true},
             Row{"POST", "cross-site", "https://evil.example", true},
             Row{"DELETE", "cross-site", "", true},
             Row{"GET", "cross-site", "https://evil.example", false},
             Row{"HEAD", "cross-site", "", false},
             Row{"POST", "", "https://wheels.example.org", false},
             Row{"POST", "", "https://WHEELS.example.org:8443", false},
             Row{"POST", "", "http://evil.example", true},
             Row{"POST", "", "https://wheels.example.org.evil.example", true},
             Row{"PATCH", "", "null", true},
             Row{"PUT", "", "https://wheels.example.org, https://evil.example", true},
         }) {
        CAPTURE(row.method);
        CAPTURE(row.fetch_site);
        CAPTURE(row.origin);
        RequestHead head;
        head.method = row.method;
        head.fetch_site = row.fetch_site;
        head.origin = row.origin;
        CHECK(is_from_other_site(head, "https://wheels.example.org") == row.is_other);
    }
}

}  // namespace wheelyard::http
