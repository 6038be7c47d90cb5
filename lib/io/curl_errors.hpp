// libcurl's numbers as this program's errors: code, sentence, address without its secrets, advice.
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "lib/io/curl_library.hpp"

namespace wheelyard::io {

[[nodiscard]] std::string shown_url(const std::string& url);

// `detail` is what libcurl wrote about it, or empty.
[[nodiscard]] tl::unexpected<base::Error> fail_curl(CURLcode number, const char* detail,
                                                    const std::string& url);

}  // namespace wheelyard::io
