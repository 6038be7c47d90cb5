// Shared by store.cpp and collection.cpp. Internal to this folder.
#pragma once

#include <filesystem>

#include "lib/base/result.hpp"

namespace wheelyard::blobs {

[[nodiscard]] inline std::filesystem::path root_of(const std::filesystem::path& directory) {
    return directory / "blobs" / "sha256";
}
// Puts back blobs that a killed collection left in `collecting/`.
[[nodiscard]] base::Status put_back_collecting(const std::filesystem::path& directory);

}  // namespace wheelyard::blobs
