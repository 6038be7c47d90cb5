// Python source as logical lines of tokens (Python's reference, chapter 2), enough to find imports and calls:
// names, plain strings, and everything else as single characters. Never fails: what is no Python gives tokens
// without meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
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

    [[nodiscard]] bool is_sign(std::string_view sign) const {
        return kind == TokenKind::sign && text == sign;
    }
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

// What an `if` or an `except` says without running it.

// Says whether the condition holds when CPython or PyPy 3 imports the module on Linux; nullopt: that depends
// on more. TYPE_CHECKING and `__name__ == "__main__"` do not hold; names of systems are compared with Linux;
// `not X` and `X is None` hold, as of a library that is opened once.
[[nodiscard]] std::optional<bool> condition_holds(Tokens condition, unsigned depth = 0);

// Exceptions that a handler may take.
enum Caught : std::uint8_t {
    caught_import = 1,     // ImportError: of an extension module that cannot be loaded
    caught_missing = 2,    // ModuleNotFoundError
    caught_os = 4,         // OSError: of a library that cannot be opened
    caught_attribute = 8,  // AttributeError
};
// Reads the tokens between `except` and the colon, or between the parentheses of contextlib.suppress.
[[nodiscard]] std::uint8_t caught_by(Tokens types);

}  // namespace wheelyard::inspect
