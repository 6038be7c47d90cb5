// Truncation of UTF-8 text.
#pragma once

#include <cstddef>
#include <string_view>

namespace wheelyard::base {

// The longest prefix of `text` that has at most `max_bytes` bytes and does not split a UTF-8 character.
[[nodiscard]] inline std::string_view cut_utf8(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) return text;
    std::size_t end = max_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        --end;
    return text.substr(0, end);
}

}  // namespace wheelyard::base
