// The keys of the objects, below the prefix. Internal to registry/blobs/s3.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::blobs {

inline constexpr std::string_view blob_keys = "sha256/";
inline constexpr std::string_view damaged_keys = "damaged/";
inline constexpr std::string_view dying_keys = "dying/";
inline constexpr std::string_view mark_keys = "marks/";

[[nodiscard]] inline std::string key_of(std::string_view sha256) {
    return std::string(blob_keys).append(sha256.substr(0, 2)).append("/").append(sha256);
}
[[nodiscard]] inline std::string damaged_key_of(std::string_view sha256) {
    return std::string(damaged_keys).append(sha256);
}
[[nodiscard]] inline std::string dying_key_of(std::string_view sha256) {
    return std::string(dying_keys).append(sha256);
}

}  // namespace wheelyard::blobs
