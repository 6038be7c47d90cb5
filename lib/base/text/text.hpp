// Operations on ASCII text, independent of the locale.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::base {

[[nodiscard]] bool is_ascii_alpha(char c);
[[nodiscard]] bool is_ascii_digit(char c);
[[nodiscard]] bool is_ascii_alnum(char c);
[[nodiscard]] std::string ascii_lower(std::string_view text);
[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b);
[[nodiscard]] std::string_view trim(std::string_view text);  // spaces, tabs, CR, LF
// The parts are views into `text`, so a temporary string is refused where the call is compiled. Keeps empty
// parts.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
// Splits at LF or CRLF; no empty last line.
[[nodiscard]] std::vector<std::string_view> split_lines(std::string_view text);
template <std::same_as<std::string> T>
std::vector<std::string_view> split(T&& temporary, char separator) = delete;
template <std::same_as<std::string> T>
std::vector<std::string_view> split_lines(T&& temporary) = delete;
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);
[[nodiscard]] std::string replace_all(std::string_view text, std::string_view from, std::string_view to);
// An unsigned decimal number; nullopt if empty, on any other character, and on overflow.
[[nodiscard]] std::optional<std::uint64_t> parse_decimal(std::string_view text);
// True if `text` is well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms).
[[nodiscard]] bool is_utf8(std::string_view text);
// fnmatch(3) of the whole text: `*` any run, `?` any one byte, `[…]` one of a set; `/`, a leading dot and a
// backslash are ordinary.
[[nodiscard]] bool matches_glob(std::string_view pattern, std::string_view text);
// The candidate with the smallest edit distance to `word`, if close enough to be a likely misspelling.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 const std::vector<std::string>& candidates);
// "1.5 GiB", "12 KiB", "87 B".
[[nodiscard]] std::string render_bytes(std::uint64_t bytes);
// "1 h 02 min", "3 min 20 s", "4.2 s".
[[nodiscard]] std::string render_duration_ms(std::int64_t duration_ms);

// What follows the last slash, or the whole text. A view into `path`, so a temporary string is refused where
// the call is compiled.
[[nodiscard]] constexpr std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}
template <std::same_as<std::string> T>
std::string_view base_name(T&& temporary) = delete;

// A set of bytes with constant-time membership, for checks that run on every byte of every page.
class ByteSet {
  public:
    constexpr explicit ByteSet(std::string_view members) {
        for (const char c : members)
            has_[static_cast<unsigned char>(c)] = true;
    }
    // The bytes from `first` to `last` inclusive, except those in `without`.
    constexpr ByteSet(char first, char last, std::string_view without) {
        for (char c = first; c <= last; ++c)
            has_[static_cast<unsigned char>(c)] = without.find(c) == std::string_view::npos;
    }
    [[nodiscard]] constexpr bool has(char c) const { return has_[static_cast<unsigned char>(c)]; }

  private:
    std::array<bool, 256> has_{};
};

}  // namespace wheelyard::base
