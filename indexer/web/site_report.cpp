#include "indexer/web/site_report.hpp"

#include <array>
#include <utility>

#include "indexer/web/limits.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::indexer {

namespace {

using io::Json;

constexpr std::string_view status_format = "wheelyard.status/1";

ReportedBuild read_build(const Json& json) {
    ReportedBuild build;
    static constexpr std::array<std::pair<std::string_view, std::string ReportedBuild::*>, 11> members{{
        {"site", &ReportedBuild::site},
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

std::vector<ReportedBuild> read_builds(const Json& document, std::string_view name) {
    std::vector<ReportedBuild> builds;
    for (const Json& item : document.items(name)) {
        if (builds.size() == max_status_items) break;
        builds.push_back(read_build(item));
    }
    return builds;
}

avail_wheels::Node read_node(const Json& json) {
    avail_wheels::Node node = avail_wheels::node_from_json(json);
    const Json* gpus = json.find("gpus");
    if (gpus != nullptr && gpus->as_array() != nullptr) node.gpus = avail_wheels::Gpus{gpus->texts(), {}};
    return node;
}

}  // namespace

SiteReport parse_site_report(std::string_view json) {
    SiteReport report;
    const auto document = io::parse_json(json);
    if (!document || document->string_or("format", {}) != status_format) return report;
    report.time = document->string_or("time", {});
    for (const Json& item : document->items("sites")) {
        if (report.sites.size() == max_status_items) break;
        const std::string site = item.string_or("site", {});
        report.sites.push_back(
            {site, item.string_or("time", {}), item.string_or("next_tick", {}), item.bool_or("late", false)});
        for (const Json& node : item.items("nodes"))
            report.nodes.push_back({site, read_node(node)});
    }
    for (ReportedBuild& cell : read_builds(*document, "cells"))
        report.cells[cell.package].push_back(std::move(cell));
    report.attempts = read_builds(*document, "attempts");
    report.failures = read_builds(*document, "failures");
    return report;
}

}  // namespace wheelyard::indexer
