// HTML that cannot contain unescaped text: literals of the source code are copied, every other value is
// escaped.
//
//     Html html;
//     html.add("<a href=\"").url(link).add("\">").text(project).add("</a>");
//
// add() takes only constants of the program, checked by the compiler, so project text cannot reach the page
// in another way than text() and url().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wheelyard::page {

// A string literal. The constructor is evaluated by the compiler, so a run-time string is a compile error.
class Literal {
  public:
    // NOLINTNEXTLINE(google-explicit-constructor)
    consteval Literal(const char* text) : text_(text) {}
    [[nodiscard]] constexpr std::string_view text() const { return text_; }

  private:
    std::string_view text_;
};

class Html {
  public:
    Html() = default;
    // NOLINTNEXTLINE(google-explicit-constructor)
    Html(Literal literal) : bytes_(literal.text()) {}

    Html& add(Literal literal);
    Html& add(const Html& part);
    // Escapes & < > " ', and replaces control characters and those that change the direction of text by "?".
    // Valid in an element and in a quoted attribute. Invalid UTF-8 becomes "?".
    Html& text(std::string_view value);
    Html& number(std::uint64_t value);
    // The value of a quoted href: a relative link, http, https or mailto. Any other scheme becomes "#".
    // A sentence: escaped, and what lies between two backticks as code.
    Html& prose(std::string_view sentence);
    Html& url(std::string_view value);

    [[nodiscard]] bool is_empty() const { return bytes_.empty(); }
    [[nodiscard]] const std::string& bytes() const& { return bytes_; }
    [[nodiscard]] std::string bytes() && { return std::move(bytes_); }

  private:
    friend class SafeMarkup;
    std::string bytes_;
};

// For the one renderer that escapes by itself (Markdown): `bytes` must come from it.
class SafeMarkup {
  public:
    [[nodiscard]] static Html adopt(std::string bytes);
};

// Says whether a link with this target may be shown: it has no scheme, or http, https or mailto.
[[nodiscard]] bool is_safe_url(std::string_view url);

}  // namespace wheelyard::page
