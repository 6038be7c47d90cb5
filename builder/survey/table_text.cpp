#include "builder/survey/table_text.hpp"

#include <algorithm>
#include <iterator>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

void drop_empty_end(std::vector<std::string>& lines) {
    while (!lines.empty() && lines.back().empty())
        lines.pop_back();
}

// The comment after an empty line at the end: it is about the next table.
std::vector<std::string> take_last_comment(std::vector<std::string>& lines) {
    drop_empty_end(lines);
    const auto begin = std::find_if_not(lines.rbegin(), lines.rend(), [](const std::string& line) {
                           return line.starts_with('#');
                       }).base();
    if (begin == lines.begin() || !std::prev(begin)->empty()) return {};
    std::vector<std::string> comment(begin, lines.end());
    lines.erase(begin, lines.end());
    drop_empty_end(lines);
    return comment;
}

}  // namespace

std::string_view key_of(std::string_view line) {
    const auto end = line.find(" = ");
    return end == std::string_view::npos || line.starts_with('#') ? "" : line.substr(0, end);
}

std::vector<std::string> texts_of(std::string_view line) {
    std::vector<std::string> texts;
    for (std::size_t begin = line.find('"'); begin != std::string_view::npos;) {
        const auto end = line.find('"', begin + 1);
        if (end == std::string_view::npos) break;
        texts.emplace_back(line.substr(begin + 1, end - begin - 1));
        begin = line.find('"', end + 1);
    }
    return texts;
}

std::vector<TableText> tables_of(std::string_view text) {
    std::vector<TableText> tables(1);
    for (const auto line : base::split_lines(text)) {
        const auto words = base::trim(line.substr(0, line.find('#')));
        const bool is_header = line.starts_with('[') && words.ends_with(']') &&
                               words.find_first_of("\"=, ") == std::string_view::npos;
        if (!is_header) {
            tables.back().lines.emplace_back(line);
            continue;
        }
        TableText next{std::string(words), {}, {}};
        next.above = take_last_comment(tables.back().lines);
        tables.push_back(std::move(next));
    }
    drop_empty_end(tables.back().lines);
    return tables;
}

}  // namespace wheelyard::builder
