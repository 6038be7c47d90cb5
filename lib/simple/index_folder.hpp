// Reads an index whose pages are in a folder, file:///shared/wheels/main/simple/, like one over HTTP.
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

// A GetPage for fetch_project: returns the page at a project's file URL as a server would, with status 404 if
// the index has no such project. Error "os.ENOENT": there is no such index.
[[nodiscard]] base::Result<io::HttpAnswer> read_page(const std::string& url, const io::HttpHeaders& headers,
                                                     const io::BodyLimit& limit);

}  // namespace wheelyard::simple
