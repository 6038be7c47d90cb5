// The builds of an index as its sites report them: the tables that live.js fills again while the page is open.
#include <algorithm>

#include "indexer/web/index_pages.hpp"
#include "indexer/web/state_cell.hpp"
#include "lib/base/text.hpp"
#include "lib/page/frame.hpp"

namespace wheelyard::indexer {

using page::Html;
using page::Literal;

namespace {

constexpr std::size_t max_rows = 200;

// Works only with the script, and where a server answers.
constexpr Literal request_form =
    "\">\n<h2 id=\"ask\">Ask for a wheel</h2>\n"
    "<p class=\"quiet\">The site builds it at its next tick. You need a token with the action "
    "<code>task</code>; it stays in "
    "this tab.</p>\n"
    "<form class=\"search\">\n"
    "<label>Package <input name=\"package\" required autocomplete=\"off\"></label>\n"
    "<label>Version <input name=\"version\" required autocomplete=\"off\" placeholder=\"2.4.0\"></label>\n"
    "<label>Python <input name=\"python\" required list=\"pythons\" autocomplete=\"off\" "
    "placeholder=\"3.12\"></label>\n"
    "<label>Accelerator <input name=\"accelerator\" list=\"accelerators\" autocomplete=\"off\" "
    "placeholder=\"none\"></label>\n"
    "<label>Token <input name=\"token\" type=\"password\" required autocomplete=\"off\"></label>\n"
    "<button>Ask</button>\n<datalist id=\"pythons\"></datalist><datalist id=\"accelerators\"></datalist>\n"
    "</form>\n<p id=\"request-answer\" class=\"quiet\" role=\"status\"></p>\n<ul id=\"requests\" "
    "class=\"requests\"></ul>\n"
    "</section>\n";

Html begin_table(Literal title, Literal id, Literal columns) {
    Html html("<h2>");
    html.add(title)
        .add("</h2>\n<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"")
        .add(title);
    return html.add("\">\n<table id=\"")
        .add(id)
        .add("\"><thead><tr>")
        .add(columns)
        .add("</tr></thead>\n<tbody>\n");
}

void end_table(Html& html, bool has_rows, Literal empty) {
    if (!has_rows) html.add("<tr>").add(empty).add("</tr>\n");
    html.add("</tbody></table>\n</div>\n");
}

// The first three cells of a row: package and version, site, Python and accelerator.
void add_build(Html& html, const ReportedBuild& build) {
    html.add("<tr><th scope=\"row\">").text(build.package).add(" ").text(build.version).add("</th><td>");
    html.text(build.site).add("</td><td>Python ").text(build.python);
    if (!build.accelerator.empty()) html.add(", ").text(build.accelerator);
    html.add("</td>");
}

// Whether a site is late depends on the reader's clock: the script says it.
void add_agents(Html& body, const FarmReport& report) {
    body.add(begin_table("Agents", "agents",
                         "<th scope=\"col\">Site</th><th scope=\"col\">Last sign of life</th>"
                         "<th scope=\"col\">Next expected</th><th scope=\"col\">State</th>"));
    for (const ReportedSite& site : report.sites) {
        body.add("<tr><th scope=\"row\">").text(site.site).add("</th><td>").text(short_time(site.time));
        body.add("</td><td>").text(short_time(site.next_tick)).add("</td><td></td></tr>\n");
    }
    end_table(body, !report.sites.empty(), "<td colspan=\"4\" class=\"quiet\">No site has reported.</td>");
}

void add_running(Html& body, const FarmReport& report) {
    body.add(
        begin_table("Running", "running",
                    "<th scope=\"col\">Wheel</th><th scope=\"col\">Site</th><th scope=\"col\">For</th>"
                    "<th scope=\"col\">Phase</th><th scope=\"col\">Progress</th><th scope=\"col\">Log</th>"));
    for (std::size_t at = 0; at < std::min(report.attempts.size(), max_rows); ++at) {
        const ReportedBuild& build = report.attempts[at];
        add_build(body, build);
        body.add("<td>")
            .text(build.phase.empty() ? build.state : build.phase)
            .add("</td><td>")
            .add(render_bar(build));
        body.add("</td><td>");
        if (!build.log_tail.empty())
            body.add("<details><summary>last lines</summary><pre>")
                .text(base::join(build.log_tail, "\n"))
                .add("</pre></details>");
        body.add("</td></tr>\n");
    }
    end_table(body, !report.attempts.empty(),
              "<td colspan=\"6\" class=\"quiet\">Nothing is being built.</td>");
}

void add_queue(Html& body, const FarmReport& report) {
    body.add(begin_table("Waiting", "queue",
                         "<th scope=\"col\">Wheel</th><th scope=\"col\">Site</th><th "
                         "scope=\"col\">For</th><th scope=\"col\">State</th>"));
    std::size_t rows = 0;
    for (const auto& [package, cells] : report.cells) {
        for (const ReportedBuild& cell : cells) {
            if ((cell.state != "wanted" && cell.state != "held") || rows == max_rows) continue;
            ++rows;
            add_build(body, cell);
            body.add("<td>").add(render_state(cell)).add("</td></tr>\n");
        }
    }
    end_table(body, rows > 0, "<td colspan=\"4\" class=\"quiet\">Nothing waits.</td>");
}

void add_failures(Html& body, const FarmReport& report) {
    body.add(begin_table(
        "Failed", "failures",
        "<th scope=\"col\">Wheel</th><th scope=\"col\">Site</th><th scope=\"col\">For</th>"
        "<th scope=\"col\">Ended</th><th scope=\"col\">Cause</th><th scope=\"col\">What to do</th>"));
    for (std::size_t at = 0; at < std::min(report.failures.size(), max_rows); ++at) {
        const ReportedBuild& build = report.failures[at];
        add_build(body, build);
        body.add("<td>").text(short_time(build.ended)).add("</td><td>").text(build.cause).add("</td><td>");
        body.text(build.remedy).add("</td></tr>\n");
    }
    end_table(body, !report.failures.empty(), "<td colspan=\"6\" class=\"quiet\">No build has failed.</td>");
}

}  // namespace

std::string render_builds_page(const std::string& index, const FarmReport& report) {
    Html tables("<p class=\"quiet\">");
    if (report.time.empty())
        tables.add("No site reports to this index yet");
    else
        tables.add("As of ");
    tables.add("<span id=\"status-time\">").text(short_time(report.time)).add("</span>.</p>\n");
    add_agents(tables, report);
    add_running(tables, report);
    add_queue(tables, report);
    add_failures(tables, report);
    Html body("<h1>Builds<small>");
    body.text(index)
        .add("</small></h1>\n<div id=\"builds\">\n")
        .add(between_status_marks(tables))
        .add("</div>\n");
    body.add("<section id=\"request\" aria-labelledby=\"ask\" hidden data-index=\"")
        .text(index)
        .add(request_form);
    page::Frame frame;
    frame.title = "Builds of " + index;
    frame.root = "../../";
    frame.trail = {{"../project/", "All of " + index}, {"./", "Builds"}};
    frame.scripts = {"common.js", "live.js", "request.js"};
    frame.data_root = "../";
    return page::render_page(frame, body);
}

}  // namespace wheelyard::indexer
