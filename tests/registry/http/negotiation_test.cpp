// Accept headers as clients send them, and as they should not.
#include "registry/http/negotiation.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace wheelyard::http {

TEST_CASE("attestations have PyPI's media type, unless a client names plain JSON alone") {
    const std::string_view own = "application/vnd.pypi.integrity.v1+json";
    for (const char* accept : {"", "*/*", "application/vnd.pypi.integrity.v1+json",
                               "application/vnd.pypi.integrity.v1+json, application/json;q=0.5"})
        CHECK(choose_integrity_type(accept) == own);
    CHECK(choose_integrity_type("application/json") == "application/json");
}

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

TEST_CASE("a request for latest gets the concrete version") {
    CHECK(content_type_of(*page_form_named("application/vnd.pypi.simple.latest+json")) ==
          "application/vnd.pypi.simple.v1+json");
    CHECK(page_form_named("text/plain") == std::nullopt);
    CHECK(page_form_named("") == std::nullopt);
}

TEST_CASE("the coding of a page is the client's favourite, and zstd among equals") {
    struct Row {
        const char* accept_encoding;
        Coding coding;
    };
    const Row rows[] = {{"", Coding::none},
                        {"gzip", Coding::gzip},
                        {"x-gzip", Coding::gzip},
                        {"deflate, GZIP;q=0.5", Coding::gzip},
                        {"zstd", Coding::zstd},
                        {"gzip, deflate, br, zstd", Coding::zstd},
                        {"zstd;q=0.8, gzip;q=0.9", Coding::gzip},
                        {"zstd;q=0.9, gzip;q=0.8", Coding::zstd},
                        {"zstd;q=0", Coding::none},
                        {"zstd;q=0, gzip;q=0", Coding::none},
                        {"zstd;q=0, *", Coding::gzip},
                        {"*", Coding::gzip},
                        {"gzip;q=0, *", Coding::none},
                        {"gzip;q=0, zstd, *;q=0", Coding::zstd},
                        {"identity", Coding::none},
                        {"identity, gzip;q=0.5", Coding::none},
                        {"identity;q=0.5, gzip", Coding::gzip},
                        {"identity, gzip, zstd", Coding::zstd},
                        {"br", Coding::none},
                        {"zstd;q=x, gzip;q=0.1", Coding::gzip}};
    for (const Row& row : rows) {
        CAPTURE(row.accept_encoding);
        CHECK(choose_coding(row.accept_encoding) == row.coding);
    }
    CHECK(choose_coding("zstd, gzip;q=0.1", false) == Coding::gzip);
    CHECK(choose_coding("zstd", false) == Coding::none);
}

}  // namespace wheelyard::http
