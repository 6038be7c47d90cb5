// How much of an untrusted wheel is believed. Real wheels stay far below each (measured over 43 of them,
// torch 2.15 included).
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

// The frame.
inline constexpr std::uint64_t most_members = 200'000;                 // torch has 13,187
inline constexpr std::size_t longest_member_name_bytes = 4096;         // PATH_MAX
inline constexpr std::size_t most_name_components = 256;               // real wheels: under 20
inline constexpr std::size_t longest_component_bytes = 255;            // NAME_MAX: could not be installed
inline constexpr std::uint64_t most_directory_bytes = 32 * base::mib;  // torch: 1.2 MiB

// Bombs: a wheel over `bomb_floor_bytes` may not unpack to more than `bomb_ratio` times its size, nor may a
// member, unless an index's policy says otherwise (policy.hpp); 43 real wheels stay under 5 in total and
// under 25 in each member of over 1 MiB. DEFLATE itself ends at 1,032.
inline constexpr std::uint64_t bomb_floor_bytes = 64 * base::mib;
inline constexpr std::uint64_t bomb_ratio = 100;
inline constexpr std::uint64_t most_unpacked_bytes = 64 * base::gib;

// ISA-L takes a microsecond or more for each block of a DEFLATE stream, however empty it is. zlib's usual
// settings put 16,383 symbols into one, its least memory 128.
inline constexpr std::uint64_t most_short_blocks =
    4096;  // of one member, and one more for each least_block_bytes
inline constexpr std::uint64_t least_block_bytes = 32;  // packed

// Members that are read whole.
inline constexpr std::uint64_t longest_metadata_member = 8 * base::mib;
inline constexpr std::uint64_t longest_wheel_member = base::mib;
inline constexpr std::uint64_t longest_record_member = 32 * base::mib;  // torch: 1.3 MiB
inline constexpr std::uint64_t longest_entry_points_member = base::mib;

// Working memory of one thread (contents.hpp has the sum). Up to kept_member_bytes an ELF member is held in
// memory; of a larger one there are most_snapshots, of up to 119 KiB each, from which it is unpacked again,
// most_passes times over at most, and the headers of its device code (landmarks.hpp). More threads than
// most_threads would wait for the largest member anyway, and memory stays below 200 MiB.
inline constexpr std::size_t piece_bytes = 256 * base::kib;  // read, and unpacked, at a time
inline constexpr std::uint64_t kept_member_bytes = 16 * base::mib;
inline constexpr std::uint64_t most_snapshots = 96;
inline constexpr std::uint64_t most_passes = 8;
inline constexpr std::size_t most_landmark_bytes = 4 * base::mib;  // torch 2.6: 1 MiB
inline constexpr unsigned most_threads = 8;

// Findings.
inline constexpr std::size_t most_verdicts_collected = 1000;  // of one code
inline constexpr std::size_t most_verdicts_shown = 20;  // of one code; the last says how many more there are
inline constexpr std::size_t longest_evidence_bytes = 300;

// ELF and GPU code.
inline constexpr std::uint64_t most_elf_sections = 65'536;
inline constexpr std::size_t longest_section_name_bytes = 64;  // what is held; those looked for are shorter
inline constexpr std::uint64_t most_elf_segments = 4096;
inline constexpr std::uint64_t most_dynamic_entries = 65'536;
inline constexpr std::uint64_t most_version_needs = 4096;
inline constexpr std::uint64_t most_elf_symbols = 2'000'000;  // torch's largest library: 46,000; 8 bytes each
inline constexpr std::uint64_t most_relocations =
    20'000'000;  // torch 2.6: 1.1 million; 24 bytes each in the file
inline constexpr std::size_t longest_symbol_name_bytes = 16 * base::kib;  // what is looked at
inline constexpr std::size_t most_symbol_examples = 8;
inline constexpr std::uint64_t most_note_bytes = 64 * base::kib;       // of one segment
inline constexpr std::uint64_t most_small_segments_bytes = base::mib;  // notes and interpreters of one file
inline constexpr std::size_t longest_elf_string = 64 * base::kib;  // a RUNPATH of jax's ROCm plugins: 8 KiB
inline constexpr std::uint64_t most_elf_name_bytes = base::mib;    // one file's libraries and versions
inline constexpr std::uint64_t most_wheel_name_bytes = 32 * base::mib;  // those of all its files
inline constexpr std::uint64_t most_gpu_entries = 4'000'000;  // of one ELF file, unpacked tables included
inline constexpr std::size_t most_gpu_names = 256;            // of one ELF file; torch has 12
inline constexpr std::uint64_t most_bundle_table_bytes = base::mib;  // of one compressed bundle; real: 1 KiB
inline constexpr std::uint64_t most_bundle_tables_bytes = 256 * base::mib;  // of one ELF file
inline constexpr int longest_zstd_window_log = 27;                          // 128 MiB: clang's longest

}  // namespace wheelyard::inspect
