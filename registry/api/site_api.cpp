#include "registry/api/site_api.hpp"

#include <optional>
#include <string>
#include <utility>

#include "lib/io/log.hpp"
#include "lib/wheel/name.hpp"
#include "registry/api/readers.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::string_view report_operation = "reportSite";
constexpr std::string_view show_operation = "showSite";
constexpr std::string_view list_sites_operation = "listSites";

tl::unexpected<wire::Problem> refuse_report(const base::Error& error) {
    const int status = error.kind == base::ErrorKind::conflict    ? 409
                       : error.kind == base::ErrorKind::too_large ? 413
                                                                  : 400;
    return refuse(wire::Refusal::coded(status, error.code), error.sentence, error.value, error.advice);
}

// Pages, links and the queue take a package for a project: one of another spelling would be another one. The first odd one,
// and the list that has it.
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

}  // namespace

static_assert(http::max_report_body_bytes == status::max_report_bytes);

bool SiteApi::handles(std::string_view operation) {
    return operation == report_operation || operation == show_operation || operation == list_sites_operation;
}

wire::Answered<http::ApiReply> SiteApi::answer(const http::ApiRequest& request) {
    const auto token = parts_.tokens.verify(request.authorization);
    if (!token) return tl::unexpected(token.error());
    if (request.operation == list_sites_operation) return list(*token);
    const std::string index = parameter(request, "index");
    // A report names every project that its site builds.
    const bool is_known = request.operation == report_operation ? may_know(parts_.config, *token, index)
                                                                : may_read_all(parts_.config, *token, index);
    if (parts_.config.find_index(index) == nullptr || !is_known)
        return refuse("index.unknown", "There is no index with this name", index, "GET / lists the indexes");
    return request.operation == report_operation ? report(request, *token) : show(request, *token);
}

wire::Answered<http::ApiReply> SiteApi::report(const http::ApiRequest& request, const Identity& token) {
    const std::string index = parameter(request, "index");
    if (!may_report(token, index, parameter(request, "site")))
        return refuse(
            "site.scope", "This token does not permit reporting to this index", token.id,
            "use a token of an agent that may upload to the index; one that enrolled reports its own site");
    auto read = status::parse_site_report(request.body);
    if (!read) return refuse_report(read.error());
    if (read->site != parameter(request, "site") || read->index != index)
        return refuse("site.other", "The report is about another site or index than its address",
                      read->index + "/" + read->site, "send it to the address of its site");
    if (const auto odd = odd_package(*read))
        return refuse("site.package", "A package of the report is not the normalised name of a project",
                      odd->first + " in `" + odd->second + "`",
                      "name it as in the address of its page: small letters, digits and single `-`");
    if (const auto kept = parts_.reports.keep(*std::move(read)); !kept) return refuse_report(kept.error());
    return http::ApiReply{.status = 200, .json = R"({"format":"wheelyard.site_kept/1"})"};
}

wire::Answered<http::ApiReply> SiteApi::show(const http::ApiRequest& request, const Identity& token) const {
    const std::string site = parameter(request, "site");
    const IndexConfig& index = *parts_.config.find_index(parameter(request, "index"));
    auto found = parts_.reports.find(index.name, site);
    if (!found)
        return refuse("site.unknown", "No site of this name reports to this index", site,
                      "GET /api/v1/sites lists the sites");
    if (!may_read_logs(parts_.config, token, index, {})) remove_logs(*found);
    return http::ApiReply{.status = 200, .json = status::render_site_report(*found)};
}

http::ApiReply SiteApi::list(const Identity& token) const {
    io::Json sites = io::Json::array();
    const base::UnixMicros now = parts_.clock.now();
    for (const status::SiteReport& report : parts_.reports.list()) {
        if (!may_know(parts_.config, token, report.index)) continue;
        io::Json site = io::Json::object({{"site", report.site},
                                          {"index", report.index},
                                          {"time", base::render_rfc3339(report.time)},
                                          {"age_s", (now - report.time) / 1'000'000},
                                          {"late", status::late_ms(report, now).has_value()}});
        if (report.next_tick > 0) site.set("next_tick", base::render_rfc3339(report.next_tick));
        sites.push(std::move(site));
    }
    return {
        .status = 200,
        .json = io::Json::object({{"format", "wheelyard.sites/1"}, {"sites", std::move(sites)}}).render()};
}

}  // namespace wheelyard::registry
