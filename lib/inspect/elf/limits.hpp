// Limits for ELF files and device code, with unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

inline constexpr std::uint64_t max_elf_sections = 65'536;
inline constexpr std::size_t max_section_name_bytes =
    64;  // stored prefix; the names that rules look for are shorter
inline constexpr std::uint64_t max_elf_segments = 4096;
inline constexpr std::uint64_t max_dynamic_entries = 65'536;
inline constexpr std::uint64_t max_version_needs = 4096;
inline constexpr std::uint64_t max_elf_symbols =
    2'000'000;  // torch's largest library has 46,000; 8 bytes each

// torch 2.6 has 1.1 million; 24 bytes each in the file.
inline constexpr std::uint64_t max_relocations = 20'000'000;
inline constexpr std::size_t max_symbol_name_bytes = 16 * base::kib;  // prefix that is examined
inline constexpr std::size_t max_symbol_examples = 8;
inline constexpr std::uint64_t max_note_bytes = 64 * base::kib;       // per segment
inline constexpr std::uint64_t max_small_segments_bytes = base::mib;  // notes and interpreters per file
inline constexpr std::size_t max_elf_string = 64 * base::kib;   // jax's ROCm plugins have a RUNPATH of 8 KiB
inline constexpr std::uint64_t max_elf_name_bytes = base::mib;  // library and version names per file
inline constexpr std::uint64_t max_gpu_entries = 4'000'000;     // per ELF file, including unpacked tables
inline constexpr std::size_t max_gpu_names = 256;               // per ELF file; torch has 12
inline constexpr std::uint64_t max_bundle_tables_bytes = 256 * base::mib;  // per ELF file

}  // namespace wheelyard::inspect
