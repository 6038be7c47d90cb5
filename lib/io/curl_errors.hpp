// Maps libcurl's error numbers to our errors: code, sentence, URL without its secrets, advice.
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "lib/io/curl_library.hpp"

namespace wheelyard::io {

[[nodiscard]] std::string shown_url(const std::string& url);

// `detail` is libcurl's own message, or empty; `verify_result` is CURLINFO_SSL_VERIFYRESULT.
[[nodiscard]] tl::unexpected<base::Error> fail_curl(CURLcode number, const char* detail,
                                                    const std::string& url, long verify_result = 0);

}  // namespace wheelyard::io
