// What store.cpp and collection.cpp share. Internal to this folder.
#pragma once

#include <filesystem>

#include "lib/base/result.hpp"

namespace wheelyard::blobs {

[[nodiscard]] inline std::filesystem::path root_of(const std::filesystem::path& directory) {
    return directory / "blobs" / "sha256";
}
// A collection that was killed may have left a blob outside its place: back it goes.
[[nodiscard]] base::Status put_back_collecting(const std::filesystem::path& directory);

}  // namespace wheelyard::blobs
