// gzip (RFC 1952) of text that is sent many times: zlib behind one function.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::io {

// The same bytes for the same text, always: no time and no file name in the header. "gzip.failed": no memory.
[[nodiscard]] base::Result<std::string> gzip(std::string_view text);

// The text of one gzip member and nothing behind it; "gzip.damaged" otherwise, "gzip.too_large" past the
// limit.
[[nodiscard]] base::Result<std::string> gunzip(std::string_view bytes, std::size_t limit_bytes);

}  // namespace wheelyard::io
