// A file in place of bytes that are kept elsewhere: it has their size, takes no room, and nobody may read it (mode
// 0000), so no program takes its zeros for them.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>

#include "lib/base/files/fd.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::base {

[[nodiscard]] inline bool is_stand_in(const struct stat& file) {
    return S_ISREG(file.st_mode) && (file.st_mode & 07777) == 0;
}
[[nodiscard]] bool is_stand_in(const std::filesystem::path& file);  // false also if it is missing
// Creates one; `path` must not exist.
[[nodiscard]] Result<Fd> create_stand_in(const std::filesystem::path& path, std::uint64_t size_bytes);

}  // namespace wheelyard::base
