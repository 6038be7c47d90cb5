// The builds of an index as its sites report them, and the pages of one build and one request.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "indexer/web/index_pages.hpp"
#include "indexer/web/shown_index.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/frame.hpp"
#include "lib/page/template.hpp"

namespace wheelyard::indexer {

namespace {

constexpr std::size_t max_rows = 200;
constexpr std::int64_t max_shown_seconds = std::int64_t{10} * 366 * 24 * 3600;

std::string mib_text(std::int64_t mib) {
    return base::render_bytes(static_cast<std::uint64_t>(mib) * base::mib);
}

std::string seconds_text(std::int64_t seconds) {
    constexpr std::int64_t minute = 60;  // reports have whole seconds
    if (seconds < minute) return std::to_string(seconds) + " s";
    return base::render_duration_ms(std::min(seconds, max_shown_seconds) * 1000);
}

std::vector<ShownPhase> shown_phases(const ReportedBuild& build) {
    std::vector<ShownPhase> phases;
    if (build.phases.size() != build.phase_seconds.size()) return phases;
    for (std::size_t at = 0; at < build.phases.size(); ++at)
        phases.push_back({build.phases[at], seconds_text(build.phase_seconds[at]), at == 0});
    return phases;
}

std::optional<ShownMemory> shown_memory(const ReportedBuild& build) {
    if (build.memory_mib.empty() || build.memory_limit_mib <= 0) return std::nullopt;
    constexpr std::uint64_t width = 240;
    constexpr std::uint64_t height = 48;
    const std::int64_t peak = *std::max_element(build.memory_mib.begin(), build.memory_mib.end());
    const auto top = static_cast<std::uint64_t>(std::max(peak, build.memory_limit_mib));
    const auto y_of = [&](std::int64_t mib) {
        return height - static_cast<std::uint64_t>(mib) * height / top;
    };
    ShownMemory memory;
    memory.limit_y = y_of(build.memory_limit_mib);
    memory.line = "M0 " + std::to_string(height);
    const std::size_t count = build.memory_mib.size();
    for (std::size_t at = 0; at < count; ++at) {
        memory.line += "L" + std::to_string(at * width / count) + " " +
                       std::to_string(y_of(build.memory_mib[at])) + "H" +
                       std::to_string((at + 1) * width / count);
    }
    memory.line += "V" + std::to_string(height);
    memory.now = mib_text(build.memory_mib.back());
    memory.peak = mib_text(peak);
    memory.limit = mib_text(build.memory_limit_mib);
    return memory;
}

ShownBuild shown_build(const ReportedBuild& build) {
    ShownBuild shown;
    if (!build.id.empty()) shown.anchor = build_anchor(build.id);
    shown.site = build.site;
    shown.id = build.id;
    shown.package = build.package;
    shown.version = build.version;
    shown.phase = build.phase;
    shown.place = place_text(build);
    shown.began = render_time(build.began);
    shown.ended = render_time(build.ended);
    if (build.seconds > 0) shown.duration = seconds_text(build.seconds);
    if (build.memory_limit_mib > 0) shown.limit = mib_text(build.memory_limit_mib);
    shown.bar = render_bar(build);
    shown.done = std::to_string(std::max<std::int64_t>(build.done, 0));
    shown.total = static_cast<std::uint64_t>(std::max<std::int64_t>(build.total, 0));
    shown.phases = shown_phases(build);
    shown.memory = shown_memory(build);
    shown.cause = build.cause;
    if (!build.remedy.empty()) shown.remedy.prose(build.remedy);
    shown.log = base::join(build.log_tail, "\n");
    return shown;
}

std::vector<ShownBuild> running_builds(const FarmReport& report) {
    std::vector<ShownBuild> builds;
    for (std::size_t at = 0; at < std::min(report.attempts.size(), max_rows); ++at) {
        builds.push_back(shown_build(report.attempts[at]));
        if (builds.back().phase.empty()) builds.back().phase = report.attempts[at].state;
    }
    return builds;
}

std::vector<ShownBuild> failed_builds(const FarmReport& report) {
    std::vector<ShownBuild> builds;
    for (std::size_t at = 0; at < std::min(report.failures.size(), max_rows); ++at)
        builds.push_back(shown_build(report.failures[at]));
    return builds;
}

void add_line(std::vector<WaitingLine>& lines, const ReportedBuild& waits, const std::string& id) {
    if (lines.size() == max_rows) return;
    lines.push_back({.id = id,
                     .package = waits.package,
                     .version = waits.version,
                     .place = place_text(waits),
                     .asked = render_time(waits.asked),
                     .ended = render_time(waits.ended),
                     .purpose = waits.purpose,
                     .state = render_state(waits)});
}

void add_waiting(ShownBuilds& shown, const FarmReport& report) {
    for (const ReportedBuild& request : report.requests)
        add_line(request.ended.empty() ? shown.waiting : shown.ended_requests, request, request.id);
    for (const auto& [package, cells] : report.cells) {
        for (const ReportedBuild& cell : cells) {
            if (cell.state == "wanted" || cell.state == "held") add_line(shown.waiting, cell, "");
        }
    }
}

std::vector<AgentLine> agent_lines(const FarmReport& report) {
    std::vector<AgentLine> lines;
    for (const ReportedSite& site : report.sites) {
        AgentLine line{site.site, render_time(site.time), render_time(site.next_tick)};
        for (const ReportedQueue& held : site.held_queues)
            line.queues.push_back({held.queue, render_time(held.since), held.reason});
        lines.push_back(std::move(line));
    }
    return lines;
}

page::Frame frame_below(const page::Farm& farm, const std::string& index) {
    page::Frame frame;
    frame.farm = farm;
    frame.root = "../../";
    frame.trail = {{"../project/", index}, {"./", "Builds"}, {"../site/", "Sites"}};
    frame.data_root = "../";
    return frame;
}

std::string render_from_api(page::Frame frame, const ShownFromApi& shown) {
    frame.trail[1].url = "index.html";
    frame.scripts = {"common.js", "live.js", "build.js"};
    return page::render_page(frame, page::render("from_api.html", shown));
}

}  // namespace

std::string render_build_page(const page::Farm& farm, const std::string& index) {
    page::Frame frame = frame_below(farm, index);
    frame.title = "A build of " + index;
    frame.description = "The log, the phases and the memory of one build of " + index + ".";
    return render_from_api(
        std::move(frame),
        {.title = "Build",
         .index = index,
         .kind = "builds",
         .needs = "One build and its log; the address of this page has its site and its ID."});
}

std::string render_request_page(const page::Farm& farm, const std::string& index) {
    page::Frame frame = frame_below(farm, index);
    frame.title = "A request for " + index;
    frame.description = "What has become of one request for a wheel of " + index + ".";
    return render_from_api(std::move(frame),
                           {.title = "Request",
                            .index = index,
                            .kind = "requests",
                            .needs = "One request for a wheel; the address of this page has its ID."});
}

std::string render_builds_page(const page::Farm& farm, const std::string& index, const FarmReport& report) {
    ShownBuilds shown;
    shown.index = index;
    shown.time = render_time(report.time);
    shown.broken = count_broken(report);
    shown.running = running_builds(report);
    shown.failures = failed_builds(report);
    add_waiting(shown, report);
    shown.agents = agent_lines(report);
    page::Frame frame = frame_below(farm, index);
    frame.title = "Builds of " + index;
    frame.description = "What is being built for " + index + ", what waits, and why builds have failed.";
    frame.feed = "feed.xml";
    frame.scripts = {"common.js", "live.js", "request.js"};
    return page::render_page(frame, page::render("builds.html", shown));
}

}  // namespace wheelyard::indexer
