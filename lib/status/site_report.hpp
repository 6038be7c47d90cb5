// What a site wants, has, builds and lacks, "wheelyard.site/1": its agent sends it to the registry at each
// tick (docs/reference/site-status.md).
//
//     {"format":"wheelyard.site/1","site":"bede","index":"bede-gh200","program":"wheelyard-builder 0.1.0",
//      "time":"2026-11-20T12:00:00.000000Z","next_tick":"2026-11-20T12:05:00.000000Z","pythons":["3.12"],
//      "machine":"aarch64","glibc":"2.34",
//      "nodes":[{"name":"gh","cores":72,…}],
//      "cells":[{"package":"torch","version":"2.4.0","python":"3.12","accelerator":"h100","state":"have"}],
//      "attempts":[{"id":"w1kq7x9aab3cde","phase":"build","done":12,"total":345,"log_tail":["…"],…}],
//      "failures":[{"attempt":"w1kq7x9aab3cdf","phase":"build","rule":"memory.compiler_killed",…}]}
//
// Texts come from compilers and from other people's machines. The parser cuts long ones and replaces control
// characters, so whatever it returns is safe to render, to store and to print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/status/limits.hpp"

namespace wheelyard::status {

inline constexpr std::string_view report_format = "wheelyard.site/1";

// A kind of node of the site.
struct NodeReport {
    std::string name;
    std::int64_t cores = 0;
    std::int64_t memory_mib = 0;
    std::int64_t gpus = 0;
    std::string accelerator = {};
    std::vector<std::string> architectures = {};  // "sm_90"
    // Names of the GPU code that runs on these. Only the status of an index has it: render_index_status()
    // derives it.
    std::vector<std::string> gpu_code = {};  // "sm_90", "sm_90a"
    std::string machine = {};                // "aarch64"
    std::string glibc = {};                  // "2.34"
    std::vector<std::string> job = {};       // "#SBATCH --partition=gh"
};

// How users of the site get one of its Pythons, with the modules that wheels for this accelerator need.
struct SetupReport {
    std::string python;
    std::string accelerator;
    std::string program;
    std::vector<std::string> lines = {};  // "module load python/3.12"
};

// A cell of the site's plan.
struct CellReport {
    std::string package;
    std::string version;
    std::string python;
    std::string accelerator;
    std::string purpose;
    std::string state;
    std::string reason;
    std::string attempt;
    base::UnixMicros since = 0;  // of one that waits, as the registry has seen it; 0: not known
    [[nodiscard]] bool waits() const { return state == "wanted" || state == "held"; }
};

// This is one build of a site. Each list of a report has the members that its table names, and so has what is
// kept of a build.
struct BuildReport {
    std::string site = {};   // of a report: the report's
    std::string index = {};  // to which its site reports
    std::string id = {};     // of the attempt
    std::string package = {};
    std::string version = {};
    std::string python = {};
    std::string accelerator = {};
    std::string purpose = {};
    std::string state = {};
    std::string phase = {};
    std::string waiting = {};
    base::UnixMicros began = 0;
    base::UnixMicros ended = 0;
    std::int64_t done = 0;
    std::int64_t total = 0;
    std::int64_t memory_limit_mib = 0;
    std::vector<std::int64_t> memory_mib = {};
    std::vector<std::string> phases = {};
    std::vector<std::int64_t> phase_seconds = {};
    std::string rule = {};
    std::string cause = {};
    std::string remedy = {};
    std::vector<std::string> log_tail = {};
    std::string source = {};
    std::string source_sha256 = {};
    bool operator==(const BuildReport&) const = default;
};

// A queue that refuses jobs for now.
struct HeldQueueReport {
    std::string queue;  // empty: the batch system's default
    std::string reason;
    base::UnixMicros since = 0;
};

struct SiteReport {
    std::string site;
    std::string index;
    std::string program;
    base::UnixMicros time = 0;
    base::UnixMicros next_tick = 0;  // 0: not known
    bool is_cut = false;
    std::string claims = {};                // "no", "recipes", "any"; empty: not known
    std::vector<std::string> recipes = {};  // of "recipes": the packages that have one; empty: not known
    std::vector<std::string> pythons;
    std::string machine = {};
    std::string glibc = {};
    std::vector<NodeReport> nodes;
    std::string submit = {};  // the program that takes job scripts: "sbatch"; empty: no batch system
    std::vector<SetupReport> setups = {};
    std::vector<CellReport> cells;
    std::vector<BuildReport> attempts;  // those that are not over
    std::vector<BuildReport> failures;  // newest first
    std::vector<HeldQueueReport> held_queues = {};
    std::vector<BuildReport> finished = {};  // those that ended well, newest first
};

[[nodiscard]] io::Json site_report_json(const SiteReport& report);
[[nodiscard]] std::string render_site_report(const SiteReport& report);
// Removes what readers miss least until the rendered report has at most `max_bytes`: log lines, failures,
// reasons of wheels that exist, attempts, and last the cells at the end of the plan.
[[nodiscard]] SiteReport fit_site_report(SiteReport report, std::size_t max_bytes = max_report_bytes);

// Errors: "site_report.too_large" and "site_report.format" (kind malformed), which names the member.
[[nodiscard]] base::Result<SiteReport> parse_site_report(std::string_view text);
[[nodiscard]] base::Result<SiteReport> site_report_of(const io::Json& json);

// Names of sites and indexes: letters, digits, `.`, `_`, `-`; no `.` at the beginning.
[[nodiscard]] bool is_site_name(std::string_view text);

// "bede, gh (gh200)": how people choose a node type. `accelerator` may be empty.
[[nodiscard]] std::string node_type_name(const std::string& site, const std::string& node,
                                         const std::string& accelerator);

// How long ago the site reported, in ms, if its next report is overdue at `now`; else nullopt.
[[nodiscard]] std::optional<std::int64_t> late_ms(const SiteReport& report, base::UnixMicros now);

// The tables of docs/reference/site-status.md.
[[nodiscard]] std::string render_report_fields();

}  // namespace wheelyard::status
