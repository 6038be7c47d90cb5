// Whether x86-64 code was compiled for AVX as a whole. A library that chooses at run time has SSE code beside its AVX code:
// the compiler writes every move of a number for the lowest processor, but in the functions that are chosen. One that was
// compiled with -mavx has next to no SSE move.
//
//     of all such moves AVX:   OpenBLAS 0.26-0.30, numpy 0.59, OpenCV 0.13, x265 0.09, dav1d 0.18, Qt 0.00;   scann 0.998
//
// AVX-512 does not show like this: compilers keep to the shorter encoding of AVX where they can.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/inspect/elf/elf_sections.hpp"

namespace wheelyard::inspect {

inline constexpr std::uint64_t max_code_bytes = 2 * base::mib;  // of a file, from the middle of its code
inline constexpr std::uint64_t min_vector_moves = 200;          // fewer say nothing
inline constexpr std::uint64_t min_avx_percent = 97;

struct VectorMoves {
    std::uint64_t avx = 0, sse = 0;
    [[nodiscard]] bool are_avx_throughout() const {
        return avx >= min_vector_moves && avx * 100 >= (avx + sse) * min_avx_percent;
    }
};
// By the bytes of their encodings, not by decoding: code, also that of other instructions, has a few by chance.
[[nodiscard]] VectorMoves count_vector_moves(std::string_view code);

// Of the section .text; false where it cannot be read.
[[nodiscard]] bool is_avx_throughout(const base::Reader& bytes, const std::vector<ElfSection>& sections);

}  // namespace wheelyard::inspect
