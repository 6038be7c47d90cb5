#include "registry/api/site_reports.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <system_error>
#include <tuple>

#include "lib/base/files/file.hpp"
#include "lib/io/log.hpp"
#include "lib/status/index_status.hpp"
#include "lib/wire/problem.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::registry {
namespace {

// The clocks of an agent and of the registry may differ by this much.
constexpr std::int64_t max_clock_skew_ms = 10 * 60'000;
// A site that has been silent for so long makes room for another one.
constexpr std::int64_t forget_site_after_ms = std::int64_t{30} * 24 * 3'600'000;

namespace fs = std::filesystem;

void warn(const char* event, const std::string& what, const base::Error& error) {
    io::log_warn(event, {{"what", what}, {"error", error.text()}});
}

}  // namespace

std::string without_log_line(std::string text) {
    text.resize(std::min(text.find(" ["), text.size()));
    return text;
}

std::string without_agent_paths(std::string_view text) {
    constexpr std::array<std::string_view, 9> of_system{"/usr/",  "/opt/", "/lib/", "/lib64/", "/etc/",
                                                        "/proc/", "/sys/", "/dev/", "/tmp/"};
    constexpr std::string_view site_option = " --site ";
    std::string shown;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char before = at == 0 ? ' ' : text[at - 1];
        if (text[at] != '/' || std::string_view(" \t\n'\"`(=[").find(before) == std::string_view::npos) {
            shown += text[at];
            continue;
        }
        const bool is_quoted = before == '\'' || before == '"';
        const std::size_t end = std::min(
            is_quoted ? text.find(before, at) : text.find_first_of(" \t\n'\"`;,)]", at), text.size());
        const std::string_view path = text.substr(at, end - at);
        const std::string_view before_path = text.substr(0, at - (is_quoted ? 1 : 0));
        const bool is_plain = path.find('/', 1) == std::string_view::npos ||
                              std::any_of(of_system.begin(), of_system.end(),
                                          [&](std::string_view one) { return path.starts_with(one); });
        at = end - 1;
        if (!before_path.ends_with(site_option)) {
            shown += is_plain ? path : std::string_view("PATH");
            continue;
        }
        shown.resize(shown.size() - site_option.size() - (is_quoted ? 1 : 0));
        if (is_quoted) ++at;
    }
    return shown;
}

void remove_logs(status::SiteReport& report) {
    for (status::BuildReport& attempt : report.attempts)
        attempt.log_tail.clear();
    for (status::BuildReport& failure : report.failures) {
        failure.log_tail.clear();
        failure.cause = without_log_line(std::move(failure.cause));
    }
    for (status::CellReport& cell : report.cells)
        cell.reason = without_log_line(std::move(cell.reason));
}

void note_waiting(status::SiteReport& report, const status::SiteReport* before) {
    const auto key_of = [](const status::CellReport& cell) {
        return std::tie(cell.package, cell.version, cell.python, cell.accelerator, cell.purpose);
    };
    std::map<decltype(key_of(status::CellReport{})), base::UnixMicros> known;
    if (before != nullptr) {
        for (const status::CellReport& cell : before->cells)
            if (cell.waits()) known.emplace(key_of(cell), cell.since);
    }
    for (status::CellReport& cell : report.cells) {
        const auto since = known.find(key_of(cell));
        const bool is_new = since == known.end() || since->second == 0;
        cell.since = !cell.waits() ? 0 : is_new ? report.time : since->second;
    }
    if (status::render_site_report(report).size() <= status::max_report_bytes) return;
    // What is kept must be readable again.
    for (status::CellReport& cell : report.cells)
        cell.since = 0;
}

SiteReports::SiteReports(ConfigView config, ShowStatus show, const base::Clock& clock, ShownRequests requests,
                         NoteReport note, std::unique_ptr<nodes::ReportBoard> board)
    : config_(config),
      show_(std::move(show)),
      requests_(std::move(requests)),
      note_(std::move(note)),
      clock_(clock),
      board_(std::move(board)) {
    const ConfigView now = config_.held();
    for (const IndexConfig& index : now->indexes)
        read_folder(index.name);
    show_all();
}

void SiteReports::show_all() {
    const ConfigView config = config_.held();
    for (const IndexConfig& index : config->indexes) {
        const bool has_reports = [&] {
            const std::lock_guard<std::mutex> lock(mutex_);
            return std::any_of(reports_.begin(), reports_.end(),
                               [&](const auto& one) { return one.first.first == index.name; });
        }();
        if (has_reports || has_shown(index) || (requests_ && !requests_(index.name).empty()))
            show(index.name);
    }
}

// A request may have ended since, also through another node.
bool SiteReports::has_shown(const IndexConfig& index) const {
    std::error_code ignored;
    return fs::exists(config_.held()->tree_of(index.name) / index.name / status::index_status_name, ignored);
}

void SiteReports::show_requests(const std::string& index) {
    show(index);
}

void SiteReports::follow() {
    if (board_ == nullptr) return;
    const base::Status taken = take_from_board();
    if (!taken && !has_failed_) warn("sites.not_followed", {}, taken.error());
    has_failed_ = !taken;
    if (taken) show_all();  // without the database nothing is known of requests either
}

base::Status SiteReports::take_from_board() {
    const std::lock_guard<std::mutex> board_lock(board_mutex_);
    WHEELYARD_ASSIGN(const auto listed, board_->list());
    for (const nodes::BoardReport& one : listed) {
        if (config_.held()->find_index(one.index) == nullptr) continue;
        const auto known = find(one.index, one.site);
        if (known && known->time >= one.time) continue;
        WHEELYARD_ASSIGN(const nodes::BoardReport read, board_->read(one.index, one.site));
        auto report = status::parse_site_report(read.text);
        const auto taken = report ? take(*std::move(report), read.text, {}) : base::fail(report.error());
        if (!taken) warn("sites.not_taken", one.site, taken.error());
    }
    return {};
}

void SiteReports::put_on_board(const nodes::BoardReport& report) {
    const std::vector<Key> forgotten = [&] {
        const std::lock_guard<std::mutex> lock(mutex_);
        return std::exchange(forgotten_, {});
    }();
    if (board_ == nullptr) return;
    const std::lock_guard<std::mutex> lock(board_mutex_);
    base::Status put = board_->keep(report);
    for (const auto& [index, site] : forgotten)
        if (put) put = board_->remove(index, site);
    if (!put) warn("sites.not_shared", report.site, put.error());
}

std::string SiteReports::why_nobody_takes(const std::string& index,
                                          const status::RequestReport& request) const {
    const ConfigView config = config_.held();
    const IndexConfig* known = config->find_index(index);
    const std::lock_guard<std::mutex> lock(mutex_);
    return known == nullptr ? "" : status::why_nobody_takes(request, sites_of(*known));
}

std::vector<status::SiteReport> SiteReports::sites_of(const IndexConfig& index) const {
    std::vector<status::SiteReport> sites;
    for (const auto& [key, report] : reports_) {
        const bool is_of_index = key.first == index.name || key.first == index.staging;
        if (!is_of_index || sites.size() >= status::max_sites_per_index) continue;
        sites.push_back(report);
        sites.back().finished.clear();  // for the history of builds, not for this list
        if (index.are_logs_for_tokens) remove_logs(sites.back());
    }
    std::stable_sort(sites.begin(), sites.end(),
                     [](const auto& a, const auto& b) { return a.site < b.site; });
    return sites;
}

fs::path SiteReports::file_of(const Key& key) const {
    return config_.held()->store / "sites" / key.first / (key.second + ".json");
}

void SiteReports::read_folder(const std::string& index) {
    std::error_code error;
    const fs::path folder = config_.held()->store / "sites" / index;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() != ".json") continue;  // a temporary file
        const auto text = base::read_file(entry->path(), status::max_report_bytes);
        auto report = text ? status::parse_site_report(*text) : base::fail(text.error());
        if (!report) {
            warn("sites.unreadable", entry->path().native(), report.error());
            continue;
        }
        Key key(index, report->site);
        if (report->index == index && file_of(key) == entry->path())
            reports_.insert_or_assign(std::move(key), *std::move(report));
    }
}

// Sites that nobody runs any more leave when another one needs their place.
base::Status SiteReports::make_room(const Key& key) {
    const auto begin = reports_.lower_bound({key.first, ""});
    auto oldest = reports_.end();
    std::size_t count = 0;
    for (auto one = begin; one != reports_.end() && one->first.first == key.first; ++one, ++count) {
        if (oldest == reports_.end() || one->second.time < oldest->second.time) oldest = one;
    }
    if (count < status::max_sites_per_index || reports_.contains(key)) return {};
    if (clock_.now() - oldest->second.time < forget_site_after_ms * 1000)
        return wire::fail("site.too_many", "Too many sites report to this index", key.first,
                          "a site makes room 30 days after its last report", base::Recovery::person);
    static_cast<void>(base::remove_file(file_of(oldest->first)));
    forgotten_.push_back(oldest->first);
    reports_.erase(oldest);
    return {};
}

base::Status SiteReports::keep(status::SiteReport report) {
    if (report.time > clock_.now() + max_clock_skew_ms * 1000)
        return wire::fail("site.time", "The report of the site is from the future",
                          base::render_rfc3339(report.time), "set the clock of the agent's machine",
                          base::Recovery::person);
    const auto before = find(report.index, report.site);
    note_waiting(report, before ? &*before : nullptr);
    nodes::BoardReport shared{report.index, report.site, report.time, status::render_site_report(report)};
    WHEELYARD_ASSIGN(const bool is_new, take(std::move(report), shared.text, note_));
    if (!is_new) return {};
    put_on_board(shared);
    show(shared.index);
    return {};
}

base::Result<bool> SiteReports::take(status::SiteReport report, const std::string& text,
                                     const NoteReport& note) {
    Key key(report.index, report.site);
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = reports_.find(key);
    if (known != reports_.end() && known->second.time >= report.time) return false;
    WHEELYARD_TRY(make_room(key));
    if (note) note(report);
    reports_.insert_or_assign(key, std::move(report));
    const fs::path folder = file_of(key).parent_path();
    auto written = base::make_private_directories(folder.parent_path());  // a report names projects
    if (written) written = base::make_private_directories(folder);
    if (written) written = base::replace_file(file_of(key), text);
    if (!written) warn("sites.not_kept", key.second, written.error());
    return true;
}

// The index itself, and those whose tasks it builds.
void SiteReports::show(const std::string& index) {
    const std::lock_guard<std::mutex> show_lock(show_mutex_);
    const ConfigView config = config_.held();
    for (const IndexConfig& shown : config->indexes) {
        if (shown.name != index && shown.staging != index) continue;
        status::IndexStatus status;
        status.index = shown.name;
        if (requests_) status.requests = requests_(shown.name);
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            status.sites = sites_of(shown);
        }
        for (status::RequestReport& request : status.requests) {
            if (request.state == wire::task_state_text(wire::TaskState::queued) && request.reason.empty())
                request.reason = status::why_nobody_takes(request, status.sites);
        }
        for (status::SiteReport& site : status.sites)
            site.recipes.clear();  // every reader would load them with each page
        const auto written =
            show_(config->tree_of(shown.name), shown.name, status::render_index_status(status));
        if (!written) warn("sites.not_shown", shown.name, written.error());
    }
}

std::optional<status::SiteReport> SiteReports::find(const std::string& index, const std::string& site) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = reports_.find({index, site});
    if (found == reports_.end()) return std::nullopt;
    return found->second;
}

std::vector<status::SiteReport> SiteReports::list() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<status::SiteReport> all;
    for (const auto& [key, report] : reports_)
        all.push_back(report);
    return all;
}

std::vector<http::Sample> SiteReports::samples() const {
    const ConfigView config = config_.held();
    const std::lock_guard<std::mutex> lock(mutex_);
    const base::UnixMicros now = clock_.now();
    std::vector<http::Sample> samples;
    for (const auto& [key, report] : reports_) {
        if (config->is_private(key.first)) continue;  // everyone reads the metrics
        const std::string labels = "index=\"" + key.first + "\",site=\"" + key.second + "\"";
        constexpr double us_per_s = 1e6;
        samples.push_back(
            {"site_report_age_seconds", static_cast<double>(now - report.time) / us_per_s, labels});
        samples.push_back({"site_late", status::late_ms(report, now) ? 1.0 : 0.0, labels});
    }
    return samples;
}

}  // namespace wheelyard::registry
