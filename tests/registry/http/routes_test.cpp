// Targets accepted, redirected and refused.
#include "registry/http/routes.hpp"

#include "registry/api/operation.hpp"

#include <doctest/doctest.h>

#include "registry/http/limits.hpp"

namespace wheelyard::http {
namespace {

const std::string sha256(64, 'a');

struct Accepted {
    std::string target;
    RouteKind kind;
    std::string index = {};
    std::string project = {};
    std::string filename = {};
    std::optional<PageForm> form = {};
};

}  // namespace

TEST_CASE("every address of the layout has its route") {
    const std::string file = "/site/files/aa/" + sha256 + "/";
    const std::vector<Accepted> table{
        {"/", RouteKind::front},
        {"/healthz", RouteKind::health},
        {"/readyz?verbose", RouteKind::readiness},
        {"/api/v1/", RouteKind::operators},
        {"/api/v1/login/", RouteKind::login},
        {"/api/v1/login/campus/?code=c&state=s", RouteKind::login},
        {"/api/v1/login", RouteKind::api},
        {"/api/v1/login/campus/begin", RouteKind::api},
        {"/api/v1/openapi.json", RouteKind::openapi},
        {"/_/oidc/audience", RouteKind::api},
        {"/_/oidc/mint-token", RouteKind::api},
        {"/_/oidc/github/mint-token", RouteKind::api},
        {"/site/", RouteKind::index_front, "site"},
        {"/site/project/", RouteKind::web_page, "site", "", "project/index.html"},
        {"/site/project/index.html", RouteKind::web_page, "site", "", "project/index.html"},
        {"/site/project/search.json", RouteKind::web_page, "site", "", "project/search.json"},
        {"/site/project/search.python=3.12_20to.json", RouteKind::web_page, "site", "",
         "project/search.python=3.12_20to.json"},
        {"/site/project/search.python%3D3.12_20to.json", RouteKind::web_page, "site", "",
         "project/search.python=3.12_20to.json"},
        {"/site/project/six/", RouteKind::web_page, "site", "six", "project/six/index.html"},
        {"/site/project/six/feed.xml", RouteKind::web_page, "site", "six", "project/six/feed.xml"},
        {"/site/builds/", RouteKind::web_page, "site", "", "builds/index.html"},
        {"/site/builds/feed.xml", RouteKind::web_page, "site", "", "builds/feed.xml"},
        {"/main/site/", RouteKind::web_page, "main", "", "site/index.html"},
        {"/main/site/Bede_2.x/", RouteKind::web_page, "main", "", "site/Bede_2.x/index.html"},
        {"/main/site/Bede_2.x/feed.xml", RouteKind::web_page, "main", "", "site/Bede_2.x/feed.xml"},
        {"/bede-gh200/simple/", RouteKind::root_page, "bede-gh200"},
        {"/site/simple/index.html", RouteKind::root_page, "site", "", "", PageForm::html},
        {"/site/simple/index.json", RouteKind::root_page, "site", "", "", PageForm::json},
        {"/site/simple/six/", RouteKind::project_page, "site", "six"},
        {"/site/simple/six/index.json", RouteKind::project_page, "site", "six", "", PageForm::json},
        {"/site/simple/six/?format=application/vnd.pypi.simple.v1+json", RouteKind::project_page, "site",
         "six", "", PageForm::json},
        {"/site/simple/six/?format=application%2Fvnd.pypi.simple.v1%2Bhtml&x=1", RouteKind::project_page,
         "site", "six", "", PageForm::html_v1},
        {"/site/simple/%73ix/", RouteKind::project_page, "site", "six"},
        {file + "six-1.0+cu126-py3-none-any.whl", RouteKind::file, "site", "",
         "six-1.0+cu126-py3-none-any.whl"},
        {file + "six-1.0%2Bcu126-py3-none-any.whl", RouteKind::file, "site", "",
         "six-1.0+cu126-py3-none-any.whl"},
        {file + "s-1-py3-none-any.whl.metadata", RouteKind::file, "site", "",
         "s-1-py3-none-any.whl.metadata"},
        {"/site/simple/six/" + sha256 + "/six-1.0%2Bcu126-variants.json", RouteKind::file, "site", "six",
         "six-1.0+cu126-variants.json"},
        {"/site/simple/catalogue.txt", RouteKind::listing, "site", "", "simple/catalogue.txt"},
        {"/site/simple/catalogue-delta.txt", RouteKind::listing, "site", "", "simple/catalogue-delta.txt"},
        {"/site/find-links/", RouteKind::listing, "site", "", "find-links/index.html"},
        {"/site/find-links/index.html", RouteKind::listing, "site", "", "find-links/index.html"},
        {"/site/status.json", RouteKind::listing, "site", "", "status.json"},
        {"/site/pypi/Six/json", RouteKind::pypi_json, "site", "six"},
        {"/site/pypi/six/v1.0/json", RouteKind::pypi_json, "site", "six"},
        {"/site/integrity/Six/1.0/six-1.0-py3-none-any.whl/provenance", RouteKind::integrity, "site", "six",
         "six-1.0-py3-none-any.whl"},
        {"/packages" + file.substr(0, 5) + file.substr(11) + "s-1-py3-none-any.whl", RouteKind::file, "site",
         "", "s-1-py3-none-any.whl"},
        {"/site/legacy/", RouteKind::upload, "site"},
        {"/site/legacy", RouteKind::upload, "site"},
        {"http://registry.example:8080/site/simple/", RouteKind::root_page, "site"},
        {"HTTPS://registry.example", RouteKind::front},
    };
    for (const Accepted& row : table) {
        CAPTURE(row.target);
        const auto route = parse_target(row.target, registry::api_operations());
        REQUIRE(route);
        CHECK(route->kind == row.kind);
        CHECK(route->index == row.index);
        CHECK(route->project == row.project);
        CHECK(route->filename == row.filename);
        CHECK(route->form == row.form);
    }
}

TEST_CASE("other spellings of a page's address lead to the one address") {
    const std::vector<std::pair<std::string, std::string>> table{
        {"/site", "/site/"},
        {"/site/simple", "/site/simple/"},
        {"/site/simple/six", "/site/simple/six/"},
        {"/site/simple/Foo__Bar.baz/", "/site/simple/foo-bar-baz/"},
        {"/site/simple/Foo.Bar", "/site/simple/foo-bar/"},
        {"/site/simple/Six?format=text/html", "/site/simple/six/?format=text/html"},
        {"/site/simple/SIX/index.json", "/site/simple/six/index.json"},
        {"/site/find-links?a=b", "/site/find-links/?a=b"},
        {"/site/project", "/site/project/"},
        {"/site/builds?a=b", "/site/builds/?a=b"},
        {"/site/project/six", "/site/project/six/"},
        {"/site/project/Foo.Bar/", "/site/project/foo-bar/"},
        {"/site/project/Foo.Bar", "/site/project/foo-bar/"},
        {"/site/project/SIX/feed.xml", "/site/project/six/feed.xml"},
    };
    for (const auto& [target, location] : table) {
        CAPTURE(target);
        const auto route = parse_target(target, registry::api_operations());
        REQUIRE(route);
        CHECK(route->kind == RouteKind::redirect);
        CHECK(route->location == location);
        const bool names_project =
            target.starts_with("/site/simple/") || target.starts_with("/site/project/");
        CHECK(route->project.empty() !=
              names_project);  // who may not read a project learns nothing of its name
    }
}

TEST_CASE("what is no address here is refused with its status") {
    const std::string file = "/site/files/aa/" + sha256 + "/";
    const std::vector<std::pair<std::string, int>> table{
        {"/site/find-links/index.html.gz", 404},
        {"/site/find-links/six-1.0-py3-none-any.whl", 404},
        {"", 400},
        {"*", 400},
        {"site/simple/", 400},
        {"//site/simple/", 400},
        {"/site//simple/", 400},
        {"/site/simple//", 400},
        {"/site/simple/../legacy/", 400},
        {"/site/simple/%2e%2e/", 400},
        {"/site/simple/a%2fb/", 400},
        {"/site/simple/a%5cb/", 400},
        {"/site/simple/a%00/", 400},
        {"/site/simple/a%0d%0aSet-Cookie:x/", 400},
        {"/site/simple/%zz/", 400},
        {"/site/simple/%4", 400},
        {"/site/simple/six/#fragment", 400},
        {"/site/simple/s ix/", 400},
        {"/site/simple/s\xc3\xa9x/", 400},
        {"/site/simple/s%c3%a9x/", 400},
        {"/.wheelyard/published.json", 400},
        {"/site/" + std::string(max_segment_bytes + 1, 'a') + "/", 400},
        {"/" + std::string(max_target_bytes, 'a'), 414},
        {"/site/other/", 404},
        {"/si$te/simple/", 404},
        {"/site/simple/-six-/", 404},
        {"/site/simple/six/other", 404},
        {"/site/simple/six/index.html/", 404},
        {"/site/project/SIX/%3Fa", 404},
        {"/site/project/SIX/%25", 404},
        {"/site/project/SIX/feed.xml/", 404},
        {"/site/project/six/index.html/", 404},
        {"/site/project/six/a/b", 404},
        {"/site/project/-six-/", 404},
        {"/site/builds/six/", 404},
        {"/site/builds/other.xml", 404},
        {"/site/files/", 404},
        {"/site/files/ab/" + sha256 + "/x.whl", 404},
        {"/site/files/aa/" + std::string(64, 'A') + "/x.whl", 404},
        {"/site/files/aa/" + sha256.substr(1) + "/x.whl", 404},
        {file, 404},
        {file + "x.whl/", 404},
        {"/site/simple/six/" + sha256 + "/", 404},
        {"/site/simple/six/" + sha256 + "/a/b", 404},
        {"/site/simple/six/" + sha256 + "/.a", 400},
        {"/site/simple/Six/" + sha256 + "/six-1.0-variants.json", 404},
        {"/site/simple/six/" + sha256.substr(1) + "/six-1.0-variants.json", 404},
        {"/site/legacy/more", 404},
        {"/1/2/3/4/5/6/7/8/9", 404},
        {"/site/simple/six/?format=text/plain", 406},
    };
    for (const auto& [target, status] : table) {
        CAPTURE(target);
        const auto route = parse_target(target, registry::api_operations());
        REQUIRE_FALSE(route);
        CHECK(route.error().status == status);
    }
}

TEST_CASE("a name of the longest allowed length is an address") {
    CHECK(parse_target("/site/simple/" + std::string(max_segment_bytes, 'a') + "/"));
}

}  // namespace wheelyard::http
