// A client of Simple repositories: pages by HTTP. For a plain folder of wheels see folder.hpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/page.hpp"

namespace wheelyard::simple {

// The page of `project` under the index `index_url` (…/simple/); nullopt when the index has no such project
// (404, and 403 for indexes that answer so). Other statuses are errors "simple.http" naming the URL without
// secrets.
enum class Forbidden { is_absent, is_error };  // what 403 means: some foreign indexes answer so for absence
// How a page is got: for a program that has no HttpClient of its own, or wants to see what is asked.
using GetPage = std::function<base::Result<io::HttpAnswer>(
    const std::string& url, const io::HttpHeaders& headers, std::uint64_t limit_bytes)>;
[[nodiscard]] base::Result<std::optional<ProjectPage>> fetch_project(
    const GetPage& get, const std::string& index_url, const std::string& project,
    Forbidden forbidden = Forbidden::is_absent);
[[nodiscard]] base::Result<std::vector<std::string>> fetch_root(const GetPage& get,
                                                                const std::string& index_url);

// In the header, so that whoever brings a GetPage links no HttpClient.
[[nodiscard]] inline GetPage page_getter(io::HttpClient& http) {
    return [&http](const std::string& url, const io::HttpHeaders& headers, std::uint64_t limit_bytes) {
        return http.get(url, headers, limit_bytes);
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
