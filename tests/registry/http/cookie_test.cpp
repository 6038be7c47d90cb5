// Which requests a cookie speaks for, and where a browser sends it.
#include "registry/http/cookie.hpp"

#include <doctest/doctest.h>

#include <string>

namespace wheelyard::http {
namespace {

std::string taken(RequestHead head) {
    take_cookie(head);
    return head.authorization;
}

TEST_CASE("a cookie speaks for a request that reads, and that no page of another origin sent") {
    const struct {
        const char* method;
        const char* cookie;
        const char* authorization;
        const char* fetch_site;
        const char* origin;
        const char* taken;
    } rows[] = {
        {"GET", "wheelyard-read=v", "", "", "", "Cookie v"},
        {"HEAD", "a=b; wheelyard-read=v; c=d", "", "same-origin", "", "Cookie v"},
        {"GET", "a=b;wheelyard-read=v", "", "none", "", "Cookie v"},
        {"GET", "wheelyard-read=; wheelyard-read=first; wheelyard-read=second", "", "", "",
         "Cookie first second"},
        {"GET", "wheelyard-read=1; wheelyard-read=2; wheelyard-read=3; wheelyard-read=4", "", "", "",
         "Cookie 1 2 3"},
        {"GET", "wheelyard-read=v", "Bearer t", "", "", "Bearer t"},
        {"POST", "wheelyard-read=v", "", "same-origin", "", ""},
        {"DELETE", "wheelyard-read=v", "", "", "", ""},
        {"OPTIONS", "wheelyard-read=v", "", "", "", ""},
        {"GET", "wheelyard-read=v", "", "cross-site", "", ""},
        {"GET", "wheelyard-read=v", "", "same-site", "", ""},  // another port, or a sibling of this host
        {"GET", "wheelyard-read=v", "", "", "https://wheels.example.org:444", ""},
        {"GET", "wheelyard-read=v", "", "same-origin, cross-site", "", ""},
        {"GET", "wheelyard-reader=v; xwheelyard-read=v; wheelyard-read", "", "", "", ""},
        {"GET", "", "", "", "", ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.method);
        CAPTURE(row.cookie);
        CAPTURE(row.fetch_site);
        RequestHead head;
        head.method = row.method;
        head.cookie = row.cookie;
        head.authorization = row.authorization;
        head.fetch_site = row.fetch_site;
        head.origin = row.origin;
        CHECK(taken(head) == row.taken);
    }
    RequestHead head;
    head.method = "GET";
    head.cookie = "wheelyard-read=" + std::string(60'000, 'x');
    CHECK(taken(head).empty());
}

TEST_CASE("a browser sends a cookie to its index alone, and by https where that is how it sees the server") {
    CHECK(set_cookie("http://127.0.0.1:8080", "lab", "v") ==
          "wheelyard-read=v; Path=/lab/; HttpOnly; SameSite=Strict");
    CHECK(set_cookie("https://wheels.example.org/pypi", "lab", "v") ==
          "wheelyard-read=v; Path=/pypi/lab/; HttpOnly; SameSite=Strict; Secure");
    CHECK(set_cookie("https://wheels.example.org/", "lab", "") ==
          "wheelyard-read=; Path=/lab/; HttpOnly; SameSite=Strict; Secure; Max-Age=0");
}

}  // namespace
}  // namespace wheelyard::http
