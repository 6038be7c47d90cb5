// All that programs print: text from outside (a log of a build, a reason in an audit log) cannot control a
// terminal.
#pragma once

#include <cstddef>
#include <cstdio>
#include <map>
#include <streambuf>
#include <string>
#include <string_view>

namespace wheelyard::base {

// `raw` prints the bytes as they are; so does a file or a pipe, for other programs. On a terminal each
// character that utf8.hpp names becomes "?".
class TerminalWriter {
  public:
    TerminalWriter(std::FILE* out, bool raw);
    // A character may be divided between two pieces.
    void write(std::string_view piece);
    // Prints an incomplete character at the end of the text.
    void finish();

  private:
    std::FILE* out_;
    bool is_filtered_;
    std::string rest_;  // the beginning of a character
};

// The whole text at once: a document whose bytes count.
void print_untrusted(std::FILE* out, std::string_view text);
// What a program says to a person: printable, and on a terminal broken between words at its width
// (wrap_lines).
void print_message(std::FILE* out, std::string_view text);
// The text, or what printf(3) makes, printable. What io::Json renders is so already, and stays as it is.
void print(std::FILE* out, const std::string& text);
[[gnu::format(printf, 2, 3)]] void print(std::FILE* out, const char* format, ...);

// A std::ostream on it prints its lines by print_message(), or by print().
class PrintedLines : public std::streambuf {
  public:
    PrintedLines(std::FILE* out, bool wraps) : out_(out), wraps_(wraps) {}
    ~PrintedLines() override { PrintedLines::sync(); }

  protected:
    int_type overflow(int_type c) override;
    int sync() override;

  private:
    std::FILE* out_;
    bool wraps_;
    std::string line_;
};

// What a terminal can show: its width, and whether it wants colours.

// The width of a terminal that does not report its own.
inline constexpr std::size_t default_columns = 80;

// The width of the terminal behind the descriptor; 0: it is none, so lines have no limit.
[[nodiscard]] std::size_t terminal_columns(int descriptor);
// At which a help text that goes to the descriptor is broken: the terminal's width, up to `most`; `most`
// where it is none.
[[nodiscard]] std::size_t help_columns_of(int descriptor, std::size_t most);
// https://no-color.org: not where NO_COLOR is set and not empty, nor on a terminal without colours
// (TERM=dumb).
[[nodiscard]] bool allows_colour(const std::map<std::string, std::string>& environment);

}  // namespace wheelyard::base
