// The reports of sites' agents: kept, shown, listed.

#include <optional>
#include <string>
#include <utility>

#include "lib/io/log.hpp"
#include "lib/status/documents.hpp"
#include "lib/wheel/name.hpp"
#include "registry/api/api.hpp"
#include "registry/api/operation.hpp"
#include "registry/api/readers.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {
namespace {

using io::field;

tl::unexpected<wire::Problem> refuse_report(const base::Error& error) {
    const int status = error.kind == base::ErrorKind::conflict    ? 409
                       : error.kind == base::ErrorKind::too_large ? 413
                                                                  : 400;
    return refuse(wire::Refusal::coded(status, error.code), error.sentence, error.value, error.advice);
}

// Pages, links and the queue take a package for a project: one of another spelling would be another one. The
// first odd one, and the list that has it.
std::optional<std::pair<std::string, std::string>> odd_package(const status::SiteReport& report) {
    std::optional<std::pair<std::string, std::string>> odd;
    const auto look = [&odd](const auto& list, const char* name) {
        for (const auto& one : list) {
            const bool is_good =
                wheel::is_valid_name(one.package) && wheel::normalize_name(one.package) == one.package;
            if (!odd && !is_good) odd.emplace(one.package, name);
        }
    };
    look(report.cells, "cells");
    look(report.attempts, "attempts");
    look(report.failures, "failures");
    look(report.finished, "finished");
    return odd;
}

static_assert(http::max_report_body_bytes == status::max_report_bytes);

struct OneSite {
    std::string index;
    std::string site;
};
constexpr auto index_of_site = in_path(field<&OneSite::index>("index", "The index"));
constexpr auto site_of_report = in_path(field<&OneSite::site>("site", "The name of the site"));
constexpr auto of_site = arguments<OneSite>({index_of_site, site_of_report});
constexpr auto of_report = arguments<OneSite>({
    index_of_site,
    site_of_report,
    in_document<OneSite>("site", "The name of the site", true),
    in_document<OneSite>("index", "The index to which it uploads", true),
    in_document<OneSite>("time", "When it was made", true),
    in_document<OneSite>("program", "The version of the agent"),
    in_document<OneSite>("next_tick", "When the next one is due"),
    in_document<OneSite>("cut", "Whether parts were left out", false, &io::Plain<bool>::type),
    in_document<OneSite>("pythons", "The Pythons of the site", false, texts_type),
    in_document<OneSite>("nodes", "Its node types", false, objects_type),
    in_document<OneSite>("cells", "What it wants, has and lacks", false, objects_type),
    in_document<OneSite>("attempts", "What it builds", false, objects_type),
    in_document<OneSite>("failures", "What failed", false, objects_type),
    in_document<OneSite>("held_queues", "Queues that take no jobs", false, objects_type),
});

io::Document kept_document() {
    return {.name = "wheelyard.site_kept/1"};
}

Reply report_site(const ApiParts& parts, const Call& call, const OneSite& of) {
    if (!may_report(call.who(), of.index, of.site)) return refuse_reporting(call.who());
    auto read = status::parse_site_report(call.request.body);
    if (!read) return refuse_report(read.error());
    if (read->site != of.site || read->index != of.index)
        return refuse("site.other", "The report is about another site or index than its address",
                      read->index + "/" + read->site, "send it to the address of its site");
    if (const auto odd = odd_package(*read))
        return refuse("site.package", "A package of the report is not the normalised name of a project",
                      odd->first + " in `" + odd->second + "`",
                      "name it as in the address of its page: small letters, digits and single `-`");
    if (const auto kept = parts.sites->keep(*std::move(read)); !kept) return refuse_report(kept.error());
    return reply_with(io::Json::object({{"format", kept_document().name}}));
}

Reply show_site(const ApiParts& parts, const Call& call, const OneSite& of) {
    // A report names every project that its site builds.
    if (parts.config->find_index(of.index) == nullptr || !may_read_all(parts.config, call.who(), of.index))
        return unknown_index(parts.config, of.index);
    const IndexConfig& index = *parts.config->find_index(of.index);
    auto found = parts.sites->find(index.name, of.site);
    if (!found)
        return refuse("site.unknown", "No site of this name reports to this index", of.site,
                      "GET /api/v1/sites lists the sites");
    if (!may_read_logs(parts.config, call.caller, index, {})) remove_logs(*found);
    return reply_with(status::render_site_report(*found));
}

struct ShownSite {
    status::SiteReport report;
    std::int64_t age_s = 0;
    bool is_late = false;
};
using status::SiteReport;
constexpr auto shown_site_record = io::record<ShownSite>({
    field<&ShownSite::report, &SiteReport::site>("site", "its name"),
    field<&ShownSite::report, &SiteReport::index>("index", "the index to which it uploads"),
    field<io::Moment, &ShownSite::report, &SiteReport::time>("time", "when its last tick ended"),
    field<&ShownSite::age_s>("age_s", "how long ago, in seconds"),
    field<&ShownSite::is_late>("late", "whether its next report is overdue"),
    field<io::Time, &ShownSite::report, &SiteReport::next_tick>("next_tick", "when its next tick is due",
                                                                io::Need::optional, io::Written::unless_null),
});
constexpr auto sites_record =
    io::record_of<std::vector<ShownSite>, io::ListOf<io::Nested<shown_site_record>>>(
        "sites", "of the indexes that the caller may know", "wheelyard.sites/1");

Reply list_sites(const ApiParts& parts, const Call& call, const NoArguments&) {
    std::vector<ShownSite> shown;
    const base::UnixMicros now = parts.clock.now();
    for (status::SiteReport& report : parts.sites->list()) {
        if (!may_know(parts.config, call.who(), report.index)) continue;
        const std::int64_t age_s = (now - report.time) / 1'000'000;
        const bool is_late = status::late_ms(report, now).has_value();
        shown.push_back({std::move(report), age_s, is_late});
    }
    return reply_with(sites_record.write(shown));
}

constexpr http::Operation reported() {
    http::Operation operation = posted("/api/v1/indexes/{index}/sites/{site}", "reportSite", kept_document,
                                       "Keeps the report of a site's agent and shows it in the status of the "
                                       "index",
                                       http::BodyKind::document, "wheelyard.site/1");
    operation.method = "PUT";
    operation.max_body_bytes = http::max_report_body_bytes;
    return operation;
}

constexpr std::array site_rows{
    row<no_arguments, list_sites>(got("/api/v1/sites", "listSites", io::document_of<sites_record>,
                                      "Lists the sites that report, and which of them are late"),
                                  "request.arguments", {.advice = "any action on it"}),
    row<of_site, show_site>(
        got("/api/v1/indexes/{index}/sites/{site}", "showSite", status::site_report_document,
            "Returns the last report of a site: what it wants, has, builds and lacks"),
        "request.arguments", {.advice = "`read` for all projects"}),
    row<of_report, report_site>(reported(), "request.arguments", of_reporters),
};

}  // namespace

std::span<const OperationRow> site_operations() {
    return site_rows;
}

}  // namespace wheelyard::registry
