// The pages of the server itself.
#include "registry/http/front_pages.hpp"

#include <doctest/doctest.h>

#include "lib/page/template.hpp"

namespace wheelyard::http {

TEST_CASE("the views of the server's pages have what their templates name") {
    CHECK_NOTHROW(page::check_template<ShownIndexes>("indexes.html"));
    CHECK_NOTHROW(page::check_template<ShownProblem>("problem.html"));
    CHECK_NOTHROW(page::check_template<ShownMissingProject>("missing_project.html"));
    CHECK_NOTHROW(page::check_template<ShownIndexPage>("index.html"));
}

TEST_CASE("the front page links every index and escapes what it shows") {
    const std::string page = render_front_page({}, {{"bede-gh200"}, {"a<b"}});
    CHECK(page.find("<a href=\"bede-gh200/\">bede-gh200</a>") != std::string::npos);
    CHECK(page.find("<a href=\"a%3Cb/\">a&lt;b</a>") != std::string::npos);
    CHECK(page.find("<script src=\"") != std::string::npos);  // it adds private ones
}

TEST_CASE("an index's page shows the line that pip needs, for the server as it calls itself") {
    const std::string page = render_index_page({}, {"site"}, "http://registry.example:8080");
    CHECK(page.find("pip install --index-url http://registry.example:8080/site/simple/ --trusted-host "
                    "registry.example PACKAGE") != std::string::npos);
    CHECK(render_index_page({}, {"site"}, "https://registry.example").find("/site/simple/ PACKAGE") !=
          std::string::npos);
    for (const char* said :
         {"index-url = http://registry.example:8080/site/simple/", "trusted-host = registry.example",
          "[[tool.poetry.source]]", "[[tool.pdm.source]]", "[[index]]", "setenv PIP_CONFIG_FILE",
          "setenv(&quot;PIP_CONFIG_FILE&quot;"})
        CHECK_MESSAGE(page.find(said) != std::string::npos, said);
    CHECK(render_index_page({}, {"site"}, "http://x\"><script>").find("<script>") == std::string::npos);
}

TEST_CASE("an index is shown with its title, and a staging index not at all") {
    const std::vector<IndexEntry> indexes{{"main", "Wheels of <Bede>"}, {"staging", "", false}};
    const std::string page = render_front_page({}, indexes);
    CHECK(page.find("<a href=\"main/\">main</a>: Wheels of &lt;Bede&gt;") != std::string::npos);
    CHECK(page.find("staging") == std::string::npos);
    CHECK(render_index_page({}, indexes[0], "https://host").find("Wheels of &lt;Bede&gt;") !=
          std::string::npos);
    CHECK(render_index_list(indexes, "https://host") ==
          R"({"format":"wheelyard.indexes/1","indexes":[{"name":"main","title":"Wheels of <Bede>",)"
          R"("url":"https://host/main/simple/"}]})"
          "\n");
}

TEST_CASE("who reads the list of indexes learns which of them ask for a token") {
    const std::string list = render_index_list({{"open"}, {"lab", "", true, true}}, "https://host");
    CHECK(list.find(R"("url":"https://host/lab/simple/","read":"token"})") != std::string::npos);
    CHECK(list.find("\"read\"") == list.rfind("\"read\""));
}

TEST_CASE("an index's page leads to its packages") {
    for (const char* way : {"simple/", "project/", "builds/"})
        CHECK(render_index_page({}, {"site"}, "https://host").find("<a href=\"" + std::string(way) + "\">") !=
              std::string::npos);
    const std::string bare = render_index_page({}, {.name = "site", .has_pages = false}, "https://host");
    CHECK(bare.find("<a href=\"simple/\">") != std::string::npos);
    CHECK(bare.find("<a href=\"project/\">") == std::string::npos);
}

TEST_CASE("a refusal as a page says what, which value and what to do, all of it escaped, and leads back") {
    const std::string page =
        render_problem_page({}, "", {404, "x.y", "No <index>", "There is <none>.", "a<b", "ask <them>"});
    for (const char* shown : {"404 No &lt;index&gt;", "There is &lt;none&gt;.", "<pre>a&lt;b</pre>",
                              "ask &lt;them&gt;", "<a href=\"./\">All indexes</a>"})
        CHECK_MESSAGE(page.find(shown) != std::string::npos, shown);
    for (const char* raw : {"<index>", "<none>", "a<b", "<them>"})
        CHECK_MESSAGE(page.find(raw) == std::string::npos, raw);
}

TEST_CASE("a page that lacks a token says how a browser gives it, and leads to the log-in") {
    const std::string login = "https://farm.example/api/v1/login/";
    const auto page_of = [&](int status, const std::string& where = "") {
        return render_problem_page({.login = where}, "../../", {status, "x.y", "No", "None.", "", "ask"});
    };
    const std::string page = page_of(401, login);
    CHECK(page.find("<html lang=\"en\">") != std::string::npos);
    CHECK(page.find("<title>401 No</title>") != std::string::npos);
    const std::string to_login = "<a href=\"../../api/v1/login/\">";
    CHECK(page.find(to_login + "log in, or enter a token that you have</a>") != std::string::npos);
    CHECK(page_of(401).find(to_login + "enter a token that you have</a>") != std::string::npos);
    // Below /api/ no log-in opens the address.
    CHECK(render_problem_page({}, "../../", {401, "x.y", "No", "None.", "", "ask"}, false).find(to_login) ==
          std::string::npos);
    for (const int other : {403, 404, 503})
        CHECK(page_of(other).find(to_login) == std::string::npos);
    for (const int any : {401, 403, 404, 503}) {
        CHECK((page_of(any, login).find("<a id=\"account\" href=\"" + login + "\">Log in</a>") !=
               std::string::npos));
        CHECK(page_of(any).find("Log in") == std::string::npos);
    }
}

TEST_CASE(
    "the page of a missing project has a search for its name, a place for its states and the way to ask for "
    "it") {
    const std::string html = render_missing_project_page({}, "../../../", "site", "si\"x<y");
    CHECK(html.find("<title></title>") == std::string::npos);
    for (const char* part : {"data-folders=\"../../../site/project/\" data-wanted=\"si&quot;x&lt;y\"",
                             "data-project=\"si&quot;x&lt;y\"",
                             "<a href=\"../../../site/builds/?package=si%22x%3Cy\">Ask for a wheel</a>",
                             "data-root=\"../../../site/\"", "<a href=\"../../../site/site/\">Sites</a>"})
        CHECK_MESSAGE(html.find(part) != std::string::npos, part);
}

TEST_CASE("the page of a project that only an upstream has names the upstream and its versions, not a lack") {
    const auto project = read_pypi_project(R"({"name":"six","files":[
        {"filename":"six-1.9.tar.gz","url":"/main/files/aa/1/six-1.9.tar.gz","yanked":"broken"},
        {"filename":"six-1.17.0-py2.py3-none-any.whl","url":"/main/files/bb/2/six-1.17.0-py2.py3-none-any.whl"},
        {"filename":"six-1.17.0.tar.gz","url":"/main/files/cc/3/six-1.17.0.tar.gz"}]})",
                                           {});
    REQUIRE(project.has_value());
    const std::string html =
        render_upstream_project_page({}, "../../../", {"ma<in"}, *project, "pub<lic", "https://host");
    CHECK(html.find("<title></title>") == std::string::npos);
    for (const char* part :
         {"pip gets this from <strong>pub&lt;lic</strong>, an upstream of the index "
          "<strong>ma&lt;in</strong>",
          "pip install --index-url https://host/ma%3Cin/simple/ six",
          "<strong>1.17.0</strong><span class=\"quiet\">1 wheel, py2 py3, and the source</span></li>",
          "<strong>1.9</strong><span class=\"quiet\">the source</span><span class=\"state "
          "yanked\">yanked</span>",
          "<a href=\"../../../ma%3Cin/builds/?package=six\">Ask for a wheel</a>"})
        CHECK_MESSAGE(html.find(part) != std::string::npos, part);
    CHECK(html.find("404") == std::string::npos);
    CHECK(html.find("1.17.0") < html.find("<strong>1.9"));
    CHECK(html.find("older ones") == std::string::npos);
}

TEST_CASE("the page of a missing project leads to the other indexes that have it") {
    CHECK(render_missing_project_page({}, "../../../", "site", "six").find("It is in") == std::string::npos);
    const std::string html =
        render_missing_project_page({}, "../../../", "site", "six", {{"a b", "Wheels of <B>"}, {"c"}});
    CHECK(html.find("It is in <a href=\"../../../a%20b/project/six/\">a b</a> (Wheels of &lt;B&gt;) <a "
                    "href=\"../../../c/project/six/\">c</a>") != std::string::npos);
}

TEST_CASE("no page of the server begins a link at the root of its host") {
    for (const std::string& page :
         {render_front_page({}, {{"site"}}), render_index_page({}, {"site"}, "https://host/a"),
          render_problem_page({}, "../", {404, "x.y", "No", "None.", "a", "ask"}),
          render_missing_project_page({}, "../../../", "site", "six"), render_operators_page({}, "../../")}) {
        CHECK(page.find("=\"/") == std::string::npos);
        CHECK(page.find("api/v1/\">For operators</a>") != std::string::npos);
    }
    CHECK(render_operators_page({}, "../../").find("<body data-root=\"../../\" ") != std::string::npos);
}

}  // namespace wheelyard::http
