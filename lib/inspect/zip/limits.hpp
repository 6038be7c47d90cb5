// Limits for archives and unpacking, with unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

inline constexpr std::size_t max_member_name_bytes = 4096;  // PATH_MAX
inline constexpr std::size_t max_component_bytes = 255;     // NAME_MAX: a longer one cannot be installed
inline constexpr std::uint64_t max_directory_bytes = 32 * base::mib;  // torch: 1.2 MiB

// ISA-L needs a microsecond or more per DEFLATE block, even for empty ones. zlib's default settings put
// 16,383 symbols into a block, its minimum memory setting 128. The limit is per member; every min_block_bytes
// allow one more block.
inline constexpr std::uint64_t max_short_blocks = 4096;

// Working memory per thread (contents.hpp has the total). ELF members up to kept_member_bytes stay in memory.
// For a larger one, up to max_snapshots snapshots of up to 119 KiB each allow unpacking parts again, at most
// max_passes times its size in total, and landmarks.hpp keeps the headers of its device code. More than
// max_threads threads would only wait for the largest member; this bounds memory to 200 MiB.
inline constexpr std::size_t piece_bytes = 256 * base::kib;  // bytes read or unpacked per step
inline constexpr std::uint64_t kept_member_bytes = 16 * base::mib;
inline constexpr std::size_t max_landmark_bytes = 4 * base::mib;  // torch 2.6: 1 MiB
inline constexpr unsigned max_threads = 8;

}  // namespace wheelyard::inspect
