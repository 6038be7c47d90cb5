// Limits of builder/compare/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr std::size_t max_examples = 8;          // places that are kept for each cause
inline constexpr std::size_t max_evidence_bytes = 160;  // of a differing text: one line of a terminal or two

// Bytes that are explained are read into memory, twice: a member that is no ELF file, or one section of an ELF file.
// Larger ones are reported as different, without a cause. torch's largest section has 130 MiB.
inline constexpr std::uint64_t max_explained_bytes = 256 * base::mib;
// Of one such pair: differing lines or strings that are compared with each other.
inline constexpr std::size_t max_differing_texts = 4096;
inline constexpr std::size_t min_string_bytes = 4;  // of a printable text in binary bytes, as in strings(1)

inline constexpr std::size_t archive_piece_bytes = 1 * base::mib;  // of two wheels, read at once
inline constexpr std::size_t max_recorded_text_bytes =
    1 * base::mib;  // a file of tools or settings of a build

}  // namespace wheelyard::builder
