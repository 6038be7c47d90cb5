// How much of an untrusted wheel is believed. Real wheels stay far below each (measured over 43 of them,
// torch 2.15 included).
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

// Bombs: a wheel over `bomb_floor_bytes` may not unpack to more than `bomb_ratio` times its size, nor may a
// member, unless an index's policy says otherwise (policy.hpp); 43 real wheels stay under 5 in total and
// under 25 in each member of over 1 MiB. DEFLATE itself ends at 1,032.
inline constexpr std::uint64_t bomb_floor_bytes = 64 * base::mib;
inline constexpr std::uint64_t bomb_ratio = 100;
inline constexpr std::uint64_t max_unpacked_bytes = 64 * base::gib;

// ISA-L takes a microsecond or more for each block of a DEFLATE stream, however empty it is. zlib's usual
// settings put 16,383 symbols into one, its least memory 128.
inline constexpr std::uint64_t max_short_blocks =
    4096;                                             // of one member, and one more for each min_block_bytes
inline constexpr std::uint64_t min_block_bytes = 32;  // packed

// Members that are read whole.
inline constexpr std::uint64_t max_metadata_member = 8 * base::mib;
inline constexpr std::uint64_t max_wheel_member = base::mib;
inline constexpr std::uint64_t max_record_member = 32 * base::mib;  // torch: 1.3 MiB
inline constexpr std::uint64_t max_entry_points_member = base::mib;

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

// Findings.
inline constexpr std::size_t max_verdicts_collected = 1000;  // of one code
inline constexpr std::size_t max_verdicts_shown = 20;  // of one code; the last says how many more there are
inline constexpr std::size_t max_evidence_bytes = 300;

// ELF and GPU code.
inline constexpr std::uint64_t max_elf_sections = 65'536;
inline constexpr std::size_t max_section_name_bytes = 64;  // what is held; those looked for are shorter
inline constexpr std::uint64_t max_elf_segments = 4096;
inline constexpr std::uint64_t max_dynamic_entries = 65'536;
inline constexpr std::uint64_t max_version_needs = 4096;
inline constexpr std::uint64_t max_elf_symbols = 2'000'000;  // torch's largest library: 46,000; 8 bytes each
inline constexpr std::uint64_t max_relocations =
    20'000'000;  // torch 2.6: 1.1 million; 24 bytes each in the file
inline constexpr std::size_t max_symbol_name_bytes = 16 * base::kib;  // what is looked at
inline constexpr std::size_t max_symbol_examples = 8;
inline constexpr std::uint64_t max_note_bytes = 64 * base::kib;       // of one segment
inline constexpr std::uint64_t max_small_segments_bytes = base::mib;  // notes and interpreters of one file
inline constexpr std::size_t max_elf_string = 64 * base::kib;   // a RUNPATH of jax's ROCm plugins: 8 KiB
inline constexpr std::uint64_t max_elf_name_bytes = base::mib;  // one file's libraries and versions
inline constexpr std::uint64_t max_wheel_name_bytes = 32 * base::mib;  // those of all its files
inline constexpr std::uint64_t max_gpu_entries = 4'000'000;  // of one ELF file, unpacked tables included
inline constexpr std::size_t max_gpu_names = 256;            // of one ELF file; torch has 12
inline constexpr std::uint64_t max_bundle_table_bytes = base::mib;  // of one compressed bundle; real: 1 KiB
inline constexpr std::uint64_t max_bundle_tables_bytes = 256 * base::mib;  // of one ELF file
inline constexpr int max_zstd_window_log = 27;                             // 128 MiB: clang's longest

}  // namespace wheelyard::inspect
