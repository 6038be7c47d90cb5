// Whether x86-64 code was compiled for AVX, or for AVX-512, as a whole. A library that chooses at run time has SSE code beside
// its AVX code: the compiler writes every move of a number for the lowest processor, but in the functions that are chosen. One
// that was compiled with -mavx has few SSE moves: none, or those of libraries that were compiled before (Rust's own).
//
//     of all such moves AVX:   OpenBLAS 0.26-0.30, numpy 0.59, OpenCV 0.13, x265 0.09, dav1d 0.18, Qt 0.00, libgfortran 0.66;
//                              scann 0.998, netgen 0.93, rsshogi 0.92
//
// Code that was compiled for AVX-512 keeps to the shorter encoding of AVX where it can. That of AVX-512 has then 1.3 to 33 % as
// many moves (50 of 52 files of Intel's TensorFlow and symmetrix), and none in code that was compiled for AVX2 (ngsolve, netgen).
//
// ARM's SVE has no such moves, and shares say nothing: OpenBLAS chooses at run time and has SVE in a quarter of its vector code,
// ARM's Compute Library in a half. Code that chooses asks the system, or an ID register, what the processor has.
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
inline constexpr std::uint64_t min_avx_percent = 90;
inline constexpr std::uint64_t min_avx512_moves = 20, min_avx512_percent = 1;  // of the AVX moves
inline constexpr std::uint64_t min_sve_predicates = 8;  // one of 30,000 words of data looks like one

enum class VectorLevel : std::uint8_t { sse, avx, avx512 };

struct VectorMoves {
    std::uint64_t avx512 = 0, avx = 0, sse = 0;
    // What all of the code is for.
    [[nodiscard]] VectorLevel level() const {
        if (avx < min_vector_moves || avx * 100 < (avx + sse) * min_avx_percent) return VectorLevel::sse;
        const bool has_avx512 = avx512 >= min_avx512_moves && avx512 * 100 >= avx * min_avx512_percent;
        return has_avx512 ? VectorLevel::avx512 : VectorLevel::avx;
    }
};
// By the bytes of their encodings, not by decoding: code, also that of other instructions, has a few by chance.
[[nodiscard]] VectorMoves count_vector_moves(std::string_view code);

// Of aarch64 code: SVE's PTRUE and WHILELO, with which its loops begin, and reads of the registers ID_AA64….
struct SveCode {
    std::uint64_t predicates = 0, asks = 0;
    [[nodiscard]] bool is_plain() const { return predicates >= min_sve_predicates && asks == 0; }
};
[[nodiscard]] SveCode count_sve(std::string_view code);
// Whether .text has SVE code and reads no such register; false where it cannot be read.
[[nodiscard]] bool has_plain_sve(const base::Reader& bytes, const std::vector<ElfSection>& sections);

// Of the section .text; `sse` where it cannot be read.
[[nodiscard]] VectorLevel vector_level(const base::Reader& bytes, const std::vector<ElfSection>& sections);

}  // namespace wheelyard::inspect
