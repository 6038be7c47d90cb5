#include "lib/simple/registry_address.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace wheelyard::simple {
namespace {

constexpr const char* api = R"({"openapi":"3.1.0"})";

// Answers 404 where it has nothing.
struct Web {
    std::map<std::string, std::string> pages;
    int status_of_others = 404;
    GetPage get = [this](const std::string& url, const io::HttpHeaders&,
                         const io::BodyLimit&) -> base::Result<io::HttpAnswer> {
        const auto page = pages.find(url);
        io::HttpAnswer answer;
        answer.status = page == pages.end() ? status_of_others : 200;
        answer.body = page == pages.end() ? "" : page->second;
        return answer;
    };
    std::string said(const std::string& url) const {
        const auto found = check_registry(get, url);
        return found ? "" : found.error().text();
    }
};

TEST_CASE("of an address below a registry's own it is said what to leave off") {
    // The front page of an index looks like that of the registry.
    const char* front = R"({"format":"wheelyard.indexes/1","indexes":[{"url":"https://h/w/main/simple/"}]})";
    const Web web{.pages = {{"https://h/w/api/v1/openapi.json", api},
                            {"https://h/w/", front},
                            {"https://h/w/main/", front},
                            {"https://h/w/main/simple/", R"({"meta":{},"projects":[]})"}}};
    CHECK(web.said("https://h/w") == "");
    CHECK(web.said("https://h/w/") == "");
    CHECK(web.said("https://h/w/main/simple/") ==
          "There is no registry at https://h/w/main/simple/ (leave off `/main/simple/`)");
    CHECK(web.said("https://h/w/main") == "There is no registry at https://h/w/main (leave off `/main`)");
    CHECK(web.said("https://u:secret@h/w/pypi").find("secret") == std::string::npos);
    CHECK(web.said("https://h/") ==
          "There is no registry at https://h/ (its address has neither the name of an index nor `/simple/`)");
    const Web site{.pages = {{"https://h/api/v1/openapi.json", "<html>"}}};  // answers 200 to everything
    CHECK(site.said("https://h").starts_with("There is no registry"));
}

TEST_CASE("without an answer nothing is known of the address") {
    Web web{.pages = {}, .status_of_others = 503};
    const auto busy = check_registry(web.get, "https://h");
    REQUIRE_FALSE(busy.has_value());
    CHECK(busy.error().kind == base::ErrorKind::unavailable);
    web.get = [](const auto&, const auto&, const auto&) -> base::Result<io::HttpAnswer> {
        return base::fail("http.connect", "no answer");
    };
    CHECK(check_registry(web.get, "https://h").error().code == "http.connect");
}

TEST_CASE("of a refusal that a wrong address may get the address is checked, of others not") {
    struct Row {
        int status;
        const char* body;
        bool asks;
    };
    const Row rows[] = {
        {200, "<html>", false},
        {503, "<html>", false},
        {401, R"({"code":"auth.missing"})", false},
        {404, R"({"code":"index.unknown"})", true},  // /pypi/… names an index
        {405, R"({"code":"request.method"})", true},
        {409, "<html>", true},
        {404, "<html>", true},
    };
    for (const Row& row : rows) {
        CAPTURE(row.status);
        CAPTURE(row.body);
        io::HttpAnswer answer;
        answer.status = row.status;
        answer.body = row.body;
        CHECK(check_registry(Web().get, "https://h/pypi", answer).has_value() != row.asks);
    }
}

}  // namespace
}  // namespace wheelyard::simple
