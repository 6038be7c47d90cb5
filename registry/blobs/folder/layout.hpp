// Where blobs lie below a data folder or a backup, and what a killed collection leaves. Internal to registry/blobs.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::blobs {

inline constexpr mode_t stored_mode = 0444;

[[nodiscard]] inline std::filesystem::path root_of(const std::filesystem::path& directory) {
    return directory / "blobs" / "sha256";
}
[[nodiscard]] inline std::filesystem::path file_of(const std::filesystem::path& directory,
                                                   std::string_view sha256) {
    return root_of(directory) / sha256.substr(0, 2) / sha256;
}
[[nodiscard]] inline std::filesystem::path identity_of(const std::filesystem::path& directory) {
    return directory / "blobs" / "registry.json";
}
// Puts back blobs that a killed collection left in `collecting/`.
[[nodiscard]] base::Status put_back_collecting(const std::filesystem::path& directory);

}  // namespace wheelyard::blobs
