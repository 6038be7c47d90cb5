// Rows of cells.
#include "indexer/avail_wheels/columns.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "indexer/avail_wheels/needs.hpp"
#include "lib/base/check.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::avail_wheels {

namespace {

using CellFunction = std::string (*)(const Candidate&);

const std::map<std::string_view, CellFunction>& cell_functions() {
    static const std::map<std::string_view, CellFunction> functions{
        {"name", [](const Candidate& c) { return c.wheel.name; }},
        {"version", [](const Candidate& c) { return c.wheel.version.public_text(); }},
        {"localversion", [](const Candidate& c) { return c.wheel.version.local_text(); }},
        {"build", [](const Candidate& c) { return c.wheel.build ? c.wheel.build->text() : std::string(); }},
        {"python", [](const Candidate& c) { return joined_tags(c.wheel.pythons); }},
        {"abi", [](const Candidate& c) { return joined_tags(c.wheel.abis); }},
        {"platform", [](const Candidate& c) { return joined_tags(c.wheel.platforms); }},
        {"arch", [](const Candidate& c) { return c.arch; }},
        {"runs", [](const Candidate& c) { return c.runs; }},
        {"why", [](const Candidate& c) { return c.why; }},
        {"advice", [](const Candidate& c) { return c.advice; }},
        {"modules", [](const Candidate& c) { return base::join(modules_of(c), ","); }},
    };
    return functions;
}

// "1.10" is greater than "1.9" and cp310 than cp39: versions by PEP 440 where both are ones, else naturally.
bool is_greater(const std::string& a, const std::string& b) {
    const auto version_a = wheel::Version::parse(a);
    const auto version_b = wheel::Version::parse(b);
    if (version_a && version_b) return (*version_a <=> *version_b) > 0;
    return compare_naturally(a, b) > 0;
}

std::string condensed_cell(const std::vector<const Candidate*>& candidates, const std::string& column) {
    std::vector<std::string> values;
    for (const auto* candidate : candidates) {
        std::string value = cell(*candidate, column);
        if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end())
            values.push_back(std::move(value));
    }
    std::stable_sort(values.begin(), values.end(), is_greater);
    return base::join(values, ", ");
}

Row full_row(const std::vector<std::string>& columns,
             const std::function<std::string(const std::string&)>& value) {
    Row row;
    row.reserve(columns.size());
    for (const auto& column : columns)
        row.push_back(value(column));
    return row;
}

struct NamedRow {
    std::string key;
    Row row;
};

void add_row(std::vector<NamedRow>& rows, NamedRow row) {
    const auto looks_the_same = [&](const NamedRow& other) { return other.row == row.row; };
    // Only rows of one project can be equal, and they stand together at the end.
    auto first = rows.end();
    while (first != rows.begin() && (first - 1)->key == row.key)
        --first;
    if (std::none_of(first, rows.end(), looks_the_same)) rows.push_back(std::move(row));
}

void add_projects(std::vector<NamedRow>& rows, const Answer& answer, const RowOptions& options) {
    for (auto first = answer.wheels.begin(); first != answer.wheels.end();) {
        const auto last = std::find_if(first, answer.wheels.end(), [&](const Candidate& candidate) {
            return candidate.key != first->key;
        });
        const std::string key = first->key;
        if (options.condense) {
            std::vector<const Candidate*> candidates;
            for (auto it = first; it != last; ++it)
                candidates.push_back(&*it);
            const auto value = [&](const std::string& column) { return condensed_cell(candidates, column); };
            rows.push_back({key, full_row(options.columns, value)});
        } else {
            for (auto it = first; it != last; ++it) {
                const auto value = [&](const std::string& column) { return cell(*it, column); };
                add_row(rows, {key, full_row(options.columns, value)});
            }
        }
        first = last;
    }
}

}  // namespace

std::string cell(const Candidate& candidate, std::string_view column) {
    const auto found = cell_functions().find(column);
    WHEELYARD_CHECK(found != cell_functions().end());
    return found->second(candidate);
}

std::vector<Row> make_rows(const Answer& answer, const RowOptions& options) {
    std::vector<NamedRow> named;
    if (!options.not_available_only) add_projects(named, answer, options);
    if (options.not_available || options.not_available_only) {
        for (const auto& name : answer.not_available) {
            const auto value = [&](const std::string& column) {
                return column == "name" ? name : std::string();
            };
            named.push_back({name_key(name), full_row(options.columns, value)});
        }
    }
    std::stable_sort(named.begin(), named.end(),
                     [](const NamedRow& a, const NamedRow& b) { return a.key < b.key; });
    std::vector<Row> rows;
    rows.reserve(named.size());
    for (auto& row : named)
        rows.push_back(std::move(row.row));
    return rows;
}

}  // namespace wheelyard::avail_wheels
