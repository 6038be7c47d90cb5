// All that programs print: text from outside (a log of a build, a reason in an audit log) cannot control a terminal.
#pragma once

#include <cstdio>
#include <streambuf>
#include <string>
#include <string_view>

namespace wheelyard::base {

// `raw` prints the bytes as they are; so does a file or a pipe, for other programs. On a terminal each character that
// printable.hpp names becomes "?".
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
// What a program says to a person: printable, and on a terminal broken between words at its width (wrap_lines).
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

}  // namespace wheelyard::base
