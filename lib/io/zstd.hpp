// Zstandard (RFC 8878) for text that is served many times. libzstd is optional: builds for clusters may lack
// it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::io {

[[nodiscard]] bool has_zstd();

// One frame with its content size. Errors: "zstd.failed" (out of memory), "zstd.missing" (built without
// libzstd).
[[nodiscard]] base::Result<std::string> zstd(std::string_view text);

// Decompresses exactly one frame written by zstd(). Errors: "zstd.damaged" (also for trailing bytes),
// "zstd.too_large".
[[nodiscard]] base::Result<std::string> unzstd(std::string_view bytes, std::size_t limit_bytes);

}  // namespace wheelyard::io
