// Prints text from outside (a log of a build, a reason in an audit log) so that it cannot control a terminal.
#pragma once

#include <cstdio>
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

// The whole text at once.
void print_untrusted(std::FILE* out, std::string_view text, bool raw = false);
// What a program says to a person: printable, and on a terminal broken between words at its width (wrap_lines).
void print_message(std::FILE* out, std::string_view text);

}  // namespace wheelyard::base
