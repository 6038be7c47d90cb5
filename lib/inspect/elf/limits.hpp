// Limits of lib/inspect/elf/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

// ELF and GPU code.
inline constexpr std::uint64_t max_elf_sections = 65'536;
inline constexpr std::size_t max_section_name_bytes = 64;  // what is held; those looked for are shorter
inline constexpr std::uint64_t max_elf_segments = 4096;
inline constexpr std::uint64_t max_dynamic_entries = 65'536;
inline constexpr std::uint64_t max_version_needs = 4096;
inline constexpr std::uint64_t max_elf_symbols = 2'000'000;  // torch's largest library: 46,000; 8 bytes each

// Torch 2.6: 1.1 million; 24 bytes each in the file.
inline constexpr std::uint64_t max_relocations = 20'000'000;
inline constexpr std::size_t max_symbol_name_bytes = 16 * base::kib;  // what is looked at
inline constexpr std::size_t max_symbol_examples = 8;
inline constexpr std::uint64_t max_note_bytes = 64 * base::kib;       // of one segment
inline constexpr std::uint64_t max_small_segments_bytes = base::mib;  // notes and interpreters of one file
inline constexpr std::size_t max_elf_string = 64 * base::kib;   // a RUNPATH of jax's ROCm plugins: 8 KiB
inline constexpr std::uint64_t max_elf_name_bytes = base::mib;  // one file's libraries and versions
inline constexpr std::uint64_t max_gpu_entries = 4'000'000;     // of one ELF file, unpacked tables included
inline constexpr std::size_t max_gpu_names = 256;               // of one ELF file; torch has 12
inline constexpr std::uint64_t max_bundle_tables_bytes = 256 * base::mib;  // of one ELF file

}  // namespace wheelyard::inspect
