// Links that hold below any path at which a proxy shows this server
#include "registry/http/forwarded.hpp"

#include <doctest/doctest.h>

#include <string>

#include "lib/base/text/url.hpp"

namespace wheelyard::http {

namespace {

struct LinkRow {
    const char* from;
    const char* to;
    const char* link;
};

constexpr LinkRow links[] = {
    {"/site", "/site/", "site/"},
    {"/site/simple", "/site/simple/", "simple/"},
    {"/site/simple/Six", "/site/simple/six/", "six/"},
    {"/site/simple/Six/", "/site/simple/six/", "../six/"},
    {"/site/simple/SIX/index.json", "/site/simple/six/index.json", "../six/index.json"},
    {"/site/simple/Six", "/site/simple/six/?format=a/b", "six/?format=a/b"},
    {"/site/simple/six/", "/site/simple/six/?a=b", "./?a=b"},
    {"/s%69te/simple", "/site/simple/", "../site/simple/"},
    {"/site/uploads", "/site/uploads/ab", "uploads/ab"},
    {"/site/uploads/", "/site/uploads/ab", "ab"},
    {"/", "/", "./"},
    {"/site", "/", "./"},
    {"/site/", "/", "../"},
    {"/site/project/x//y", "/", "../../../../"},
    {"/a", "/b:c/", "./b:c/"},
    {"/a/", "/a//b", ".//b"},
};

}  // namespace

TEST_CASE("a link from one address to another holds below any path") {
    for (const LinkRow& row : links) {
        CAPTURE(row.from);
        CAPTURE(row.to);
        CHECK(relative_url(row.from, row.to) == row.link);
        for (const char* below : {"http://host", "https://host/a/b"}) {
            const auto base = base::parse_url(std::string(below) + row.from);
            REQUIRE(base);
            const auto reached = base::resolve_url(*base, row.link);
            REQUIRE(reached);
            CHECK(reached->text() == std::string(below) + row.to);
        }
    }
}

TEST_CASE("the path of a target is without its query, also of the form that proxies send") {
    CHECK(path_of_target("/a/b?c=/d") == "/a/b");
    CHECK(path_of_target("HTTP://host:8080/a?b") == "/a");
    CHECK(path_of_target("https://host") == "/");
    CHECK(path_of_target("*").empty());
    CHECK(path_of_target("host:443").empty());
}

}  // namespace wheelyard::http
