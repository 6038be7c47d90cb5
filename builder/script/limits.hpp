// Limits of builder/script/, with units and reasons.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr int fence_wait_s = 120;  // for a job that its scheduler lost to leave the build tree

// A lock file with the hashes of every platform.
inline constexpr std::uint64_t max_requirements_bytes = 16 * base::mib;
inline constexpr std::size_t max_requirements_files = 64;  // included by one file
inline constexpr std::size_t max_build_key_bytes = 128;

inline constexpr std::uint64_t max_patch_bytes = 16 * base::mib;
inline constexpr std::uint64_t max_series_bytes = base::mib;
inline constexpr std::size_t max_patches = 9999;  // of a recipe: their numbers have four digits

}  // namespace wheelyard::builder
