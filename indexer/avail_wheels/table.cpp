// A format is a row of a table of ours: how lines begin, join and end. Only csv is drawn otherwise; json is
// document.cpp.
#include "indexer/avail_wheels/table.hpp"

#include <algorithm>

#include "lib/base/check.hpp"

namespace wheelyard::avail_wheels {

namespace {

// A horizontal line: begin, one run of `fill` a column, `joint` between them, end. Without fill it is `begin`
// alone, or no line.
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
};

constexpr Line none{"", "", "", ""};
constexpr Line ascii_line{"+", "-", "+", "+"};
constexpr Line pipe_line{"|", "-", "|", "|"};
constexpr Line plus_line{"|", "-", "+", "|"};
constexpr Cells pipes{"|", "|", "|"};
constexpr Cells spaces{"", "  ", ""};
constexpr Cells bare_pipes{"", "|", ""};
constexpr Cells bars{"│", "│", "│"};

constexpr Format formats[] = {
    {"simple", 0, none, spaces, {"", "-", "  ", ""}, spaces, none, none},
    {"plain", 0, none, spaces, none, spaces, none, none},
    {"github", 1, none, pipes, pipe_line, pipes, none, none},
    {"pipe", 1, none, pipes, pipe_line, pipes, none, none},
    {"grid", 1, ascii_line, pipes, {"+", "=", "+", "+"}, pipes, ascii_line, ascii_line},
    {"outline", 1, ascii_line, pipes, {"+", "=", "+", "+"}, pipes, none, ascii_line},
    {"fancy_grid",
     1,
     {"╒", "═", "╤", "╕"},
     bars,
     {"╞", "═", "╪", "╡"},
     bars,
     {"├", "─", "┼", "┤"},
     {"╘", "═", "╧", "╛"}},
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
    {"tsv", 0, none, {"", "\t", ""}, none, {"", "\t", ""}, none, none},
};

// Code points: names are ASCII, but a tag or a path may not be.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

class TableWriter {
  public:
    TableWriter(const Format& format, const std::vector<std::string>& headers, const std::vector<Row>& rows)
        : format_(format), headers_(headers), rows_(rows) {
        constexpr std::size_t least_beyond_header = 2;  // tabulate's MIN_PADDING
        for (const auto& header : headers)
            widths_.push_back(width_of(header) + least_beyond_header);
        for (const auto& row : rows) {
            WHEELYARD_CHECK(row.size() == headers.size());
            for (std::size_t i = 0; i < row.size(); ++i)
                widths_[i] = std::max(widths_[i], width_of(row[i]));
        }
    }

    std::string text() {
        out_ += format_.before;
        add_line(format_.top);
        add_cells(format_.header, headers_);
        // Markdown's alignment marks: tabulate draws them only over columns that have cells.
        if (format_.name == "pipe" && !rows_.empty()) {
            add_aligned_line();
        } else {
            add_line(format_.under_header);
        }
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            if (i > 0) add_line(format_.between_rows);
            add_cells(format_.row, rows_[i]);
        }
        add_line(format_.bottom);
        return std::move(out_);
    }

  private:
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

    void add_cells(const Cells& cells, const Row& row) {
        const std::string padding(format_.padding, ' ');
        out_ += cells.begin;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0) out_ += cells.joint;
            out_ += padding + row[i] + std::string(widths_[i] - width_of(row[i]), ' ') + padding;
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

// RFC 4180, with the line ends of the rest of the system.
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
