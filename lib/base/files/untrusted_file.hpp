// Reads files that an archive, a build or another user put in place: a name there may be a FIFO, a device or
// a link.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "lib/base/files/fd.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::base {

// Opens a regular file; never follows a link in the last part of its path, and never waits for a writer.
// Errors: "file.not_regular"; those of open(2), with their number.
[[nodiscard]] Result<Fd> open_untrusted(const std::filesystem::path& path);

// As read_file (file.hpp), of a regular file.
[[nodiscard]] Result<std::string> read_untrusted_file(const std::filesystem::path& path,
                                                      std::uint64_t limit_bytes);

}  // namespace wheelyard::base
