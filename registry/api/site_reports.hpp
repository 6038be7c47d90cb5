// The last report of each site (docs/reference/site-status.md), in memory and as
// STORE/sites/<index>/<site>.json. The next tick brings a new one, so a lost report is no loss: a file that
// cannot be written or read is only logged.
//
// One of several nodes receives the report and puts it on the board; follow() takes it from there to the
// others.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/status/index_status.hpp"
#include "lib/status/site_report.hpp"
#include "lib/store/nodes/report_board.hpp"
#include "registry/config/live_config.hpp"
#include "registry/http/metrics.hpp"

namespace wheelyard::registry {

// Writes the status of an index into the published tree, if it changed; returns whether it did. The indexer
// provides it.
using ShowStatus = std::function<base::Result<bool>(const std::filesystem::path& tree,
                                                    const std::string& index, const std::string& document)>;

// The requests to an index that are open or ended lately, at most status::max_requests_per_index.
using ShownRequests = std::function<std::vector<status::RequestReport>(const std::string& index)>;

// For those who do not read the logs of the index.
void remove_logs(status::SiteReport& report);
// A cause or a reason without the line of a log that ends it in brackets, also where it was cut.
[[nodiscard]] std::string without_log_line(std::string text);
// Without the folders of an agent, which say in whose account it runs: a path of several parts outside of the
// system's own is PATH, and --site with its path is left out: the command finds the last site file by itself.
[[nodiscard]] std::string without_agent_paths(std::string_view text);

// Gives each cell that waits the time since which it has: that of the report before, or this report's own.
// No cell has one where the report would have more than status::max_report_bytes.
void note_waiting(status::SiteReport& report, const status::SiteReport* before);

// Told of each report before it is kept.
using NoteReport = std::function<void(const status::SiteReport& report)>;

// Thread-safe.
class SiteReports {
  public:
    // Reads the kept reports and shows them. `config` and `clock` outlive the object. `board`: of several
    // nodes.
    SiteReports(ConfigView config, ShowStatus show, const base::Clock& clock, ShownRequests requests = {},
                NoteReport note = {}, std::unique_ptr<nodes::ReportBoard> board = nullptr);

    // Keeps the report, unless a newer one of its site is here, and shows it in the published tree. Errors:
    // "site.time" (a time in the future), "site.too_many"; kind conflict.
    [[nodiscard]] base::Status keep(status::SiteReport report);
    [[nodiscard]] std::optional<status::SiteReport> find(const std::string& index,
                                                         const std::string& site) const;
    // Sorted by index and site.
    [[nodiscard]] std::vector<status::SiteReport> list() const;
    // Shows the sites and requests of all indexes again.
    void show_all();
    [[nodiscard]] bool has_board() const { return board_ != nullptr; }
    // Takes what other nodes were told, and shows it with the requests that came or ended there.
    void follow();
    // A request to this index came, was taken or ended.
    void show_requests(const std::string& index);
    // status::why_nobody_takes() of the sites that build for this index.
    [[nodiscard]] std::string why_nobody_takes(const std::string& index,
                                               const status::RequestReport& request) const;
    // The age of each report, and whether its site is late.
    [[nodiscard]] std::vector<http::Sample> samples() const;

  private:
    using Key = std::pair<std::string, std::string>;  // index, site

    [[nodiscard]] std::filesystem::path file_of(const Key& key) const;
    void read_folder(const std::string& index);
    [[nodiscard]] base::Status make_room(const Key& key);
    // False: not newer than the known one.
    // `note`: empty for what another node was told, which has noted it; by now that may be an older one.
    [[nodiscard]] base::Result<bool> take(status::SiteReport report, const std::string& text,
                                          const NoteReport& note);
    [[nodiscard]] base::Status take_from_board();
    void put_on_board(const nodes::BoardReport& report);
    [[nodiscard]] bool has_shown(const IndexConfig& index) const;
    void show(const std::string& index);
    // Those that fill the index, by name.
    [[nodiscard]] std::vector<status::SiteReport> sites_of(const IndexConfig& index) const;

    const ConfigView config_;
    ShowStatus show_;
    ShownRequests requests_;
    NoteReport note_;
    const base::Clock& clock_;
    std::mutex board_mutex_;
    const std::unique_ptr<nodes::ReportBoard> board_;  // nullptr: there are no others
    std::vector<Key> forgotten_;                       // to be removed from the board; guarded by mutex_
    bool has_failed_ = false;                          // of follow(), its caller's alone
    std::mutex show_mutex_;                            // of two showings of an index the later one is newer
    mutable std::mutex mutex_;
    std::map<Key, status::SiteReport> reports_;
};

}  // namespace wheelyard::registry
