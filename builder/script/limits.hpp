// Limits of builder/script/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr int fence_wait_s = 120;  // for a job that a scheduler gave up, to leave the build tree

// A lock with every platform's hashes.
inline constexpr std::uint64_t max_requirements_bytes = 16 * base::mib;
inline constexpr std::size_t max_requirements_files = 64;  // that one of a project's includes
inline constexpr std::size_t max_build_key_bytes = 128;

}  // namespace wheelyard::builder
