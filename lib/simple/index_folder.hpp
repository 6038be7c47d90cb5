// An index whose pages lie in a folder, file:///shared/wheels/main/simple/, read as one over HTTP.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::simple {

[[nodiscard]] inline bool is_file_url(std::string_view place) {
    return place.starts_with("file://");
}

// The page of a project's file URL as a server would answer it, for fetch_project: 404 where the index has no
// such project. That there is no such index is an error, "os.ENOENT".
[[nodiscard]] base::Result<io::HttpAnswer> read_page(const std::string& url, const io::HttpHeaders& headers,
                                                     std::uint64_t limit_bytes);

}  // namespace wheelyard::simple
