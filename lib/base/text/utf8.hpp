// UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing past U+10FFFF.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
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

// Makes text that came from elsewhere (from a registry, a compiler, an archive) safe to print on a terminal.

// Says whether this character controls a terminal: C0, DEL, C1, and those that change the direction or the
// order of the text around them.
[[nodiscard]] bool is_control(char32_t code);

// Replaces with "?": such characters but line feeds and tabs, and each byte that is not UTF-8, which may be a
// C1 control of Latin-1.
[[nodiscard]] std::string printable(std::string_view text);
// The same as one line: line feeds and tabs become spaces, so that no field looks like the next line.
[[nodiscard]] std::string printable_line(std::string_view text);
// Says whether printable_line() changes nothing.
[[nodiscard]] bool is_printable_line(std::string_view text);

// Small letters for comparing what people type with what projects write, independent of the locale.

// Latin letters with their accents up to U+017F, Greek and Cyrillic; others stay. "É" becomes "é", "İ" "i".
// fold() of lib/page/assets/common.js has the same rule.
[[nodiscard]] std::string fold_case(std::string_view text);

}  // namespace wheelyard::base
