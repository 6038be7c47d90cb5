// Intel SDM, volume 2: moves of 32 to 256 bits are `0F op` with SSE, and `C5 P op` with AVX, where P has no
// second source (vvvv is 1111). With AVX-512 they are `62 P0 P1 P2 op`: the map is in the low four bits of
// P0; P1 has a bit that is always set; the high bit of the second source (V') is in P2.
//
// Arm Architecture Reference Manual, C4: an instruction is a word, least significant byte first.
#include "lib/inspect/elf/elf_sections.hpp"

#include <algorithm>
#include <string>

#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

// movups, movss and their stores, movaps, movd, movdqu.
constexpr base::ByteSet moves("\x10\x11\x28\x29\x6e\x6f\x7e\x7f\xd6");
constexpr unsigned no_second_source = 0x78;

bool is_avx512_move(std::string_view code) {
    constexpr char evex = '\x62';
    constexpr unsigned map = 0x0f, map_of_moves = 0x01, always_set = 0x04, high_bit = 0x08;
    constexpr std::size_t bytes = 5;
    if (code.size() < bytes || code[0] != evex || !moves.has(code[4])) return false;
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(code[i]); };
    constexpr unsigned set = no_second_source | always_set;
    return (at(1) & map) == map_of_moves && (at(2) & set) == set && (at(3) & high_bit) != 0;
}

// Empty: it cannot be read.
std::string middle_of_text(const base::Reader& bytes, const std::vector<ElfSection>& sections) {
    const auto text = std::find_if(sections.begin(), sections.end(),
                                   [](const ElfSection& one) { return one.name == ".text"; });
    if (text == sections.end() || text->offset > bytes.size() || text->size > bytes.size() - text->offset)
        return {};
    constexpr std::uint64_t word = 4;
    const std::uint64_t length = std::min(text->size, max_code_bytes);
    std::string code(length, '\0');
    if (!bytes.read_at(text->offset + (text->size - length) / 2 / word * word, code.data(), length))
        return {};
    return code;
}

}  // namespace

VectorMoves count_vector_moves(std::string_view code) {
    constexpr char two_bytes = '\x0f', vex = '\xc5';
    VectorMoves found;
    for (std::size_t at = 0; at + 2 < code.size(); ++at) {
        if (code[at] == two_bytes && moves.has(code[at + 1])) ++found.sse;
        const auto prefix = static_cast<unsigned char>(code[at + 1]);
        if (code[at] == vex && (prefix & no_second_source) == no_second_source && moves.has(code[at + 2]))
            ++found.avx;
        if (is_avx512_move(code.substr(at))) ++found.avx512;
    }
    return found;
}

SveCode count_sve(std::string_view code) {
    constexpr std::uint32_t ptrue_mask = 0xff3efc10, ptrue = 0x2518e000;
    constexpr std::uint32_t whilelo_mask = 0xff20ec10, whilelo = 0x25200c00;
    constexpr std::uint32_t mrs_id_mask = 0xfffff000, mrs_id = 0xd5380000;  // op0 3, op1 0, CRn 0
    SveCode found;
    for (std::size_t at = 0; at + 4 <= code.size(); at += 4) {
        std::uint32_t word = 0;
        for (std::size_t i = 4; i-- > 0;)
            word = word << 8 | static_cast<unsigned char>(code[at + i]);
        if ((word & ptrue_mask) == ptrue || (word & whilelo_mask) == whilelo) ++found.predicates;
        if ((word & mrs_id_mask) == mrs_id) ++found.asks;
    }
    return found;
}

bool has_plain_sve(const base::Reader& bytes, const std::vector<ElfSection>& sections) {
    return count_sve(middle_of_text(bytes, sections)).is_plain();
}

VectorLevel vector_level(const base::Reader& bytes, const std::vector<ElfSection>& sections) {
    return count_vector_moves(middle_of_text(bytes, sections)).level();
}

}  // namespace wheelyard::inspect
