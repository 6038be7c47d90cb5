#include "lib/base/text/usage.hpp"

#include <algorithm>
#include <vector>

#include "lib/base/text/text.hpp"

namespace wheelyard::base {
namespace {

constexpr std::size_t max_name_columns = 34;  // before a description on the same line
constexpr std::size_t example_indent = 4;     // of what continues an example, beside its own
constexpr std::size_t text_indent = 20;       // from here on a line is a description alone

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// Where the next lines of a line begin: in its description's column, below an item's text, deeper than a
// command, for which `is_example` is set; 0: it is a paragraph.
std::size_t text_column(std::string_view line, bool& is_example) {
    const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
    if (first == 0 || first >= text_indent) return first;  // a paragraph; the description below a long name
    if (line.substr(first).starts_with("- ")) return first + 2;
    const std::size_t gap = line.find("  ", first);
    const bool has_description = gap != std::string_view::npos && gap < max_name_columns;
    is_example = !has_description;
    return has_description ? std::min(line.find_first_not_of(' ', gap), line.size()) : first + example_indent;
}

// An example and what it shows, "avail_wheels torch --here    what runs here", as two lines.
std::string on_two_lines(std::string_view line) {
    const std::size_t gap = line.find("  ", std::min(line.find_first_not_of(' '), line.size()));
    if (gap == std::string_view::npos) return std::string(line);
    const std::size_t shows = std::min(line.find_first_not_of(' ', gap), line.size());
    return std::string(line.substr(0, gap)) + "\n" + std::string(text_indent, ' ').append(line.substr(shows));
}

// The last space at which `line` may break within its first `columns`; npos: none. A quoted word is never
// broken.
std::size_t break_before(std::string_view line, std::size_t from, std::size_t columns, bool is_example) {
    std::size_t best = std::string_view::npos;
    char quote = 0;
    for (std::size_t i = 0; i < line.size() && columns_of(line.substr(0, i)) <= columns; ++i) {
        if (is_example && quote != 0 && line[i] == quote) {
            quote = 0;
        } else if (is_example && quote == 0 && (line[i] == '\'' || line[i] == '"')) {
            quote = line[i];
        } else if (quote == 0 && i > from && line[i] == ' ') {
            best = i;
        }
    }
    return best;
}

}  // namespace

std::string wrap_help(std::string_view help, std::size_t columns) {
    std::string text;
    for (const auto whole : split(help, '\n')) {
        std::string line(whole);
        bool is_example = false;
        const std::size_t indent = text_column(line, is_example);
        if (columns_of(line) > columns && (is_example || indent > columns * 2 / 3)) {
            if (const std::string lines = on_two_lines(line); lines != line) {
                text += wrap_help(lines, columns) + "\n";
                continue;
            }
        }
        const std::size_t room = columns - (is_example ? 2 : 0);
        std::size_t from = is_example ? line.find_first_not_of(' ') : indent;
        while (columns_of(line) > columns) {
            const std::size_t at = break_before(line, from, room, is_example);
            if (at == std::string::npos) break;
            text += line.substr(0, at) + (is_example ? " \\\n" : "\n");
            line = std::string(indent, ' ') + line.substr(at + 1);
            from = indent;
        }
        text += line + "\n";
    }
    if (!text.empty()) text.pop_back();  // behind the last piece there was none
    return text;
}

}  // namespace wheelyard::base
