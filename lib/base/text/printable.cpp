#include "lib/base/text/printable.hpp"

#include <algorithm>

#include "lib/base/text/utf8.hpp"

namespace wheelyard::base {

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

}  // namespace wheelyard::base
