// Each format is one row of a table: how lines begin, join and end. csv has its own function; json is in
// document.cpp.
#include "indexer/avail_wheels/table/table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "indexer/avail_wheels/query/needs.hpp"
#include "lib/base/check.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

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
struct Format {
    std::string_view name;
    std::size_t padding;  // spaces on either side of a cell
    Cells header;
    Line under_header;
    Cells row;
    std::string_view before = {};  // text above the table
    Line between_rows = {};
    Line bottom = {};
    bool is_html = false;
};

constexpr std::size_t min_beyond_header = 2;  // tabulate's MIN_PADDING
constexpr Cells pipes{"|", "|", "|"};
constexpr Cells spaces{"", "  ", ""};
constexpr Cells tabs{"", "\t", ""};

constexpr Format formats[] = {
    {"simple", 0, spaces, {"", "-", "  ", ""}, spaces},
    {"plain", 0, spaces, {}, spaces},
    {"github", 1, pipes, {"|", "-", "|", "|"}, pipes},
    {"tsv", 0, tabs, {}, tabs},
    {"mediawiki",
     0,
     {"! ", " !! ", ""},
     {"|-", "", "", ""},
     {"| ", " || ", ""},
     "{| class=\"wikitable\" style=\"text-align: left;\"\n|+ <!-- caption -->\n|-\n",
     {"|-", "", "", ""},
     {"|}", "", "", ""}},
    {"html",
     0,
     {"<tr><th>", "</th><th>", "</th></tr>"},
     {"</thead>\n<tbody>", "", "", ""},
     {"<tr><td>", "</td><td>", "</td></tr>"},
     "<table>\n<thead>\n",
     {},
     {"</tbody>\n</table>", "", "", ""},
     true},
};

class TableWriter {
  public:
    TableWriter(const Format& format, const std::vector<std::string>& headers, const std::vector<Row>& rows)
        : format_(format), headers_(headers), rows_(rows) {
        for (const auto& header : headers)
            widths_.push_back(display_width(header) + min_beyond_header);
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
        add_cells(format_.header, headers_);
        add_line(format_.under_header);
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

    void add_cells(const Cells& cells, const Row& row) {
        out_ += cells.begin;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (i > 0) out_ += cells.joint;
            out_.append(format_.padding, ' ');
            // Python's html.escape writes the apostrophe so.
            out_ +=
                format_.is_html ? base::replace_all(base::escape_html(row[i]), "&#39;", "&#x27;") : row[i];
            out_.append(widths_[i] - display_width(row[i]) + format_.padding, ' ');
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

namespace {

using CellFunction = std::string (*)(const Candidate&);

const std::map<std::string_view, CellFunction>& cell_functions() {
    static const std::map<std::string_view, CellFunction> functions{
        {"name", [](const Candidate& c) { return c.release->name; }},
        {"version", [](const Candidate& c) { return c.release->public_version; }},
        {"localversion", [](const Candidate& c) { return c.release->version.local_text(); }},
        {"build", [](const Candidate& c) { return c.release->build; }},
        {"python", [](const Candidate& c) { return c.tags->python; }},
        {"abi", [](const Candidate& c) { return joined_tags(c.tags->abis); }},
        {"platform", [](const Candidate& c) { return joined_tags(c.tags->platforms); }},
        {"arch", [](const Candidate& c) { return c.arch; }},
        {"runs", [](const Candidate& c) { return c.runs; }},
        {"why", [](const Candidate& c) { return c.why; }},
        {"advice", [](const Candidate& c) { return c.advice; }},
        {"modules", [](const Candidate& c) { return base::join(modules_of(c), ","); }},
    };
    return functions;
}

// Compares by PEP 440 if both are versions, otherwise naturally: "1.10" > "1.9", cp310 > cp39.
bool is_greater(const std::string& a, const std::string& b) {
    const auto version_a = wheel::Version::parse(a);
    const auto version_b = wheel::Version::parse(b);
    if (version_a && version_b) return (*version_a <=> *version_b) > 0;
    return compare_naturally(a, b) > 0;
}

CellFunction function_of(std::string_view column) {
    const auto found = cell_functions().find(column);
    WHEELYARD_CHECK(found != cell_functions().end());
    return found->second;
}

std::string condensed_cell(const std::vector<const Candidate*>& candidates, CellFunction column) {
    std::vector<std::string> values;
    for (const auto* candidate : candidates) {
        std::string value = column(*candidate);
        if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end())
            values.push_back(std::move(value));
    }
    std::stable_sort(values.begin(), values.end(), is_greater);
    return base::join(values, ", ");
}

template <typename Value>
Row full_row(const std::vector<CellFunction>& columns, const Value& value) {
    Row row;
    row.reserve(columns.size());
    for (const auto column : columns)
        row.push_back(value(column));
    return row;
}

using Wheels = std::vector<Candidate>;

// Adds the rows of one project. Only rows of the same project can be equal.
void add_project(std::vector<Row>& rows, Wheels::const_iterator first, Wheels::const_iterator last,
                 const std::vector<CellFunction>& columns, bool condense) {
    if (condense) {
        std::vector<const Candidate*> candidates;
        for (auto it = first; it != last; ++it)
            candidates.push_back(&*it);
        rows.push_back(
            full_row(columns, [&](CellFunction column) { return condensed_cell(candidates, column); }));
        return;
    }
    const auto start = static_cast<std::ptrdiff_t>(rows.size());
    for (auto it = first; it != last; ++it) {
        Row row = full_row(columns, [&](CellFunction column) { return column(*it); });
        if (std::find(rows.begin() + start, rows.end(), row) == rows.end()) rows.push_back(std::move(row));
    }
}

}  // namespace

std::string cell(const Candidate& candidate, std::string_view column) {
    return function_of(column)(candidate);
}

std::vector<Row> make_rows(const Answer& answer, const RowOptions& options) {
    std::vector<CellFunction> columns;
    for (const auto& column : options.columns)
        columns.push_back(function_of(column));
    std::vector<Row> rows;
    if (!options.not_available_only) rows.reserve(answer.wheels.size());

    // Missing names are merged with the wheels by name; both lists are sorted.
    static const std::vector<std::string> none;
    const bool shows_missing = options.not_available || options.not_available_only;
    const auto& missing = shows_missing ? answer.not_available : none;
    auto next_missing = missing.begin();
    const auto add_missing_before = [&](const std::string* key) {
        for (; next_missing != missing.end() && (key == nullptr || name_key(*next_missing) < *key);
             ++next_missing) {
            Row row(options.columns.size());
            for (std::size_t i = 0; i < row.size(); ++i) {
                if (options.columns[i] == "name") row[i] = *next_missing;
            }
            rows.push_back(std::move(row));
        }
    };
    for (auto first = answer.wheels.begin(); first != answer.wheels.end() && !options.not_available_only;) {
        const auto last = std::find_if(first, answer.wheels.end(), [&](const Candidate& candidate) {
            return is_other_project(candidate, *first);
        });
        add_missing_before(&first->release->key);
        add_project(rows, first, last, columns, options.condense);
        first = last;
    }
    add_missing_before(nullptr);
    return rows;
}

namespace {

struct Range {
    char32_t first;
    char32_t last;
};
constexpr std::array<Range, 27> zero_width{{
    {0x0300, 0x036F}, {0x0483, 0x0489},   {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0670, 0x0670}, {0x06D6, 0x06DC},   {0x0900, 0x0902}, {0x093A, 0x093A}, {0x093C, 0x093C},
    {0x0941, 0x0948}, {0x094D, 0x094D},   {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},
    {0x1AB0, 0x1ACE}, {0x1DC0, 0x1DFF},   {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x2063},
    {0x20D0, 0x20F0}, {0x302A, 0x302D},   {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
    {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF},
}};
constexpr std::array<Range, 36> two_wide{{
    {0x1100, 0x115F},   {0x231A, 0x231B}, {0x2329, 0x232A}, {0x23E9, 0x23EC}, {0x23F0, 0x23F0},
    {0x23F3, 0x23F3},   {0x25FD, 0x25FE}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x26A1, 0x26A1},
    {0x26BD, 0x26BE},   {0x26C4, 0x26C5}, {0x26D4, 0x26D4}, {0x2705, 0x2705}, {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
    {0x2B50, 0x2B50},   {0x2B55, 0x2B55}, {0x2E80, 0x3029}, {0x302E, 0x303E}, {0x3041, 0x3098},
    {0x309B, 0x4DBF},   {0x4E00, 0xA4CF}, {0xA960, 0xA97C}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},
    {0xFE10, 0xFE19},   {0xFE30, 0xFE6F}, {0xFF01, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF},
    {0x20000, 0x3FFFD},
}};

template <std::size_t Size>
bool is_in(const std::array<Range, Size>& ranges, char32_t character) {
    const auto* found = std::lower_bound(ranges.begin(), ranges.end(), character,
                                         [](const Range& range, char32_t c) { return range.last < c; });
    return found != ranges.end() && character >= found->first;
}

}  // namespace

std::size_t display_width(std::string_view text) {
    const bool is_ascii = std::none_of(text.begin(), text.end(), [](char c) { return c < 0; });
    if (is_ascii) return text.size();
    std::size_t width = 0;
    while (!text.empty()) {
        // A byte that is not UTF-8 takes one column.
        const auto character = base::decode_utf8(text).value_or(base::Utf8Character{U'?', 1});
        text.remove_prefix(character.bytes);
        if (is_in(zero_width, character.code)) continue;
        width += is_in(two_wide, character.code) ? 2U : 1U;
    }
    return width;
}

}  // namespace wheelyard::avail_wheels
