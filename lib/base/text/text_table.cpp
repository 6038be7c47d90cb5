#include "lib/base/text/text_table.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"

namespace wheelyard::base {

std::string render_table(const std::vector<TableRow>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i)
            line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
        line.erase(line.find_last_not_of(' ') + 1);
        text += replace_all(line, "\n", " ") + "\n";
    }
    return text;
}

namespace {

// How a command without backquotes begins; it goes on to the end of its clause.
constexpr std::string_view commands[] = {"avail_wheels ", "module load ", "wheelyard-builder ",
                                         "wheelyard-registry "};

// The end of a command that begins `text` and is to be pasted as one line; 0: none does.
std::size_t end_of_command(std::string_view text) {
    if (text.empty() || text.front() == ' ') return 0;
    // Backquotes may follow a bracket: "(`status` lists them)".
    const auto opened = text.substr(0, text.find(' ')).find('`');
    const auto closed = opened == std::string_view::npos ? opened : text.find('`', opened + 1);
    if (closed != std::string_view::npos) return std::min(text.find(' ', closed), text.size());
    const bool is_command = std::any_of(std::begin(commands), std::end(commands),
                                        [text](std::string_view one) { return text.starts_with(one); });
    if (!is_command) return 0;
    for (std::size_t end = text.find(' '); end != std::string_view::npos; end = text.find(' ', end + 1)) {
        if (std::string_view(";,.:)").find(text[end - 1]) != std::string_view::npos) return end;
    }
    return text.size();
}

// The words of a text; a command is one.
std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (true) {
        const std::size_t command = end_of_command(text);
        const std::size_t end = command > 0 ? command : std::min(text.find(' '), text.size());
        words.push_back(text.substr(0, end));
        if (end == text.size()) return words;
        text.remove_prefix(end + 1);
    }
}

// Words joined into lines of at most `width`, or of one longer word.
std::vector<std::string> lines_of(std::string_view text, std::size_t width, const TextWidth& width_of) {
    std::vector<std::string> lines(1);
    for (const std::string_view word : words_of(text)) {
        std::string& line = lines.back();
        if (line.empty())
            line = word;
        else if (width_of(line) + 1 + width_of(word) <= width)
            line.append(" ").append(word);
        else {
            line.erase(line.find_last_not_of(' ') + 1);
            lines.emplace_back(word);
        }
    }
    return lines;
}

std::size_t longest_word(std::string_view text, const TextWidth& width_of) {
    std::size_t longest = 0;
    for (const std::string_view word : words_of(text))
        longest = std::max(longest, width_of(word));
    return longest;
}

std::size_t bytes_of(std::string_view text) {
    return text.size();
}

}  // namespace

std::vector<TableRow> wrap_cells(const std::vector<TableRow>& rows, std::size_t columns, std::size_t gap,
                                 const TextWidth& width) {
    std::vector<std::size_t> widths;
    std::vector<std::size_t> narrowest;
    for (const TableRow& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        narrowest.resize(widths.size());
        for (std::size_t at = 0; at < row.size(); ++at) {
            widths[at] = std::max(widths[at], width(row[at]));
            narrowest[at] = std::max(narrowest[at], longest_word(row[at], width));
        }
    }
    std::size_t total = widths.empty() ? 0 : gap * (widths.size() - 1);
    for (const std::size_t one : widths)
        total += one;
    if (columns == 0 || total <= columns) return rows;
    // The widest column gives way first.
    while (total > columns) {
        std::size_t widest = widths.size();
        for (std::size_t at = 0; at < widths.size(); ++at) {
            if (widths[at] > narrowest[at] && (widest == widths.size() || widths[at] > widths[widest]))
                widest = at;
        }
        if (widest == widths.size()) break;
        --widths[widest];
        --total;
    }
    std::vector<TableRow> wrapped;
    for (const TableRow& row : rows) {
        std::vector<std::vector<std::string>> cells;
        std::size_t height = 1;
        for (std::size_t at = 0; at < row.size(); ++at) {
            cells.push_back(lines_of(row[at], widths[at], width));
            height = std::max(height, cells.back().size());
        }
        for (std::size_t line = 0; line < height; ++line) {
            TableRow& one = wrapped.emplace_back(row.size());
            for (std::size_t at = 0; at < row.size(); ++at) {
                if (line < cells[at].size()) one[at] = std::move(cells[at][line]);
            }
        }
    }
    return wrapped;
}

std::string stack_rows(const std::vector<TableRow>& rows, std::size_t columns, const TextWidth& width) {
    if (rows.empty()) return {};
    constexpr std::size_t gap = 2;
    const TableRow& heads = rows.front();
    std::size_t indent = 0;
    for (const std::string& head : heads)
        indent = std::max(indent, width(head) + gap);
    std::string text;
    for (std::size_t at = 1; at < rows.size(); ++at) {
        for (std::size_t i = 0; i < std::min(rows[at].size(), heads.size()); ++i) {
            const std::string cell = replace_all(rows[at][i], "\n", " ");
            if (cell.empty()) continue;
            std::string before = heads[i] + std::string(indent - width(heads[i]), ' ');
            for (const std::string& line : lines_of(cell, columns - std::min(columns, indent), width)) {
                text.append(before).append(line).append("\n");
                before.assign(indent, ' ');
            }
        }
        text += "\n";
    }
    return text;
}

std::string wrap_lines(std::string_view text, std::size_t columns) {
    constexpr std::size_t indent = 2;
    std::string wrapped;
    for (const std::string_view line : split_lines(text)) {
        if (columns == 0 || line.size() <= columns) {
            wrapped.append(line).append("\n");
            continue;
        }
        const auto begin = std::min(line.find_first_not_of(' '), line.size());
        const auto gap = line.find("  ", begin);
        const auto value = std::min(line.find_first_not_of(' ', gap), line.size());
        const bool has_name = gap != std::string_view::npos && value <= columns / 2;
        const std::size_t from = has_name ? value : begin;
        const std::size_t next = has_name ? value : begin + indent;
        std::string before(line.substr(0, from));
        for (const std::string& part :
             lines_of(line.substr(from), columns - std::min(columns, next), bytes_of)) {
            wrapped.append(before).append(part).append("\n");
            before.assign(next, ' ');
        }
    }
    return wrapped;
}

std::string render_table(const std::vector<TableRow>& rows, std::size_t columns) {
    constexpr std::size_t gap = 2;
    constexpr std::size_t indent = 4;
    const auto fits = [columns](const std::string& text) {
        const auto lines = split_lines(text);
        return std::all_of(lines.begin(), lines.end(),
                           [columns](std::string_view line) { return line.size() <= columns; });
    };
    std::string whole = render_table(rows);
    if (columns == 0 || fits(whole)) return whole;
    std::vector<std::size_t> widths;
    for (const TableRow& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t at = 0; at < row.size(); ++at)
            widths[at] = std::max(widths[at], row[at].size());
    }
    std::size_t before_last = 0;
    for (std::size_t at = 0; at + 1 < widths.size(); ++at)
        before_last += widths[at] + gap;
    std::size_t longest = columns / 3;  // what the last column needs at least
    for (const TableRow& row : rows) {
        if (row.size() == widths.size()) longest = std::max(longest, longest_word(row.back(), bytes_of));
    }
    std::string wrapped = render_table(wrap_cells(rows, columns, gap, bytes_of));
    if (before_last + longest <= columns) return wrapped;
    std::vector<TableRow> first_columns = rows;
    for (TableRow& row : first_columns) {
        if (row.size() == widths.size()) row.pop_back();
    }
    // Heads and cells that need no second line stay as they are.
    const std::string table = render_table(wrap_cells(first_columns, columns, gap, bytes_of));
    const auto lines = split_lines(table);
    if (lines.size() != rows.size() || !fits(table))
        return fits(wrapped) ? std::move(wrapped) : stack_rows(rows, columns, bytes_of);
    std::string text;
    for (std::size_t at = 0; at < rows.size(); ++at) {
        text.append(lines[at]).append("\n");
        if (rows[at].size() != widths.size() || rows[at].back().empty()) continue;
        const std::string last = replace_all(rows[at].back(), "\n", " ");
        for (const std::string& line : lines_of(last, columns - std::min(columns, indent), bytes_of))
            text.append(indent, ' ').append(line).append("\n");
    }
    return text;
}

}  // namespace wheelyard::base
