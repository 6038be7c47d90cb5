// The builds of an index as its sites report them: lists that live.js fills again while the page is open. A build
// that runs or has failed is an item of its own with an address (#build-ID), to which the page of its project leads.
#include <algorithm>

#include "indexer/web/index_pages.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/frame.hpp"

namespace wheelyard::indexer {

using page::Html;
using page::Literal;

namespace {

constexpr std::size_t max_rows = 200;
constexpr std::int64_t max_shown_seconds = std::int64_t{10} * 366 * 24 * 3600;

// The form works only with the script, and where a server answers.
constexpr Literal request_form =
    "\">\n<h2 id=\"ask\">Ask for a wheel</h2>\n"
    "<div id=\"request-needs\"><p>The form for this needs JavaScript and the server of this farm: a copy of "
    "the "
    "pages has none. In a shell, with a token of the farm:</p>\n"
    "<pre>avail_wheels --request torch==2.4.0</pre></div>\n<div id=\"request-form\" hidden>\n"
    "<p class=\"quiet\">An agent of the site takes the request at its next run. You need a token with the "
    "action <code>task</code>; ask the operator of this farm for one. Without a token the request waits for "
    "an approval, where the operator permits it. The token stays in this tab. Several "
    "Pythons or accelerators, separated by spaces, are a request each.</p>\n"
    "<form class=\"search\">\n"
    "<label>Package <input name=\"package\" required autocomplete=\"off\"></label>\n"
    "<label>Version <input name=\"version\" required autocomplete=\"off\" placeholder=\"2.4.0\"></label>\n"
    "<label>Python <input name=\"python\" required list=\"pythons\" autocomplete=\"off\" "
    "placeholder=\"3.12\"></label>\n"
    "<label>Accelerator <input name=\"accelerator\" list=\"accelerators\" autocomplete=\"off\" "
    "placeholder=\"none\"></label>\n"
    "<label>Token <input name=\"token\" type=\"password\" autocomplete=\"off\"></label>\n"
    "<button type=\"submit\">Ask</button>\n<datalist id=\"pythons\"></datalist><datalist "
    "id=\"accelerators\"></datalist>\n"
    "</form>\n<p id=\"request-answer\" class=\"quiet\" role=\"status\"></p>\n<ul id=\"requests\" "
    "class=\"builds\"></ul>\n"
    "</div>\n</section>\n";

void begin_list(Html& html, Literal title, Literal id) {
    html.add("<h2>").add(title).add("</h2>\n<ul id=\"").add(id).add("\" class=\"builds\">\n");
}

void end_list(Html& html, bool has_rows, Literal empty) {
    if (!has_rows) html.add("<li class=\"quiet\">").add(empty).add("</li>\n");
    html.add("</ul>\n");
}

std::string mib_text(std::int64_t mib) {
    return base::render_bytes(static_cast<std::uint64_t>(mib) * base::mib);
}

std::string seconds_text(std::int64_t seconds) {
    constexpr std::int64_t minute = 60;  // reports have whole seconds
    if (seconds < minute) return std::to_string(seconds) + " s";
    return base::render_duration_ms(std::min(seconds, max_shown_seconds) * 1000);
}

// The item of a build that runs or has failed, up to its heading.
void begin_build(Html& html, const ReportedBuild& build) {
    html.add("<li class=\"card\"");
    if (!build.id.empty()) html.add(" id=\"").text(build_anchor(build.id)).add("\"");
    html.add("><h3>").text(build.package).add(" ").text(build.version).add(" ");
}

// The address of a build's own page, which its site and its ID make.
void add_link(Html& html, const ReportedBuild& build) {
    if (build.id.empty()) return;
    html.add(" · <a href=\"build.html?site=").url(base::encode_percent(build.site)).add("&amp;id=");
    html.url(base::encode_percent(build.id)).add("\">Log and history</a>");
}

// "prepare 12.0 s · build 41 min 07 s"
void add_phases(Html& body, const ReportedBuild& build) {
    if (build.phases.empty() || build.phases.size() != build.phase_seconds.size()) return;
    body.add("<p class=\"quiet\">");
    for (std::size_t at = 0; at < build.phases.size(); ++at) {
        if (at > 0) body.add(" · ");
        body.text(build.phases[at]).add(" ").text(seconds_text(build.phase_seconds[at]));
    }
    body.add("</p>\n");
}

// The memory of the compiles over time, below the line of the limit. live.js draws the same.
void add_memory(Html& body, const ReportedBuild& build) {
    if (build.memory_mib.empty() || build.memory_limit_mib <= 0) return;
    constexpr std::uint64_t width = 240;
    constexpr std::uint64_t height = 48;
    const std::int64_t peak = *std::max_element(build.memory_mib.begin(), build.memory_mib.end());
    const auto top = static_cast<std::uint64_t>(std::max(peak, build.memory_limit_mib));
    const auto y_of = [&](std::int64_t mib) {
        return height - static_cast<std::uint64_t>(mib) * height / top;
    };
    const std::uint64_t limit = y_of(build.memory_limit_mib);
    body.add("<p><svg class=\"memory\" viewBox=\"0 -1 ").number(width).add(" ").number(height + 2);
    body.add("\" role=\"img\" aria-label=\"Memory of its compiles over time\"><path class=\"limit\" d=\"M0 ");
    body.number(limit).add("H").number(width).add("\"/><path d=\"M0 ").number(height);
    const std::size_t count = build.memory_mib.size();
    for (std::size_t at = 0; at < count; ++at)
        body.add("L")
            .number(at * width / count)
            .add(" ")
            .number(y_of(build.memory_mib[at]))
            .add("H")
            .number((at + 1) * width / count);
    body.add("V")
        .number(height)
        .add("\"/></svg> memory of its compiles: ")
        .text(mib_text(build.memory_mib.back()));
    body.add(" now, peak ").text(mib_text(peak)).add(", limit ").text(mib_text(build.memory_limit_mib));
    body.add("</p>\n");
}

void add_log(Html& body, const ReportedBuild& build) {
    if (build.log_tail.empty()) return;
    body.add("<details><summary>Last lines of its log</summary><pre>")
        .text(base::join(build.log_tail, "\n"))
        .add("</pre></details>");
}

void add_running(Html& body, const FarmReport& report) {
    begin_list(body, "Running", "running");
    for (std::size_t at = 0; at < std::min(report.attempts.size(), max_rows); ++at) {
        const ReportedBuild& build = report.attempts[at];
        begin_build(body, build);
        body.add("<span class=\"state active\">").text(build.phase.empty() ? build.state : build.phase);
        body.add("</span></h3>\n<p class=\"quiet\">");
        body.add(render_place(build));
        if (!build.began.empty()) body.add(" · began ").add(render_time(build.began));
        if (build.memory_limit_mib > 0)
            body.add(" · at most ").text(mib_text(build.memory_limit_mib)).add(" of memory");
        add_link(body, build);
        body.add("</p>\n");
        if (build.total > 0)
            body.add("<p>")
                .add(render_bar(build))
                .add(" ")
                .number(static_cast<std::uint64_t>(std::max<std::int64_t>(build.done, 0)))
                .add(" of ")
                .number(static_cast<std::uint64_t>(build.total))
                .add(" steps</p>\n");
        add_phases(body, build);
        add_memory(body, build);
        add_log(body, build);
        body.add("</li>\n");
    }
    end_list(body, !report.attempts.empty(), "Nothing is being built.");
}

void add_failures(Html& body, const FarmReport& report) {
    begin_list(body, "Failed", "failures");
    for (std::size_t at = 0; at < std::min(report.failures.size(), max_rows); ++at) {
        const ReportedBuild& build = report.failures[at];
        begin_build(body, build);
        body.add("<span class=\"state failed\">failed</span></h3>\n<p class=\"quiet\">");
        body.add(render_place(build));
        if (!build.phase.empty()) body.add(" · in phase ").text(build.phase);
        if (build.seconds > 0) body.add(" · after ").text(seconds_text(build.seconds));
        if (!build.ended.empty()) body.add(" · ").add(render_time(build.ended));
        add_link(body, build);
        body.add("</p>\n");
        if (!build.cause.empty()) body.add("<pre>").text(build.cause).add("</pre>\n");
        if (!build.remedy.empty())
            body.add("<p class=\"note\"><strong>What to do:</strong> ").text(build.remedy).add("</p>\n");
        add_log(body, build);
        body.add("</li>\n");
    }
    end_list(body, !report.failures.empty(), "No build has failed.");
}

void add_queue(Html& body, const FarmReport& report) {
    begin_list(body, "Waiting", "queue");
    std::size_t rows = 0;
    for (const ReportedBuild& request : report.requests) {
        if (rows++ == max_rows) break;
        body.add("<li class=\"row\"><strong><a href=\"request.html?id=")
            .url(base::encode_percent(request.id));
        body.add("\">").text(request.package).add(" ").text(request.version);
        body.add("</a></strong><span class=\"quiet\">").add(render_place(request));
        if (!request.asked.empty()) body.add(" · asked ").add(render_time(request.asked));
        body.add("</span><span>").add(render_state(request)).add("</span></li>\n");
    }
    for (const auto& [package, cells] : report.cells) {
        for (const ReportedBuild& cell : cells) {
            if ((cell.state != "wanted" && cell.state != "held") || rows >= max_rows) continue;
            ++rows;
            body.add("<li class=\"row\"><strong>").text(cell.package).add(" ").text(cell.version);
            body.add("</strong><span class=\"quiet\">");
            body.add(render_place(cell));
            if (!cell.purpose.empty()) body.add(" · ").text(cell.purpose);
            body.add("</span><span>").add(render_state(cell)).add("</span></li>\n");
        }
    }
    end_list(body, rows > 0, "Nothing waits.");
}

// Whether a site is late depends on the reader's clock: the script says it.
void add_agents(Html& body, const FarmReport& report) {
    begin_list(body, "Agents", "agents");
    for (const ReportedSite& site : report.sites) {
        body.add("<li class=\"row\"><strong>").text(site.site).add("</strong><span>last report ");
        body.add(render_time(site.time)).add("</span><span class=\"quiet\">");
        if (!site.next_tick.empty()) body.add("next expected ").add(render_time(site.next_tick));
        body.add("</span>");
        for (const ReportedQueue& held : site.held_queues) {
            body.add("<span class=\"note\">");
            if (held.queue.empty()) body.add("The default queue");
            if (!held.queue.empty()) body.add("Queue ").text(held.queue);
            body.add(" takes no jobs");
            if (!held.since.empty()) body.add(", first refused ").add(render_time(held.since));
            body.add(": ").text(held.reason).add("</span>");
        }
        body.add("</li>\n");
    }
    end_list(body, !report.sites.empty(), "No site has reported.");
}

page::Frame frame_below(const page::Farm& farm, const std::string& index) {
    page::Frame frame;
    frame.farm = farm;
    frame.root = "../../";
    frame.trail = {{"../project/", index}, {"./", "Builds"}};
    frame.data_root = "../";
    return frame;
}

}  // namespace

namespace {

// What it shows comes from the API, which the address tells the script what to ask for.
std::string render_from_api(page::Frame frame, Literal title, Literal kind, Literal needs,
                            const std::string& index) {
    Html body("<h1 id=\"title\">");
    body.add(title).add("<small>").text(index).add("</small></h1>\n<div id=\"build\" data-kind=\"");
    body.add(kind).add("\" data-index=\"").text(index).add("\">\n<p id=\"build-needs\">").add(needs);
    body.add(
        " This needs JavaScript and the server of this farm. <a href=\"./\">The page of builds</a> leads "
        "here.</p>\n</div>\n");
    frame.trail.back().url = "index.html";
    frame.scripts = {"common.js", "live.js", "build.js"};
    return page::render_page(frame, body);
}

}  // namespace

std::string render_build_page(const page::Farm& farm, const std::string& index) {
    page::Frame frame = frame_below(farm, index);
    frame.title = "A build of " + index;
    frame.description = "The log, the phases and the memory of one build of " + index + ".";
    return render_from_api(std::move(frame), "Build", "builds",
                           "One build and its log; the address of this page has its site and its ID.", index);
}

std::string render_request_page(const page::Farm& farm, const std::string& index) {
    page::Frame frame = frame_below(farm, index);
    frame.title = "A request for " + index;
    frame.description = "What has become of one request for a wheel of " + index + ".";
    return render_from_api(std::move(frame), "Request", "requests",
                           "One request for a wheel; the address of this page has its ID.", index);
}

std::string render_builds_page(const page::Farm& farm, const std::string& index, const FarmReport& report) {
    Html lists("<p class=\"quiet\">");
    if (report.time.empty())
        lists.add("No site reports to this index yet");
    else
        lists.add("As of ");
    lists.add("<span id=\"status-time\">").add(render_time(report.time)).add("</span>.</p>\n");
    add_running(lists, report);
    add_failures(lists, report);
    add_queue(lists, report);
    add_agents(lists, report);
    Html body("<h1>Builds<small>");
    body.text(index)
        .add("</small></h1>\n<div id=\"builds\">\n")
        .add(between_status_marks(lists))
        .add("</div>\n");
    body.add("<section id=\"request\" aria-labelledby=\"ask\" data-index=\"").text(index).add(request_form);
    page::Frame frame = frame_below(farm, index);
    frame.title = "Builds of " + index;
    frame.description = "What is being built for " + index + ", what waits, and why builds have failed.";
    frame.scripts = {"common.js", "live.js", "request.js"};
    return page::render_page(frame, body);
}

}  // namespace wheelyard::indexer
