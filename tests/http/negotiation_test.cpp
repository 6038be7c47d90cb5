// Accept headers as clients send them, and as they should not.
#include "registry/http/negotiation.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace wheelyard::http {

TEST_CASE("the Accept header chooses the form of a page") {
    const auto json = PageForm::json;
    const auto html = PageForm::html;
    const auto html_v1 = PageForm::html_v1;
    const std::vector<std::pair<std::string, std::optional<PageForm>>> table{
        {"", html},
        {"  ", html},
        {"*/*", html},
        {"text/html", html},
        {"TEXT/HTML", html},
        {"text/html; charset=utf-8", html},
        {"text/*", html},
        {"application/vnd.pypi.simple.v1+json", json},
        {"application/vnd.pypi.simple.latest+json", json},
        {"application/vnd.pypi.simple.v1+html", html_v1},
        {"application/vnd.pypi.simple.latest+html", html_v1},
        // pip and uv
        {"application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01",
         json},
        {"application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01",
         json},
        // a browser
        {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", html},
        // equals: JSON first
        {"text/html, application/vnd.pypi.simple.v1+json", json},
        {"application/*", html_v1},
        {"*/*;q=0.5, application/vnd.pypi.simple.v1+json;q=0.4", html},
        {"text/html;q=0, */*", html_v1},
        {"application/vnd.pypi.simple.v1+json;q=0.001, text/html;q=0.002", html},
        {"application/vnd.pypi.simple.v1+json;q=1.000", json},
        {"text/html;q=0", std::nullopt},
        {"*/*;q=0", std::nullopt},
        {"*/*;q=0.0", std::nullopt},
        {"application/json", std::nullopt},
        {"application/vnd.pypi.simple.v2+json", std::nullopt},
        {"text/html;level=1", std::nullopt},
        {"text/html;q=2", std::nullopt},
        {"text/html;q=1.001", std::nullopt},
        {"text/html;q=0.1234", std::nullopt},
        {"text/html;q=", std::nullopt},
        {"text/html;q", std::nullopt},
        {"/*", std::nullopt},
        {",,,", std::nullopt},
        {"garbage", std::nullopt},
        {"application/json, */*;q=0.1", html},
    };
    for (const auto& [accept, form] : table) {
        CAPTURE(accept);
        CHECK(choose_page_form(accept) == form);
    }
}

TEST_CASE("no more than the bounded number of ranges is read") {
    std::string accept;
    for (int i = 0; i < 10'000; ++i)
        accept += "a/b,";
    CHECK(choose_page_form(accept + "text/html") == std::nullopt);
}

TEST_CASE("who asks for latest is told the real version") {
    CHECK(content_type_of(*page_form_named("application/vnd.pypi.simple.latest+json")) ==
          "application/vnd.pypi.simple.v1+json");
    CHECK(page_form_named("text/plain") == std::nullopt);
    CHECK(page_form_named("") == std::nullopt);
}

}  // namespace wheelyard::http
