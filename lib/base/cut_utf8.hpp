// Text that is cut, and stays text.
#pragma once

#include <cstddef>
#include <string_view>

namespace wheelyard::base {

// At most `max_bytes` of the beginning of `text`, with no character of UTF-8 in half.
[[nodiscard]] inline std::string_view cut_utf8(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) return text;
    std::size_t end = max_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        --end;
    return text.substr(0, end);
}

}  // namespace wheelyard::base
