// Conversion between local paths and file URLs (RFC 8089).
#pragma once

#include <string>
#include <string_view>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"

namespace wheelyard::base {

// `path` must be absolute: "/my wheels" → "file:///my%20wheels".
[[nodiscard]] inline std::string file_url(std::string_view path) {
    return "file://" + replace_all(encode_percent(path), "%2F", "/");
}

[[nodiscard]] inline Result<std::string> file_path(const Url& url) {
    WHEELYARD_ASSIGN(auto path, decode_percent(url.path));
    if (url.scheme != "file" || path.find('\0') != std::string::npos)
        return fail("url.no_file", "This URL does not name a file", url.text_without_secrets());
    return path;
}

}  // namespace wheelyard::base
