// Each format is one row of a table: how lines begin, join and end. csv has its own function; json is in
// document.cpp.
#include "indexer/avail_wheels/table/table.hpp"

#include <algorithm>

#include "indexer/avail_wheels/table/display_width.hpp"
#include "lib/base/check.hpp"

namespace wheelyard::avail_wheels {

namespace {

// A horizontal line: begin, one run of `fill` per column, `joint` between them, end. Without `fill`, the line
// is just `begin`, or absent if that is empty.
struct Line {
    std::string_view begin;
    std::string_view fill;
    std::string_view joint;
    std::string_view end;
};
struct Cells {
    std::string_view begin;
    std::string_view joint;
    std::string_view end;
};
enum class Escape { none, html, latex };
struct Format {
    std::string_view name;
    std::size_t padding;  // spaces on either side of a cell
    Line top;
    Cells header;
    Line under_header;
    Cells row;
    Line between_rows;
    Line bottom;
    std::string_view before = {};  // text above the table
    Escape escape = Escape::none;
    std::string_view environment = {};  // LaTeX environment around the table: "tabular"
    bool centered = false;
    std::size_t min_beyond_header = 2;   // tabulate's MIN_PADDING
    std::string_view before_cells = {};  // in each row but the header
};

constexpr Line none{"", "", "", ""};
constexpr Line ascii_line{"+", "-", "+", "+"};
constexpr Line pipe_line{"|", "-", "|", "|"};
constexpr Line plus_line{"|", "-", "+", "|"};
constexpr Cells pipes{"|", "|", "|"};
constexpr Cells spaces{"", "  ", ""};
constexpr Cells bare_pipes{"", "|", ""};
constexpr Cells bars{"│", "│", "│"};
constexpr Cells heavy_bars{"┃", "┃", "┃"};
constexpr Cells double_bars{"║", "║", "║"};
constexpr Line thin_middle{"├", "─", "┼", "┤"};
constexpr Line fancy_top{"╒", "═", "╤", "╕"};
constexpr Line fancy_header{"╞", "═", "╪", "╡"};
constexpr Line fancy_bottom{"╘", "═", "╧", "╛"};
constexpr Line simple_top{"┌", "─", "┬", "┐"};
constexpr Line simple_bottom{"└", "─", "┴", "┘"};
constexpr Line rounded_top{"╭", "─", "┬", "╮"};
constexpr Line rounded_bottom{"╰", "─", "┴", "╯"};
constexpr Line heavy_top{"┏", "━", "┳", "┓"};
constexpr Line heavy_middle{"┣", "━", "╋", "┫"};
constexpr Line heavy_bottom{"┗", "━", "┻", "┛"};
constexpr Line mixed_top{"┍", "━", "┯", "┑"};
constexpr Line mixed_header{"┝", "━", "┿", "┥"};
constexpr Line mixed_bottom{"┕", "━", "┷", "┙"};
constexpr Line double_top{"╔", "═", "╦", "╗"};
constexpr Line double_middle{"╠", "═", "╬", "╣"};
constexpr Line double_bottom{"╚", "═", "╩", "╝"};
constexpr Line hline{R"(\hline)", "", "", ""};
constexpr Cells latex_cells{"", "&", R"(\\)"};
constexpr Cells html_header{"<tr><th>", "</th><th>", "</th></tr>"};
constexpr Cells html_row{"<tr><td>", "</td><td>", "</td></tr>"};
constexpr Line html_body{"</thead>\n<tbody>", "", "", ""};
constexpr Line html_end{"</tbody>\n</table>", "", "", ""};
constexpr std::string_view html_start = "<table>\n<thead>\n";

constexpr Format formats[] = {
    {"simple", 0, none, spaces, {"", "-", "  ", ""}, spaces, none, none},
    {"plain", 0, none, spaces, none, spaces, none, none},
    {"github", 1, none, pipes, pipe_line, pipes, none, none},
    {"pipe", 1, none, pipes, pipe_line, pipes, none, none},
    {"grid", 1, ascii_line, pipes, {"+", "=", "+", "+"}, pipes, ascii_line, ascii_line},
    {"outline", 1, ascii_line, pipes, {"+", "=", "+", "+"}, pipes, none, ascii_line},
    {"simple_grid", 1, simple_top, bars, thin_middle, bars, thin_middle, simple_bottom},
    {"rounded_grid", 1, rounded_top, bars, thin_middle, bars, thin_middle, rounded_bottom},
    {"heavy_grid", 1, heavy_top, heavy_bars, heavy_middle, heavy_bars, heavy_middle, heavy_bottom},
    {"mixed_grid", 1, mixed_top, bars, mixed_header, bars, thin_middle, mixed_bottom},
    {"double_grid", 1, double_top, double_bars, double_middle, double_bars, double_middle, double_bottom},
    {"fancy_grid", 1, fancy_top, bars, fancy_header, bars, thin_middle, fancy_bottom},
    {"simple_outline", 1, simple_top, bars, thin_middle, bars, none, simple_bottom},
    {"rounded_outline", 1, rounded_top, bars, thin_middle, bars, none, rounded_bottom},
    {"heavy_outline", 1, heavy_top, heavy_bars, heavy_middle, heavy_bars, none, heavy_bottom},
    {"mixed_outline", 1, mixed_top, bars, mixed_header, bars, none, mixed_bottom},
    {"double_outline", 1, double_top, double_bars, double_middle, double_bars, none, double_bottom},
    {"fancy_outline", 1, fancy_top, bars, fancy_header, bars, none, fancy_bottom},
    {"orgtbl", 1, none, pipes, plus_line, pipes, none, none},
    {"presto", 1, none, bare_pipes, {"", "-", "+", ""}, bare_pipes, none, none},
    {"psql", 1, ascii_line, pipes, plus_line, pipes, none, ascii_line},
    {"rst", 0, {"", "=", "  ", ""}, spaces, {"", "=", "  ", ""}, spaces, none, {"", "=", "  ", ""}},
    {"mediawiki",
     0,
     none,
     {"! ", " !! ", ""},
     {"|-", "", "", ""},
     {"| ", " || ", ""},
     {"|-", "", "", ""},
     {"|}", "", "", ""},
     "{| class=\"wikitable\" style=\"text-align: left;\"\n|+ <!-- caption -->\n|-\n"},
    {"jira", 1, none, {"||", "||", "||"}, none, pipes, none, none},
    {"youtrack", 1, none, {"|| ", " || ", " ||"}, none, {"| ", " | ", " |"}, none, none},
    {"moinmoin", 1, none, {"|| '''", "''' || '''", "''' ||"}, none, {"|| ", " || ", " ||"}, none, none},
    {"html", 0, none, html_header, html_body, html_row, none, html_end, html_start, Escape::html},
    {"unsafehtml", 0, none, html_header, html_body, html_row, none, html_end, html_start},
    {"latex", 1, hline, latex_cells, hline, latex_cells, none, hline, {}, Escape::latex, "tabular"},
    {"latex_raw", 1, hline, latex_cells, hline, latex_cells, none, hline, {}, Escape::none, "tabular"},
    {"latex_booktabs",
     1,
     {R"(\toprule)", "", "", ""},
     latex_cells,
     {R"(\midrule)", "", "", ""},
     latex_cells,
     none,
     {R"(\bottomrule)", "", "", ""},
     {},
     Escape::latex,
     "tabular"},
    {"latex_longtable",
     1,
     hline,
     latex_cells,
     {"\\hline\n\\endhead", "", "", ""},
     latex_cells,
     none,
     hline,
     {},
     Escape::latex,
     "longtable"},
    {"pretty", 1, ascii_line, pipes, ascii_line, pipes, none, ascii_line, {}, Escape::none, {}, true, 0},
    {"textile", 1, none, {"|_. ", "|_.", "|"}, none, pipes, none, none, {}, Escape::none, {}, false, 2, "<."},
    {"tsv", 0, none, {"", "\t", ""}, none, {"", "\t", ""}, none, none},
};

struct Escaped {
    char character;
    std::string_view text;
};
// Python's html.escape, and tabulate's rules for LaTeX.
constexpr Escaped html_escapes[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#x27;"}};
constexpr Escaped latex_escapes[] = {{'&', R"(\&)"},
                                     {'%', R"(\%)"},
                                     {'$', R"(\$)"},
                                     {'#', R"(\#)"},
                                     {'_', R"(\_)"},
                                     {'^', R"(\^{})"},
                                     {'{', R"(\{)"},
                                     {'}', R"(\})"},
                                     {'~', R"(\textasciitilde{})"},
                                     {'\\', R"(\textbackslash{})"},
                                     {'<', R"(\ensuremath{<})"},
                                     {'>', R"(\ensuremath{>})"}};

void add_escaped(std::string& out, std::string_view text, Escape escape) {
    if (escape == Escape::none) {
        out += text;
        return;
    }
    const auto* first = escape == Escape::html ? std::begin(html_escapes) : std::begin(latex_escapes);
    const auto* last = escape == Escape::html ? std::end(html_escapes) : std::end(latex_escapes);
    for (const char c : text) {
        const auto* found = std::find_if(first, last, [&](const Escaped& one) { return one.character == c; });
        if (found == last) {
            out += c;
        } else {
            out += found->text;
        }
    }
}

class TableWriter {
  public:
    TableWriter(const Format& format, const std::vector<std::string>& headers, const std::vector<Row>& rows)
        : format_(format), headers_(headers), rows_(rows) {
        for (const auto& header : headers)
            widths_.push_back(display_width(header) + format.min_beyond_header);
        for (const auto& row : rows) {
            WHEELYARD_CHECK(row.size() == headers.size());
            for (std::size_t i = 0; i < row.size(); ++i)
                widths_[i] = std::max(widths_[i], display_width(row[i]));
        }
        std::size_t line = 0;
        for (const std::size_t width : widths_)
            line += width + 2 * format.padding + format.row.joint.size();
        out_.reserve((rows.size() + 2) * line + format.before.size());
    }

    std::string text() {
        out_ += format_.before;
        // Without rows, tabulate writes no column specification.
        if (!format_.environment.empty())
            add_environment("begin", "{" + std::string(rows_.empty() ? 0 : widths_.size(), 'l') + "}");
        add_line(format_.top);
        add_cells(format_.header, headers_);
        // Markdown's alignment marks; like tabulate, only if there are rows.
        if (format_.name == "pipe" && !rows_.empty()) {
            add_aligned_line();
        } else {
            add_line(format_.under_header);
        }
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (i > 0) add_line(format_.between_rows);
            add_cells(format_.row, rows_[i], format_.before_cells);
        }
        add_line(format_.bottom);
        if (!format_.environment.empty()) add_environment("end", {});
        return std::move(out_);
    }

  private:
    void add_environment(std::string_view what, const std::string& columns) {
        out_.append("\\").append(what).append("{").append(format_.environment).append("}").append(columns) +=
            '\n';
    }

    void add_line(const Line& line) {
        if (line.fill.empty() && line.begin.empty()) return;
        out_ += line.begin;
        for (std::size_t i = 0; i < widths_.size() && !line.fill.empty(); ++i) {
            if (i > 0) out_ += line.joint;
            for (std::size_t n = widths_[i] + 2 * format_.padding; n > 0; --n)
                out_ += line.fill;
        }
        out_ += line.end;
        out_ += '\n';
    }

    void add_aligned_line() {
        out_ += '|';
        for (const std::size_t width : widths_)
            out_ += ":" + std::string(width + 2 * format_.padding - 1, '-') + "|";
        out_ += '\n';
    }

    void add_cells(const Cells& cells, const Row& row, std::string_view before_cell = {}) {
        out_ += cells.begin;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0) out_ += cells.joint;
            const std::size_t spaces_left = widths_[i] - display_width(row[i]);
            const std::size_t left = format_.centered ? spaces_left / 2 : 0;
            out_ += before_cell;
            out_.append(format_.padding + left, ' ');
            add_escaped(out_, row[i], format_.escape);
            // tabulate adds a space to textile's first cell.
            out_.append(spaces_left - left + format_.padding + (!before_cell.empty() && i == 0 ? 1 : 0), ' ');
        }
        out_ += cells.end;
        while (out_.back() == ' ' || out_.back() == '\t')
            out_.pop_back();
        out_ += '\n';
    }

    const Format& format_;
    const std::vector<std::string>& headers_;
    const std::vector<Row>& rows_;
    std::vector<std::size_t> widths_;
    std::string out_;
};

// RFC 4180, but with Unix line ends.
void add_csv_row(std::string& out, const Row& row) {
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (i > 0) out += ',';
        if (row[i].find_first_of(",\"\r\n") == std::string::npos) {
            out += row[i];
            continue;
        }
        out += '"';
        for (const char c : row[i])
            out += c == '"' ? std::string("\"\"") : std::string(1, c);
        out += '"';
    }
    out += '\n';
}

std::string render_csv(const std::vector<std::string>& headers, const std::vector<Row>& rows) {
    std::string out;
    add_csv_row(out, headers);
    for (const auto& row : rows)
        add_csv_row(out, row);
    return out;
}

}  // namespace

const std::vector<std::string>& table_formats() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& format : formats)
            all.emplace_back(format.name);
        all.insert(all.end(), {"csv", "json"});
        return all;
    }();
    return names;
}

std::string render_table(std::string_view format, const std::vector<std::string>& headers,
                         const std::vector<Row>& rows) {
    if (format == "csv") return render_csv(headers, rows);
    const auto* found = std::find_if(std::begin(formats), std::end(formats),
                                     [&](const Format& one) { return one.name == format; });
    WHEELYARD_CHECK(found != std::end(formats));
    return TableWriter(*found, headers, rows).text();
}

}  // namespace wheelyard::avail_wheels
