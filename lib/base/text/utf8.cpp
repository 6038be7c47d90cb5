#include "lib/base/text/utf8.hpp"

#include <algorithm>
#include <array>

#include "lib/base/text/text.hpp"

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

bool is_control(char32_t code) {
    if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return true;
    // Unicode's Bidi_Control, and the line and paragraph separators.
    return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

std::string printable(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        std::size_t bytes = 1;
        const char first = text.front();
        if ((first >= ' ' && first <= '~') || first == '\n' || first == '\t') {
            shown += first;
        } else if (const auto character = decode_utf8(text); !character || is_control(character->code)) {
            shown += '?';
            bytes = character ? character->bytes : 1;
        } else {
            bytes = character->bytes;
            shown += text.substr(0, bytes);
        }
        text.remove_prefix(bytes);
    }
    return shown;
}

std::string printable_line(std::string_view text) {
    std::string line = printable(text);
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return line;
}

bool is_printable_line(std::string_view text) {
    return printable_line(text) == text;
}

namespace {

// Capital letters of Unicode 15 that are two bytes of UTF-8, with the distance to their small ones.
struct Capitals {
    unsigned first;
    unsigned last;
    unsigned step;  // 2: capital and small letters take turns
    unsigned distance;
};
constexpr std::array<Capitals, 15> capitals{{{0xC0, 0xD6, 1, 32},
                                             {0xD8, 0xDE, 1, 32},
                                             {0x100, 0x12E, 2, 1},
                                             {0x132, 0x136, 2, 1},
                                             {0x139, 0x147, 2, 1},
                                             {0x14A, 0x176, 2, 1},
                                             {0x179, 0x17D, 2, 1},
                                             {0x386, 0x386, 1, 38},
                                             {0x388, 0x38A, 1, 37},
                                             {0x38C, 0x38C, 1, 64},
                                             {0x38E, 0x38F, 1, 63},
                                             {0x391, 0x3A1, 1, 32},
                                             {0x3A3, 0x3AB, 1, 32},
                                             {0x400, 0x40F, 1, 80},
                                             {0x410, 0x42F, 1, 32}}};

unsigned small_letter(unsigned code) {
    if (code == 0x130) return 'i';
    if (code == 0x178) return 0xFF;
    for (const Capitals& range : capitals) {
        if (code >= range.first && code <= range.last && (code - range.first) % range.step == 0)
            return code + range.distance;
    }
    return code;
}

}  // namespace

std::string fold_case(std::string_view text) {
    std::string made;
    made.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto lead = static_cast<unsigned char>(text[at]);
        const unsigned next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0U;
        if (lead < 0xC3 || lead > 0xD1 || (next & 0xC0U) != 0x80U) {
            made += ascii_lower(text.substr(at, 1));
            continue;
        }
        ++at;
        const unsigned code = small_letter((lead & 0x1FU) << 6U | (next & 0x3FU));
        if (code < 0x80) {
            made += static_cast<char>(code);
            continue;
        }
        made += static_cast<char>(0xC0U | code >> 6U);
        made += static_cast<char>(0x80U | (code & 0x3FU));
    }
    return made;
}

}  // namespace wheelyard::base
