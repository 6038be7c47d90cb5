// What the sites of an index report (TREE/<index>/status.json; lib/status/index_status.hpp), as the pages
// show it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/node/node.hpp"
#include "lib/status/limits.hpp"

namespace wheelyard::indexer {

// How users of a node type get one Python there.
struct ReportedSetup {
    std::string python;
    std::string program;
    std::vector<std::string> lines;
};

struct ReportedNode {
    std::string site;
    avail_wheels::Node node;
    std::string accelerator;  // as the site file names it; empty: none
    std::int64_t cores = 0;   // these three: 0 is unknown
    std::int64_t memory_mib = 0;
    std::int64_t gpus = 0;
    std::vector<std::string> job = {};  // the first lines of a job's script; empty: no batch system
    std::string submit = {};            // "sbatch"
    std::vector<ReportedSetup> setups = {};
    // "bede, gh (gh200)"
    [[nodiscard]] std::string name() const;
};

// A queue that refuses jobs for now.
struct ReportedQueue {
    std::string queue;  // empty: the batch system's default
    std::string reason;
    std::string since;  // empty: unknown
};

struct ReportedSite {
    std::string site;
    std::string time;
    std::string next_tick;  // empty: unknown
    std::vector<ReportedQueue> held_queues = {};
};

// One cell of the matrix, one build that runs or one that failed: members that do not apply are empty.
struct ReportedBuild {
    std::string site;
    std::string package;
    std::string version;
    std::string python;
    std::string accelerator;
    std::string id;       // of its attempt; empty: none yet
    std::string purpose;  // of a cell; empty: a build, otherwise such as "gpu-test"
    std::string
        state;  // of a cell: as in the plan (docs/reference/site.md); of an attempt: as in the journal
    std::string reason;
    std::string phase;
    std::int64_t done = 0;
    std::int64_t total = 0;                // steps; 0: unknown
    std::int64_t memory_limit_mib = 0;     // 0: unknown
    std::vector<std::int64_t> memory_mib;  // of its compiles, oldest first
    std::vector<std::string> phases;
    std::vector<std::int64_t> phase_seconds;  // of each of `phases`
    std::string asked;                        // of a request; of a cell that waits: since when
    std::string began;
    std::string ended;
    std::int64_t seconds = 0;  // of a failed build; 0: unknown
    std::string cause;
    std::string remedy;
    std::vector<std::string> log_tail;
};

struct FarmReport {
    std::string time;  // of the newest report; empty: no site reports
    std::vector<ReportedSite> sites;
    std::vector<ReportedNode> nodes;
    // By package, with the requests for wheels that no site reports and that have not come: open or failed,
    // with an ID and without a site.
    std::map<std::string, std::vector<ReportedBuild>> cells;
    std::vector<ReportedBuild> attempts;
    std::vector<ReportedBuild> failures;
    std::vector<ReportedBuild> requests;  // of users, open or ended lately
};

// Builds that failed, and of which no site has reported the wheel since.
[[nodiscard]] std::size_t count_broken(const FarmReport& report);

inline constexpr std::size_t max_farm_report_bytes = status::max_index_status_bytes;
// An empty report if the text is not such a document.
[[nodiscard]] FarmReport read_farm_report(std::string_view text);

// What the project pages of an index show of the report, so that a new one changes only the pages that it
// concerns: TREE/<index>/builds/.shown, which web servers hide as they hide every name with a dot.
//
//     wheelyard.shown/1
//     nodes <digest>
//     left <name of a project>          only while pages are left: those behind this name show other node types
//     project <digest> <name>
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
