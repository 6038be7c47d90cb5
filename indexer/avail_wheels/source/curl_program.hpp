// HTTP with the program `curl`, for the static avail_wheels, which does not link libcurl.
#pragma once

#include "lib/simple/client.hpp"

namespace wheelyard::avail_wheels {

// Errors "http.library" (no curl on PATH) and "http.connect".
[[nodiscard]] base::Result<io::HttpAnswer> get_by_curl_program(const std::string& url,
                                                               const io::HttpHeaders& headers,
                                                               const io::BodyLimit& limit);
// Sends a small body; follows no redirect.
[[nodiscard]] base::Result<io::HttpAnswer> post_by_curl_program(const std::string& url,
                                                                const std::string& body,
                                                                const io::HttpHeaders& headers);

}  // namespace wheelyard::avail_wheels
