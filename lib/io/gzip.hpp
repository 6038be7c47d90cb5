// gzip (RFC 1952) for text that is served many times.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::io {

// Deterministic: the header contains no time and no file name. Error "gzip.failed": out of memory.
[[nodiscard]] base::Result<std::string> gzip(std::string_view text);

// Decompresses exactly one gzip member. Errors: "gzip.damaged" (also for trailing bytes), "gzip.too_large".
[[nodiscard]] base::Result<std::string> gunzip(std::string_view bytes, std::size_t limit_bytes);

}  // namespace wheelyard::io
