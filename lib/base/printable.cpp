#include "lib/base/printable.hpp"

#include <array>
#include <cstddef>

namespace wheelyard::base {
namespace {

struct Character {
    char32_t code = 0;
    std::size_t bytes = 1;
};

// The first character in UTF-8 (RFC 3629: no overlong forms, no surrogates). A byte that is not UTF-8 counts as a
// character of Latin-1, as on a terminal that shows Latin-1.
Character decode(std::string_view text) {
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = at(0);
    const Character latin{first, 1};
    if (first < 0x80) return latin;
    const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return latin;
    char32_t code = first & (0xFFU >> (bytes + 1));
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((at(i) & 0xC0U) != 0x80U) return latin;
        code = code << 6U | (at(i) & 0x3FU);
    }
    constexpr std::array<char32_t, 5> first_of_length = {0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < first_of_length[bytes] || code > 0x10FFFF || is_surrogate) return latin;
    return {code, bytes};
}

// The characters that change the direction or the order of the text around them (Unicode, Bidi_Control), and the
// line and paragraph separators.
bool is_bidi_control(char32_t code) {
    return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

bool is_control(char32_t code) {
    if (code == '\n' || code == '\t') return false;
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || is_bidi_control(code);
}

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const Character character = decode(text);
        shown += is_control(character.code) ? "?" : text.substr(0, character.bytes);
        text.remove_prefix(character.bytes);
    }
    return shown;
}

}  // namespace wheelyard::base
