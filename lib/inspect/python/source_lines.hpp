// Python source as logical lines of tokens (Python's reference, chapter 2), enough to find imports and calls: names, plain
// strings, and everything else as single characters. Never fails: what is no Python gives tokens without meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace wheelyard::inspect {

enum class TokenKind : std::uint8_t {
    name,
    text,        // a string literal that means what is written; `text` is what is between the quotes
    other_text,  // one with escapes, replacement fields, or bytes
    sign,        // "=", "==", "(", a number
};

struct Token {
    TokenKind kind = TokenKind::sign;
    std::string_view text;  // into the source

    [[nodiscard]] bool is_sign(std::string_view sign) const {
        return kind == TokenKind::sign && text == sign;
    }
    [[nodiscard]] bool is_name(std::string_view name) const {
        return kind == TokenKind::name && text == name;
    }
};

struct SourceLine {
    std::size_t indent = 0;
    bool is_continued = false;  // follows a semicolon
    std::vector<Token> tokens;  // never empty
};

[[nodiscard]] std::vector<SourceLine> read_source_lines(std::string_view source);

}  // namespace wheelyard::inspect
