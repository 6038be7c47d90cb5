// Limits of lib/inspect/zip/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

// The frame.
inline constexpr std::uint64_t max_members = 200'000;                 // torch has 13,187
inline constexpr std::size_t max_member_name_bytes = 4096;            // PATH_MAX
inline constexpr std::size_t max_name_components = 256;               // real wheels: under 20
inline constexpr std::size_t max_component_bytes = 255;               // NAME_MAX: could not be installed
inline constexpr std::uint64_t max_directory_bytes = 32 * base::mib;  // torch: 1.2 MiB

// ISA-L takes a microsecond or more for each block of a DEFLATE stream, however empty it is. zlib's usual
// settings put 16,383 symbols into one, its least memory 128.
// Of one member, and one more for each min_block_bytes.
inline constexpr std::uint64_t max_short_blocks = 4096;
inline constexpr std::uint64_t min_block_bytes = 32;  // packed

// Working memory of one thread (contents.hpp has the sum). Up to kept_member_bytes an ELF member is held in
// memory; of a larger one there are max_snapshots, of up to 119 KiB each, from which it is unpacked again,
// max_passes times over at most, and the headers of its device code (landmarks.hpp). More threads than
// max_threads would wait for the largest member anyway, and memory stays below 200 MiB.
inline constexpr std::size_t piece_bytes = 256 * base::kib;  // read, and unpacked, at a time
inline constexpr std::uint64_t kept_member_bytes = 16 * base::mib;
inline constexpr std::uint64_t max_snapshots = 96;
inline constexpr std::uint64_t max_passes = 8;
inline constexpr std::size_t max_landmark_bytes = 4 * base::mib;  // torch 2.6: 1 MiB
inline constexpr unsigned max_threads = 8;
inline constexpr int max_zstd_window_log = 27;  // 128 MiB: clang's longest

}  // namespace wheelyard::inspect
