// Builds rows of cells.
#include "indexer/avail_wheels/table/columns.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "indexer/avail_wheels/query/needs.hpp"
#include "lib/base/check.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::avail_wheels {

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

}  // namespace wheelyard::avail_wheels
