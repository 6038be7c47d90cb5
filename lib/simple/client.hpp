// A client of Simple repositories over HTTP. For a plain folder of wheels see folder.hpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/page.hpp"

namespace wheelyard::simple {

// Statuses 4xx that stay as long as the request is the same.
[[nodiscard]] constexpr bool is_refusal(int status) {
    return status / 100 == 4 && !io::is_temporary_status(status);
}

// What the server's problem document (RFC 9457) says of a refusal, printable: why, and what to do. Empty:
// nothing.
struct ToldRefusal {
    bool lacks_token = false;  // the request had none
    std::string reason = {};
    std::string advice = {};
};
[[nodiscard]] ToldRefusal told_refusal(const io::HttpAnswer& answer);
// Of an index's answer that is no 200: the server's reason and advice, or those of the status. Where a token
// is missing, what a person at a shell can do; `advice` is for what the server says nothing about.
[[nodiscard]] base::Error error_of_answer(std::string code, const io::HttpAnswer& answer,
                                          const std::string& url, std::string advice);

// What 403 means: some indexes answer 403 for projects that they do not have.
enum class Forbidden { is_absent, is_error };
// Fetches a page. Lets programs bring their own HTTP client or observe the requests.
using GetPage = std::function<base::Result<io::HttpAnswer>(
    const std::string& url, const io::HttpHeaders& headers, const io::BodyLimit& limit)>;
// The page of `project` in the index `index_url` (…/simple/); nullopt if the index has no such project
// (404, and 403 with Forbidden::is_absent). Other statuses: error "simple.http" with the URL without
// secrets; for refusals with the server's own reason and advice, if it gives them.
[[nodiscard]] base::Result<std::optional<ProjectPage>> fetch_project(
    const GetPage& get, const std::string& index_url, const std::string& project,
    Forbidden forbidden = Forbidden::is_absent);
[[nodiscard]] base::Result<std::vector<std::string>> fetch_root(const GetPage& get,
                                                                const std::string& index_url);

// Inline, so that callers with their own GetPage do not link HttpClient.
[[nodiscard]] inline GetPage page_getter(io::HttpClient& http) {
    return [&http](const std::string& url, const io::HttpHeaders& headers, const io::BodyLimit& limit) {
        return http.get(url, headers, limit);
    };
}
[[nodiscard]] inline base::Result<std::optional<ProjectPage>> fetch_project(
    io::HttpClient& http, const std::string& index_url, const std::string& project,
    Forbidden forbidden = Forbidden::is_absent) {
    return fetch_project(page_getter(http), index_url, project, forbidden);
}
[[nodiscard]] inline base::Result<std::vector<std::string>> fetch_root(io::HttpClient& http,
                                                                       const std::string& index_url) {
    return fetch_root(page_getter(http), index_url);
}

}  // namespace wheelyard::simple
