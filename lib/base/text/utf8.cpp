#include "lib/base/text/utf8.hpp"

#include <array>

namespace wheelyard::base {

std::optional<Utf8Character> decode_utf8(std::string_view text) {
    if (text.empty()) return std::nullopt;
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = at(0);
    if (first < 0x80) return Utf8Character{first, 1};
    const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return std::nullopt;
    char32_t code = first & (0xFFU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((at(i) & 0xC0U) != 0x80U) return std::nullopt;
        code = code << 6U | (at(i) & 0x3FU);
    }
    constexpr std::array<char32_t, 5> first_of_length = {0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < first_of_length[bytes] || code > 0x10FFFF || is_surrogate) return std::nullopt;
    return Utf8Character{code, bytes};
}

}  // namespace wheelyard::base
