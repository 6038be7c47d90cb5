// Zstandard (RFC 8878) of text that is sent many times: libzstd behind two functions. A build for a cluster
// may be without it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::io {

[[nodiscard]] bool has_zstd();

// One frame that says its size. "zstd.failed": no memory; "zstd.missing": this build has no libzstd.
[[nodiscard]] base::Result<std::string> zstd(std::string_view text);

// The text of one frame as zstd() writes it and nothing behind it; "zstd.damaged" otherwise, "zstd.too_large"
// past the limit.
[[nodiscard]] base::Result<std::string> unzstd(std::string_view bytes, std::size_t limit_bytes);

}  // namespace wheelyard::io
