// Unpacks untrusted source archives (tar.gz, tar.xz, tar.bz2, tar.zst, zip) with libarchive: no absolute or
// `..` names, no links that leave the folder, no devices; bounded size, names, entry count and time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/keep_alive.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::io {

struct UnpackLimits {
    std::uint64_t total_bytes = 20ull << 30;
    std::uint64_t entries = 1'000'000;
    std::uint64_t name_bytes = 2'048;  // with its folder's path below PATH_MAX, so that programs can open it
    std::int64_t time_ms = 60 * 60'000;  // a slow shared file system writes a large archive in minutes
};

// Unpacks `archive` into the existing folder `into` and returns the top-level names (an sdist has exactly
// one). Calls `keep_alive` before each entry and after each piece of a file. Errors: "archive.unsafe" (names
// the entry), "archive.too_large", "archive.too_slow", "archive.broken", and those of `keep_alive`.
[[nodiscard]] base::Result<std::vector<std::string>> unpack(const std::filesystem::path& archive,
                                                            const std::filesystem::path& into,
                                                            const UnpackLimits& limits = {},
                                                            const base::KeepAlive& keep_alive = {});

}  // namespace wheelyard::io
