#include "indexer/web/site_report.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "indexer/web/limits.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::indexer {

namespace {

using io::Json;

constexpr std::string_view status_format = "wheelyard.index-status/1";

ReportedBuild read_build(const Json& json, const std::string& site) {
    ReportedBuild build;
    build.site = site;
    static constexpr std::array<std::pair<std::string_view, std::string ReportedBuild::*>, 10> members{{
        {"package", &ReportedBuild::package},
        {"version", &ReportedBuild::version},
        {"python", &ReportedBuild::python},
        {"accelerator", &ReportedBuild::accelerator},
        {"state", &ReportedBuild::state},
        {"reason", &ReportedBuild::reason},
        {"phase", &ReportedBuild::phase},
        {"ended", &ReportedBuild::ended},
        {"cause", &ReportedBuild::cause},
        {"remedy", &ReportedBuild::remedy},
    }};
    for (const auto& [name, field] : members)
        build.*field = json.string_or(name, {});
    build.done = json.int_or("done", 0);
    build.total = json.int_or("total", 0);
    build.log_tail = json.texts("log_tail");
    return build;
}

void add_builds(std::vector<ReportedBuild>& builds, const Json& report, std::string_view list,
                const std::string& site) {
    for (const Json& item : report.items(list)) {
        if (builds.size() == max_status_items) return;
        builds.push_back(read_build(item, site));
    }
}

// `gpus` counts them; their architectures are those of the accelerator, which may be unknown.
avail_wheels::Node read_node(const Json& json, const std::vector<std::string>& pythons) {
    avail_wheels::Node node;
    node.name = json.string_or("name", {});
    const auto architectures = json.texts("architectures");
    if (!architectures.empty() || json.string_or("accelerator", {}).empty())
        node.gpus = avail_wheels::Gpus{architectures, {}};
    for (const std::string& text : pythons) {
        if (auto python = avail_wheels::parse_python(text)) node.pythons.push_back(std::move(*python));
    }
    return node;
}

void add_site(SiteReport& report, const Json& document) {
    const std::string site = document.string_or("site", {});
    const std::string time = document.string_or("time", {});
    report.time = std::max(report.time, time);
    report.sites.push_back({site, time, document.string_or("next_tick", {})});
    for (const Json& node : document.items("nodes"))
        report.nodes.push_back({site, read_node(node, document.texts("pythons"))});
    std::vector<ReportedBuild> cells;
    add_builds(cells, document, "cells", site);
    for (ReportedBuild& cell : cells)
        report.cells[cell.package].push_back(std::move(cell));
    add_builds(report.attempts, document, "attempts", site);
    add_builds(report.failures, document, "failures", site);
}

}  // namespace

SiteReport parse_site_report(std::string_view json) {
    SiteReport report;
    const auto document = io::parse_json(json);
    if (!document || document->string_or("format", {}) != status_format) return report;
    for (const Json& site : document->items("sites")) {
        if (report.sites.size() == max_status_items) break;
        add_site(report, site);
    }
    return report;
}

}  // namespace wheelyard::indexer
