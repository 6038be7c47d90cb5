// The status of an index, "wheelyard.index-status/1": the last report of each site that fills it. The
// registry writes it into the published tree as TREE/<index>/status.json.
//
//     {"format":"wheelyard.index-status/1","index":"bede","sites":[{"format":"wheelyard.site/1","site":"bede",…}],
//      "requests":[{"id":"t5f0c9a31d2be","package":"torch","version":"2.4.0","python":"3.11","state":"queued",
//                   "reason":"…","asked":"2026-11-20T12:00:00.000000Z"}]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/status/site_report.hpp"

namespace wheelyard::status {

inline constexpr std::string_view index_status_format = "wheelyard.index-status/1";
inline constexpr std::string_view index_status_name = "status.json";  // below the index's folder

// A request of a user, open or ended lately, without the user's name.
struct RequestReport {
    std::string id;
    std::string package;
    std::string version;
    std::string python;
    std::string accelerator;  // empty: none
    std::string state;        // "awaits_approval", "queued", "claimed", "done", … (docs/reference/task.md)
    std::string reason;       // why it waits, why nobody takes it, or why it ended so; may be empty
    base::UnixMicros asked = 0;
    base::UnixMicros ended = 0;  // 0: it has not
};

struct IndexStatus {
    std::string index;
    std::vector<SiteReport> sites;  // by name
    std::vector<RequestReport> requests = {};
};

// Why no agent of these sites will take a request, of each site, as far as their reports say; empty: one may.
// Of the request only package, Python and accelerator count.
[[nodiscard]] std::string why_nobody_takes(const RequestReport& request,
                                           const std::vector<SiteReport>& sites);

[[nodiscard]] std::string render_index_status(const IndexStatus& status);
// Error "index_status.format" (kind malformed), and those of site_report_of().
[[nodiscard]] base::Result<IndexStatus> parse_index_status(std::string_view text);

}  // namespace wheelyard::status
