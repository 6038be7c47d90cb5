// UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing past U+10FFFF.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace wheelyard::base {

struct Utf8Character {
    char32_t code = 0;
    std::size_t bytes = 1;
};
// The first character of `text`; nullopt if `text` does not begin with one.
[[nodiscard]] std::optional<Utf8Character> decode_utf8(std::string_view text);

// The longest prefix of `text` that has at most `max_bytes` bytes and does not split a UTF-8 character.
[[nodiscard]] inline std::string_view cut_utf8(std::string_view text, std::size_t max_bytes) {
    if (text.size() <= max_bytes) return text;
    std::size_t end = max_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        --end;
    return text.substr(0, end);
}

}  // namespace wheelyard::base
