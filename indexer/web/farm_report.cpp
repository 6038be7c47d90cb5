#include "indexer/web/farm_report.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "indexer/web/limits.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/status/index_status.hpp"

namespace wheelyard::indexer {
namespace {

// The memory that a site reports; more is shown as this. Arithmetic with pixels and bytes stays within 64
// bits.
constexpr std::int64_t max_shown_mib = std::int64_t{1} << 40;

std::string time_text(base::UnixMicros time) {
    return time > 0 ? base::render_rfc3339(time) : std::string();
}

// What a cell, an attempt and a failure have in common.
template <class Build>
ReportedBuild build_of(const std::string& site, Build& build) {
    ReportedBuild made;
    made.site = site;
    made.package = std::move(build.package);
    made.version = std::move(build.version);
    made.python = std::move(build.python);
    made.accelerator = std::move(build.accelerator);
    return made;
}

ReportedNode node_of(const status::SiteReport& site, status::NodeReport& node) {
    ReportedNode made;
    made.site = site.site;
    made.node.is_described = true;
    made.node.name = std::move(node.name);
    // Without them, the node's GPUs are known only if it has none.
    if (!node.architectures.empty() || node.accelerator.empty())
        made.node.gpus = avail_wheels::Gpus{std::move(node.architectures), {}};
    for (const std::string& text : site.pythons) {
        if (auto python = avail_wheels::parse_python(text)) made.node.pythons.push_back(std::move(*python));
    }
    made.accelerator = std::move(node.accelerator);
    made.node.machine = std::move(node.machine);
    made.node.glibc = avail_wheels::Dotted::parse(node.glibc);
    made.cores = node.cores;
    made.memory_mib = std::min(node.memory_mib, max_shown_mib);
    made.gpus = node.gpus;
    made.job = std::move(node.job);
    made.submit = site.submit;
    for (const status::SetupReport& setup : site.setups) {
        if (setup.accelerator == made.accelerator)
            made.setups.push_back({setup.python, setup.program, setup.lines});
    }
    return made;
}

void add_site(FarmReport& farm, status::SiteReport& site) {
    const std::string time = time_text(site.time);
    farm.time = std::max(farm.time, time);
    farm.sites.push_back({site.site, time, time_text(site.next_tick)});
    for (status::HeldQueueReport& held : site.held_queues)
        farm.sites.back().held_queues.push_back(
            {std::move(held.queue), std::move(held.reason), time_text(held.since)});
    for (status::NodeReport& node : site.nodes)
        farm.nodes.push_back(node_of(site, node));
    for (status::CellReport& cell : site.cells) {
        ReportedBuild made = build_of(site.site, cell);
        made.state = std::move(cell.state);
        made.reason = std::move(cell.reason);
        made.id = std::move(cell.attempt);
        made.purpose = std::move(cell.purpose);
        made.asked = time_text(cell.since);
        farm.cells[made.package].push_back(std::move(made));
    }
    for (status::BuildReport& attempt : site.attempts) {
        ReportedBuild made = build_of(site.site, attempt);
        made.state = std::move(attempt.state);
        made.id = std::move(attempt.id);
        made.phase = std::move(attempt.phase);
        made.began = time_text(attempt.began);
        made.memory_limit_mib = std::min(attempt.memory_limit_mib, max_shown_mib);
        for (const std::int64_t mib : attempt.memory_mib)
            made.memory_mib.push_back(std::min(mib, max_shown_mib));
        made.phases = std::move(attempt.phases);
        made.phase_seconds = std::move(attempt.phase_seconds);
        made.done = attempt.done;
        made.total = attempt.total;
        made.log_tail = std::move(attempt.log_tail);
        farm.attempts.push_back(std::move(made));
    }
    for (status::BuildReport& failure : site.failures) {
        ReportedBuild made = build_of(site.site, failure);
        made.id = std::move(failure.id);
        made.phase = std::move(failure.phase);
        made.ended = time_text(failure.ended);
        if (failure.began > 0)
            made.seconds = std::max<std::int64_t>(0, (failure.ended - failure.began) / 1'000'000);
        made.cause = std::move(failure.cause);
        made.remedy = std::move(failure.remedy);
        made.log_tail = std::move(failure.log_tail);
        farm.failures.push_back(std::move(made));
    }
}

// Of several requests for a wheel the newest counts, which is the first: later ones find its cell.
void add_request(FarmReport& farm, const ReportedBuild& request) {
    auto& cells = farm.cells[request.package];
    const bool is_known = std::any_of(cells.begin(), cells.end(), [&](const ReportedBuild& cell) {
        return cell.purpose.empty() && cell.version == request.version && cell.python == request.python &&
               cell.accelerator == request.accelerator;
    });
    if (!is_known) cells.push_back(request);
}

bool is_settled_request(const ReportedBuild& cell) {
    return !cell.ended.empty() && cell.state != "failed";
}

}  // namespace

std::string ReportedNode::name() const {
    return status::node_type_name(site, node.name, accelerator);
}

FarmReport read_farm_report(std::string_view text) {
    FarmReport farm;
    auto status = status::parse_index_status(text);
    if (!status) return farm;
    for (status::SiteReport& site : status->sites)
        add_site(farm, site);
    for (status::RequestReport& request : status->requests) {
        ReportedBuild made = build_of({}, request);
        made.id = std::move(request.id);
        made.state = std::move(request.state);
        made.reason = std::move(request.reason);
        made.asked = time_text(request.asked);
        made.ended = time_text(request.ended);
        farm.requests.push_back(std::move(made));
    }
    for (const ReportedBuild& request : farm.requests)
        add_request(farm, request);
    for (auto& [package, cells] : farm.cells)
        std::erase_if(cells, is_settled_request);
    std::erase_if(farm.cells, [](const auto& known) { return known.second.empty(); });
    return farm;
}

std::size_t count_broken(const FarmReport& report) {
    const auto is_built_since = [&](const ReportedBuild& failed) {
        const auto cells = report.cells.find(failed.package);
        return cells != report.cells.end() &&
               std::any_of(cells->second.begin(), cells->second.end(), [&](const ReportedBuild& cell) {
                   return cell.state == "have" && cell.site == failed.site &&
                          cell.version == failed.version && cell.python == failed.python &&
                          cell.accelerator == failed.accelerator;
               });
    };
    return report.failures.size() - static_cast<std::size_t>(std::count_if(
                                        report.failures.begin(), report.failures.end(), is_built_since));
}

namespace {

constexpr std::string_view first_line = "wheelyard.shown/1";
constexpr std::size_t digest_digits = 16;

// Parts are told apart, whatever they contain.
void add_part(std::string& text, std::string_view part) {
    text.append(std::to_string(part.size())).append(" ").append(part);
}

std::string digest_of(const std::string& text) {
    return base::sha256_hex(text).substr(0, digest_digits);
}

std::string nodes_text(const std::vector<ReportedNode>& nodes) {
    std::string text;
    for (const ReportedNode& node : nodes) {
        add_part(text, node.name());
        add_part(text, node.accelerator);
        add_part(text, avail_wheels::node_to_json(node.node).render());
        add_part(text, base::join(node.job, "\n"));
        add_part(text, node.submit);
        for (const ReportedSetup& setup : node.setups) {
            add_part(text, setup.python);
            add_part(text, setup.program);
            add_part(text, base::join(setup.lines, "\n"));
        }
    }
    return text;
}

std::string cells_text(const std::vector<ReportedBuild>& cells) {
    std::string text;
    for (const ReportedBuild& cell : cells) {
        for (const std::string* part : {&cell.site, &cell.version, &cell.python, &cell.accelerator,
                                        &cell.purpose, &cell.state, &cell.reason, &cell.id})
            add_part(text, *part);
    }
    return text;
}

}  // namespace

ShownReport shown_of(const FarmReport& report) {
    ShownReport shown{.nodes = digest_of(nodes_text(report.nodes)), .left = std::nullopt, .projects = {}};
    for (const auto& [package, cells] : report.cells)
        shown.projects[package] = digest_of(cells_text(cells));
    return shown;
}

std::string render_shown_report(const ShownReport& shown) {
    std::string text(first_line);
    text.append("\nnodes ").append(shown.nodes).append("\n");
    if (shown.left) text.append("left ").append(*shown.left).append("\n");
    for (const auto& [project, digest] : shown.projects)
        text.append("project ").append(digest).append(" ").append(project).append("\n");
    return text;
}

ShownReport parse_shown_report(std::string_view text) {
    ShownReport shown;
    const auto lines = base::split(text, '\n');
    if (lines.empty() || lines.front() != first_line) return shown;
    for (const std::string_view line : lines) {
        const auto space = line.find(' ');
        if (space == std::string_view::npos) continue;
        const std::string_view word = line.substr(0, space);
        const std::string_view rest = line.substr(space + 1);
        if (word == "nodes") shown.nodes = rest;
        if (word == "left") shown.left = rest;
        if (word == "project" && rest.size() > digest_digits)
            shown.projects[std::string(rest.substr(digest_digits + 1))] = rest.substr(0, digest_digits);
    }
    return shown;
}

}  // namespace wheelyard::indexer
