// A piece of a build's log as it leaves the site, without its secrets. Offsets in what was sent are those of
// the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr std::uint64_t log_piece_bytes = 48 * base::kib;  // per request; the API accepts 64 KiB
// The longest secret in a log: pieces of the log are searched with as much before and after them.
inline constexpr std::size_t max_secret_bytes = 4 * base::kib;

// The next piece from `from`: empty where there is none yet. Of a log that is still written (not `is_over`)
// only complete lines, unless one is very long: what is cut in a secret would not be recognised. Errors: of
// the disk.
[[nodiscard]] base::Result<std::string> read_log_piece(const std::filesystem::path& file, std::uint64_t from,
                                                       std::size_t max_bytes, bool is_over,
                                                       const std::vector<std::string>& secrets);

}  // namespace wheelyard::builder
