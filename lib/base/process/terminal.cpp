#include "lib/base/process/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdlib>

#include "lib/base/text/text_table.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::base {

namespace {

constexpr std::size_t max_character_bytes = 4;

}  // namespace

TerminalWriter::TerminalWriter(std::FILE* out, bool raw)
    : out_(out), is_filtered_(!raw && ::isatty(::fileno(out)) == 1) {}

void TerminalWriter::write(std::string_view piece) {
    if (!is_filtered_) {
        std::fwrite(piece.data(), 1, piece.size(), out_);
        return;
    }
    const std::string text = rest_.append(piece);
    // Up to the last byte that begins a character; that one may be incomplete.
    std::size_t whole = text.size();
    while (whole > 0 && text.size() - whole < max_character_bytes &&
           (static_cast<unsigned char>(text[whole - 1]) & 0xC0U) == 0x80U)
        --whole;
    if (whole > 0 && static_cast<unsigned char>(text[whole - 1]) >= 0xC0U) --whole;
    rest_ = text.substr(whole);
    std::string_view complete(text);
    if (rest_.size() >= max_character_bytes) {
        rest_.clear();
    } else {
        complete = complete.substr(0, whole);
    }
    const std::string shown = printable(complete);
    std::fwrite(shown.data(), 1, shown.size(), out_);
}

void TerminalWriter::finish() {
    const std::string shown = printable(rest_);
    std::fwrite(shown.data(), 1, shown.size(), out_);
    rest_.clear();
}

void print_untrusted(std::FILE* out, std::string_view text) {
    TerminalWriter writer(out, false);
    writer.write(text);
    writer.finish();
}

void print_message(std::FILE* out, std::string_view text) {
    const std::size_t columns = terminal_columns(::fileno(out));
    const std::string shown = printable(text);
    std::fputs((columns == 0 ? shown : wrap_lines(shown, columns)).c_str(), out);
}

void print(std::FILE* out, const std::string& text) {
    std::fputs(printable(text).c_str(), out);
}

void print(std::FILE* out, const char* format, ...) {
    std::va_list values;
    va_start(values, format);
    char* text = nullptr;
    const int bytes = ::vasprintf(&text, format, values);
    va_end(values);
    if (bytes < 0) return;
    print(out, std::string(text, static_cast<std::size_t>(bytes)));
    std::free(text);
}

PrintedLines::int_type PrintedLines::overflow(int_type c) {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    line_ += traits_type::to_char_type(c);
    if (line_.back() == '\n') sync();
    return c;
}

int PrintedLines::sync() {
    if (wraps_)
        print_message(out_, line_);
    else
        print(out_, line_);
    line_.clear();
    return std::fflush(out_);
}

std::size_t terminal_columns(int descriptor) {
    if (::isatty(descriptor) == 0) return 0;
    winsize size{};
    if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return default_columns;
    return size.ws_col;
}

std::size_t help_columns_of(int descriptor, std::size_t most) {
    const std::size_t known = terminal_columns(descriptor);
    return known == 0 ? most : std::min(known, most);
}

bool allows_colour(const std::map<std::string, std::string>& environment) {
    const auto no_color = environment.find("NO_COLOR");
    if (no_color != environment.end() && !no_color->second.empty()) return false;
    const auto term = environment.find("TERM");
    return term == environment.end() || term->second != "dumb";
}

}  // namespace wheelyard::base
