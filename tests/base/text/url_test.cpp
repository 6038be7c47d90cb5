// URLs: accepted, rejected, resolved.
#include "lib/base/text/url.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace wheelyard::base;

TEST_CASE("a URL is split into its parts and rendered unchanged") {
    const auto url = parse_url("HTTPS://user:p%40ss@Host.Example:8443/a%20b/c.whl?x=1#sha256=ab").value();
    CHECK(url.scheme == "https");
    CHECK(url.userinfo == "user:p%40ss");
    CHECK(url.host == "host.example");
    CHECK(url.port == "8443");
    CHECK(url.path == "/a%20b/c.whl");
    CHECK(url.query == "x=1");
    CHECK(url.fragment == "sha256=ab");
    CHECK(url.text() == "https://user:p%40ss@host.example:8443/a%20b/c.whl?x=1#sha256=ab");
    CHECK(url.text_without_secrets() == "https://****@host.example:8443/a%20b/c.whl?x=1#sha256=ab");
    CHECK(parse_url("http://h").value().path == "/");
    CHECK(parse_url("http://h?q").value().text() == "http://h/?q");
    CHECK(parse_url("http://[::1]:80/x").value().host == "[::1]");
    CHECK(parse_url("http://[::1]:80/x").value().port == "80");
    CHECK(parse_url("file:///srv/simple/").value().text() == "file:///srv/simple/");
    CHECK(parse_url("file://localhost/srv").value().text() == "file:///srv");
}

TEST_CASE("text that is not an absolute http, https or file URL is rejected") {
    for (const char* refused : {"",
                                "host/path",
                                "/path",
                                "ftp://h/x",
                                "mailto:a@b",
                                "http:/x",
                                "http://",
                                "http:///x",
                                "http://h:0/",
                                "http://h:65536/",
                                "http://h:8o/",
                                "http://h h/",
                                "http://h/a b",
                                "http://h/\n",
                                "http://h\\x/",
                                "http://a@b@c/",
                                "http://[::1/",
                                "file://server/share",
                                "file://u@/x",
                                "http://h/\x7f",
                                "http://h/\xC3\xA9",
                                "http://:80/"}) {
        CAPTURE(refused);
        CHECK(parse_url(refused).error().code == "url.invalid");
    }
    CHECK_FALSE(parse_url("http://h/" + std::string(9000, 'a')));
}

TEST_CASE("no error shows the text before an @") {
    const auto error = parse_url("ftp://user:secret@host/x").error();
    CHECK(error.text().find("secret") == std::string::npos);
    CHECK(parse_url("http://user:sec@ret@host/x").error().text().find("sec") == std::string::npos);
}

TEST_CASE("references resolve as in RFC 3986 section 5.4") {
    const auto base = parse_url("http://a/b/c/d;p?q").value();
    const char* const rows[][2] = {
        {"g", "http://a/b/c/g"},       {"./g", "http://a/b/c/g"},      {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},          {"//g", "http://g/"},           {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},   {"#s", "http://a/b/c/d;p?q#s"}, {"g#s", "http://a/b/c/g#s"},
        {";x", "http://a/b/c/;x"},     {"", "http://a/b/c/d;p?q"},     {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},       {"..", "http://a/b/"},          {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},      {"../..", "http://a/"},         {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},  {"/./g", "http://a/g"},         {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},     {"..g", "http://a/b/c/..g"},    {"./../g", "http://a/b/g"},
        {"g/./h", "http://a/b/c/g/h"}, {"g/../h", "http://a/b/c/h"},   {"http://x/y/../z", "http://x/z"},
        {" g \n", "http://a/b/c/g"}};
    for (const auto& [reference, expected] : rows) {
        CAPTURE(reference);
        CHECK(resolve_url(base, reference).value().text() == expected);
    }
    CHECK(resolve_url(base, "javascript:alert(1)").error().code == "url.invalid");
    CHECK(resolve_url(base, "a b").error().code == "url.invalid");
}

TEST_CASE("credentials stay on their own host") {
    const auto base = parse_url("https://user:pw@h/simple/").value();
    CHECK(resolve_url(base, "six/").value().userinfo == "user:pw");
    CHECK(resolve_url(base, "https://files.example/six.whl").value().userinfo.empty());
    CHECK(resolve_url(base, "//files.example/six.whl").value().userinfo.empty());
}

TEST_CASE("a host without a port stands for the default port of the URL's scheme") {
    const std::set<std::string> hosts{"a.example", "b.example:8443"};
    for (const char* named : {"https://a.example/x", "https://a.example:443/x", "http://a.example/x",
                              "http://a.example:80/x", "https://b.example:8443/x"})
        CHECK_MESSAGE(names_host(hosts, parse_url(named).value()), named);
    for (const char* other : {"https://a.example:8443/x", "https://a.example:80/x", "http://a.example:443/x",
                              "https://b.example/x", "https://c.example/x"})
        CHECK_FALSE_MESSAGE(names_host(hosts, parse_url(other).value()), other);
    CHECK(parse_url("http://a.example/x")->host_and_port() == "a.example:80");
}

TEST_CASE("the last segment is a file name or an error") {
    const auto name = [](const char* text) { return last_segment(parse_url(text).value()); };
    CHECK(name("http://h/a/torch-2.4.0%2Bcu121-py3-none-any.whl#sha256=x") ==
          "torch-2.4.0+cu121-py3-none-any.whl");
    for (const char* refused : {"http://h/", "http://h/a/", "http://h/..%2Fetc", "http://h/%2E%2E",
                                "http://h/a%00b", "http://h/%zz"}) {
        CAPTURE(refused);
        CHECK_FALSE(name(refused));
    }
}

TEST_CASE("only loopback names and addresses count as this machine") {
    struct Row {
        const char* host;
        bool loopback;
    };
    for (const auto& [host, loopback] : {
             Row{"localhost", true},
             Row{"127.0.0.1", true},
             Row{"127.255.255.254", true},
             Row{"[::1]", true},
             Row{"[0:0:0:0:0:0:0:1]", true},
             Row{"127.example.org", false},
             Row{"127.0.0.1.example.org", false},
             Row{"localhost.example.org", false},
             Row{"127.0.0.256", false},
             Row{"127.1", false},  // resolvers disagree on this form
             Row{"127.0.0.01", false},
             Row{"127.", false},
             Row{"128.0.0.1", false},
             Row{"10.127.0.1", false},
             Row{"0.0.0.0", false},
             Row{"[::2]", false},
             Row{"[::]", false},
             Row{"[fe80::1]", false},
             Row{"::1", false},  // not a valid host in a URL
             Row{"[::1", false},
             Row{"[", false},
             Row{"", false},
         }) {
        CAPTURE(host);
        CHECK(is_loopback_host(host) == loopback);
    }
    CHECK(is_loopback_host(parse_url("http://LocalHost:8080/simple/").value().host));
    CHECK(is_loopback_host(parse_url("http://[::1]:8080/simple/").value().host));
}
