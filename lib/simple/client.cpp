#include "lib/simple/client.hpp"

#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/limits.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::simple {
namespace {

constexpr int status_ok = 200;
constexpr int status_forbidden = 403;
constexpr int status_not_found = 404;

// The URL without user and password; text that is not a URL is not shown at all.
std::string shown(const std::string& url) {
    const auto parsed = base::parse_url(url);
    return parsed ? parsed->text_without_secrets() : std::string("(not a URL)");
}

std::string with_slash(const std::string& url) {
    return url.ends_with('/') ? url : url + "/";
}

base::Result<io::HttpAnswer> get_page(const GetPage& get, const std::string& url) {
    return get(url, {{"Accept", std::string(accept_pages)}}, max_page_bytes);
}

tl::unexpected<base::Error> fail_status(const io::HttpAnswer& answer, const std::string& url) {
    const bool may_pass = io::is_temporary_status(answer.status);
    return base::fail_as(
        may_pass ? base::ErrorKind::unavailable : base::ErrorKind::unauthorized,
        may_pass ? base::Recovery::retry : base::Recovery::person,
        error_of_answer("simple.http", answer, url, "check the URL and the credentials, or try again later"));
}

std::string told_line(const std::string& text) {
    std::string line = base::printable_line(text.substr(0, max_told_bytes));
    while (line.ends_with('.'))
        line.pop_back();  // as sentences of errors
    return line;
}

// What cannot be read is often no index at all, such as a page for people.
base::Error of_page(base::Error error, const std::string& url) {
    error.value += (error.value.empty() ? "" : ", ") + shown(url);
    if (error.advice.empty()) error.advice = "check that the URL is an index's, which often ends in /simple/";
    return error;
}

}  // namespace

ToldRefusal told_refusal(const io::HttpAnswer& answer) {
    if (!is_refusal(answer.status)) return {};
    const auto problem = io::parse_json(answer.body);
    if (!problem || problem->string_or("code", "").empty()) return {};
    return {problem->string_or("code", "") == "auth.missing",
            told_line(problem->string_or("detail", problem->string_or("title", ""))),
            told_line(problem->string_or("advice", ""))};
}

base::Error error_of_answer(std::string code, const io::HttpAnswer& answer, const std::string& url,
                            std::string advice) {
    constexpr int no_credentials = 401;
    ToldRefusal told = told_refusal(answer);
    const bool is_told = !told.reason.empty();
    base::Error error{std::move(code), std::move(told.reason), shown(url),
                      is_told ? std::move(told.advice) : std::move(advice)};
    if (!is_told) error.sentence = "The index responded with status " + std::to_string(answer.status);
    if (told.lacks_token || (!is_told && answer.status == no_credentials))
        error.advice =
            "check the index's name; if only tokens may read it, put yours into ~/.netrc "
            "(docs/reference/reading.md)";
    return error;
}

base::Result<std::optional<ProjectPage>> fetch_project(const GetPage& get, const std::string& index_url,
                                                       const std::string& project, Forbidden forbidden) {
    const auto url = with_slash(index_url) + wheel::normalize_name(project) + "/";
    WHEELYARD_ASSIGN(const auto answer, get_page(get, url));
    if (answer.status == status_not_found ||
        (answer.status == status_forbidden && forbidden == Forbidden::is_absent))
        return std::optional<ProjectPage>();
    if (answer.status != status_ok) return fail_status(answer, url);
    // Relative links resolve against the URL after redirects.
    WHEELYARD_ASSIGN(const auto page_url, base::parse_url(answer.final_url.empty() ? url : answer.final_url));
    return parse_project_page(answer.body, answer.header("content-type"), page_url)
        .map([](ProjectPage&& page) { return std::optional(std::move(page)); })
        .map_error([&](base::Error&& error) { return of_page(std::move(error), page_url.text()); });
}

base::Result<std::vector<std::string>> fetch_root(const GetPage& get, const std::string& index_url) {
    const auto url = with_slash(index_url);
    WHEELYARD_ASSIGN(const auto answer, get_page(get, url));
    if (answer.status != status_ok) return fail_status(answer, url);
    return parse_root_page(answer.body, answer.header("content-type")).map_error([&](base::Error&& error) {
        return of_page(std::move(error), url);
    });
}

}  // namespace wheelyard::simple
