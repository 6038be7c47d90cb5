// Intel SDM, volume 2: moves of 32 to 256 bits are `0F op` with SSE, and `C5 P op` with AVX, where P has no second source
// (vvvv is 1111). With AVX-512 they are `62 P0 P1 P2 op`: the map is in the low four bits of P0; P1 has a bit that is always set;
// the high bit of the second source (V') is in P2.
#include "lib/inspect/elf/vector_code.hpp"

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

VectorLevel vector_level(const base::Reader& bytes, const std::vector<ElfSection>& sections) {
    const auto text = std::find_if(sections.begin(), sections.end(),
                                   [](const ElfSection& one) { return one.name == ".text"; });
    if (text == sections.end() || text->offset > bytes.size() || text->size > bytes.size() - text->offset)
        return VectorLevel::sse;
    const std::uint64_t length = std::min(text->size, max_code_bytes);
    std::string code(length, '\0');
    if (!bytes.read_at(text->offset + (text->size - length) / 2, code.data(), length))
        return VectorLevel::sse;
    return count_vector_moves(code).level();
}

}  // namespace wheelyard::inspect
