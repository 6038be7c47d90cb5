// A client of Simple repositories: pages by HTTP. For a plain folder of wheels see folder.hpp.
#pragma once

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
[[nodiscard]] base::Result<std::optional<ProjectPage>> fetch_project(
    io::HttpClient& http, const std::string& index_url, const std::string& project,
    Forbidden forbidden = Forbidden::is_absent);
[[nodiscard]] base::Result<std::vector<std::string>> fetch_root(io::HttpClient& http,
                                                                const std::string& index_url);

}  // namespace wheelyard::simple
