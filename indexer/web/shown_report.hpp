// What the project pages of an index show of its sites' report, so that a new report changes only the pages that it
// concerns: TREE/<index>/builds/.shown, which web servers hide as they hide every name with a dot.
//
//     wheelyard.shown/1
//     nodes <digest>
//     left <name of a project>          only while pages are left: those behind this name show other node types
//     project <digest> <name>
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "indexer/web/farm_report.hpp"

namespace wheelyard::indexer {

inline constexpr std::string_view shown_report_file = ".shown";

struct ShownReport {
    std::string nodes;                            // digest of the node types, which every page shows
    std::optional<std::string> left;              // the last project that shows them; nullopt: all do
    std::map<std::string, std::string> projects;  // digest of the cells, by project
    bool operator==(const ShownReport&) const = default;
};

// Times and progress are no part of it: the script of the pages brings them.
[[nodiscard]] ShownReport shown_of(const FarmReport& report);
[[nodiscard]] std::string render_shown_report(const ShownReport& shown);
// An empty one if the text is damaged: the pages are written again.
[[nodiscard]] ShownReport parse_shown_report(std::string_view text);

}  // namespace wheelyard::indexer
