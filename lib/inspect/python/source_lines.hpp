// Python source as logical lines of tokens (Python's reference, chapter 2), enough to find imports and calls:
// names, plain strings, and everything else as single characters. Never fails: what is no Python gives tokens
// without meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
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

    [[nodiscard]] bool is_sign(char sign) const {
        return kind == TokenKind::sign && text.size() == 1 && text.front() == sign;
    }
    [[nodiscard]] bool opens_bracket() const { return is_sign('(') || is_sign('[') || is_sign('{'); }
    [[nodiscard]] bool closes_bracket() const { return is_sign(')') || is_sign(']') || is_sign('}'); }
    [[nodiscard]] bool is_name(std::string_view name) const {
        // With a length that the compiler knows this is no call; it is asked of every token.
        return kind == TokenKind::name && text.size() == name.size() &&
               std::memcmp(text.data(), name.data(), name.size()) == 0;
    }
};

using Tokens = std::span<const Token>;

struct SourceLine {
    std::size_t indent = 0;
    bool is_continued = false;  // follows a semicolon
    Tokens tokens = {};         // never empty; into those of SourceLines
};

struct SourceLines {
    std::vector<Token> tokens;
    std::vector<SourceLine> lines;
};
[[nodiscard]] SourceLines read_source_lines(std::string_view source);

}  // namespace wheelyard::inspect
