// Unicode code points of a text.
#pragma once

#include <cstddef>
#include <string_view>

namespace wheelyard::inspect {

struct CodePoints {
    char32_t first, last;
};

// The code point that begins at text[at], which is moved behind it. `text` is UTF-8.
inline char32_t take_code_point(std::string_view text, std::size_t& at) {
    const auto byte = [&] { return static_cast<unsigned char>(text[at++]); };
    const char32_t first = byte();
    if (first < 0x80) return first;
    const int more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    char32_t point = first & (0x3fu >> more);
    for (int i = 0; i < more; ++i)
        point = point << 6 | (byte() & 0x3fu);
    return point;
}

}  // namespace wheelyard::inspect
