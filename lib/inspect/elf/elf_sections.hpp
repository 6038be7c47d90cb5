// The sections of an ELF file, which tools use but the dynamic linker does not. System V ABI chapter 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::inspect {

inline constexpr std::size_t max_section_name_bytes =
    64;  // stored prefix; the names that rules look for are shorter

struct ElfSection {
    std::string name;  // cut to max_section_name_bytes
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  // in the file; 0 for NOBITS
};

// The location of the section headers, from the ELF header.
struct SectionTable {
    unsigned bits = 64;
    bool big_endian = false;
    std::uint64_t offset = 0;
    std::uint64_t entry_bytes = 0;
    std::uint64_t count = 0;        // 0 with an offset: section 0 has the real count
    std::uint64_t names_index = 0;  // the section that contains the names
};

// Error "elf.malformed".
[[nodiscard]] base::Result<std::vector<ElfSection>> list_sections(const base::Reader& bytes,
                                                                  const SectionTable& table);

// The error of a file that is no valid ELF file.
// "elf.malformed"; `value` is the number that is wrong.
inline tl::unexpected<base::Error> malformed(std::string sentence, std::uint64_t value) {
    return base::fail_malformed("elf.malformed", std::move(sentence), std::to_string(value));
}

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
// By the bytes of their encodings, not by decoding: code, also that of other instructions, has a few by
// chance.
[[nodiscard]] VectorMoves count_vector_moves(std::string_view code);

// SveCode counts in aarch64 code: SVE's PTRUE and WHILELO, with which its loops begin, and reads of the
// registers ID_AA64….
struct SveCode {
    std::uint64_t predicates = 0, asks = 0;
    [[nodiscard]] bool is_plain() const { return predicates >= min_sve_predicates && asks == 0; }
};
[[nodiscard]] SveCode count_sve(std::string_view code);
// Says whether .text has SVE code and reads no such register; false where it cannot be read.
[[nodiscard]] bool has_plain_sve(const base::Reader& bytes, const std::vector<ElfSection>& sections);

// Reads the section .text; `sse` where it cannot be read.
[[nodiscard]] VectorLevel vector_level(const base::Reader& bytes, const std::vector<ElfSection>& sections);

}  // namespace wheelyard::inspect
