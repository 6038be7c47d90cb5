// Lines for people, and JSON for scripts.
#include "builder/pairs/proposals.hpp"

#include "builder/pairs/table_text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {

std::string render_comparison(const PairComparison& comparison) {
    std::string text;
    for (const auto& line : comparison.lines) {
        const auto& row = line.row;
        text += std::string(pair_finding_text(line.finding)) + "  " + row.package + row.versions;
        if (!row.with.empty()) text += " with " + row.with + row.allowed;
        text += ": " + line.says;
        if (line.finding == PairFinding::proposed) text += "; " + row.source;
        if (line.finding == PairFinding::differs) text += "; " + row.place;
        text += "\n";
    }
    return text + std::to_string(comparison.lines.size()) + " to look at, " +
           std::to_string(comparison.agreeing) + " releases as the table says\n";
}

std::string render_comparison_json(const PairComparison& comparison, const std::filesystem::path& table) {
    io::Json lines = io::Json::array();
    for (const auto& line : comparison.lines) {
        const auto& row = line.row;
        io::Json one = io::Json::object({{"finding", pair_finding_text(line.finding)},
                                         {"package", row.package},
                                         {"versions", row.versions},
                                         {"with", row.with},
                                         {"allowed", row.allowed},
                                         {"stable_abi", row.stable_abi},
                                         {"says", line.says},
                                         {"source", row.source}});
        if (line.finding == PairFinding::proposed) one.set("row", pair_row_text(row, "SOURCE"));
        if (!row.place.empty()) one.set("place", row.place);
        lines.push(std::move(one));
    }
    return io::Json::object({{"table", table.string()},
                             {"agreeing", static_cast<std::uint64_t>(comparison.agreeing)},
                             {"lines", std::move(lines)}})
        .render_pretty();
}

}  // namespace wheelyard::builder
