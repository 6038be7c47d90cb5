// The status of an index, "wheelyard.index-status/1": the last report of each site that fills it. The registry
// writes it into the published tree as TREE/<index>/status.json.
//
//     {"format":"wheelyard.index-status/1","index":"bede","sites":[{"format":"wheelyard.site/1","site":"bede",…}]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/status/site_report.hpp"

namespace wheelyard::status {

inline constexpr std::string_view index_status_format = "wheelyard.index-status/1";
inline constexpr std::string_view index_status_name = "status.json";  // below the index's folder

struct IndexStatus {
    std::string index;
    std::vector<SiteReport> sites;  // by name
};

[[nodiscard]] std::string render_index_status(const IndexStatus& status);
// Error "index_status.format" (kind malformed), and those of site_report_of().
[[nodiscard]] base::Result<IndexStatus> parse_index_status(std::string_view text);

}  // namespace wheelyard::status
