// Reports in an array.
#include "lib/status/index_status.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::status {

using io::Json;

namespace {

struct RequestText {
    std::string_view name;
    std::string RequestReport::*member;
};
constexpr std::array<RequestText, 7> request_texts{{{"id", &RequestReport::id},
                                                    {"package", &RequestReport::package},
                                                    {"version", &RequestReport::version},
                                                    {"python", &RequestReport::python},
                                                    {"accelerator", &RequestReport::accelerator},
                                                    {"state", &RequestReport::state},
                                                    {"reason", &RequestReport::reason}}};

// The file may be another party's.
std::string cleaned(const std::string& text) {
    std::string shown = base::printable_line(text);
    shown.resize(base::cut_utf8(shown, max_text_bytes).size());
    return shown;
}

Json request_json(const RequestReport& request) {
    Json json = Json::object();
    for (const auto& [name, member] : request_texts) {
        if (!(request.*member).empty()) json.set(std::string(name), cleaned(request.*member));
    }
    if (request.asked > 0) json.set("asked", base::render_rfc3339(request.asked));
    if (request.ended > 0) json.set("ended", base::render_rfc3339(request.ended));
    return json;
}

RequestReport request_of(const Json& json) {
    RequestReport request;
    for (const auto& [name, member] : request_texts)
        request.*member = cleaned(json.string_or(name, {}));
    request.asked = base::parse_rfc3339(json.string_or("asked", {})).value_or(0);
    request.ended = base::parse_rfc3339(json.string_or("ended", {})).value_or(0);
    return request;
}

bool has(const std::vector<std::string>& list, const std::string& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

// "takes no requests"; empty: it may take it.
std::string why_not(const SiteReport& site, const RequestReport& request) {
    if (site.claims == "no") return "takes no requests (claim_tasks in its site file)";
    if (!site.pythons.empty() && !has(site.pythons, request.python))
        return "builds for Python " + base::join(site.pythons, ", ") + " only";
    if (site.claims == "recipes" && !site.recipes.empty() && !has(site.recipes, request.package))
        return "takes only packages that it has a recipe for (claim_tasks in its site file)";
    std::vector<std::string> accelerators;
    for (const NodeReport& node : site.nodes) {
        if (!node.accelerator.empty() && !has(accelerators, node.accelerator))
            accelerators.push_back(node.accelerator);
    }
    if (request.accelerator.empty() || site.nodes.empty() || has(accelerators, request.accelerator))
        return {};
    return accelerators.empty() ? "has no accelerator"
                                : "has only the accelerator " + base::join(accelerators, ", ");
}

}  // namespace

std::string why_nobody_takes(const RequestReport& request, const std::vector<SiteReport>& sites) {
    if (sites.empty()) return "no agent reports to this index, so nobody takes requests";
    std::set<std::string> reasons;  // an index and its staging may have the same site
    for (const SiteReport& site : sites) {
        const std::string why = why_not(site, request);
        if (why.empty()) return {};
        reasons.insert(site.site + " " + why);
    }
    return "no agent takes it: " + base::join({reasons.begin(), reasons.end()}, "; ");
}

std::string render_index_status(const IndexStatus& status) {
    Json sites = Json::array();
    for (SiteReport report : status.sites) {
        for (NodeReport& node : report.nodes) {
            node.gpu_code.clear();
            for (const std::string& architecture : node.architectures) {
                const auto running = accelerator::code_running_on(architecture);
                node.gpu_code.insert(node.gpu_code.end(), running.begin(), running.end());
            }
        }
        sites.push(site_report_json(report));
    }
    Json json =
        Json::object({{"format", index_status_format}, {"index", status.index}, {"sites", std::move(sites)}});
    if (!status.requests.empty()) {
        Json requests = Json::array();
        for (const RequestReport& request : status.requests)
            requests.push(request_json(request));
        json.set("requests", std::move(requests));
    }
    return json.render() + "\n";
}

base::Result<IndexStatus> parse_index_status(std::string_view text) {
    const auto malformed = [](std::string sentence, std::string value = {}) {
        return base::fail_malformed("index_status.format", std::move(sentence), std::move(value),
                                    "see docs/reference/site-status.md");
    };
    const auto json = io::parse_json(text, {.bytes = max_index_status_bytes, .depth = max_report_depth + 2});
    if (!json) return malformed("The status of an index is not JSON: " + json.error().sentence);
    if (json->string_or("format", "") != index_status_format)
        return malformed("The status does not have the format " + std::string(index_status_format),
                         json->string_or("format", "").substr(0, 80));
    IndexStatus status{.index = json->string_or("index", ""), .sites = {}};
    if (!is_site_name(status.index)) return malformed("The index has an invalid name");
    if (json->items("sites").size() > max_sites_per_index)
        return malformed("The status has more than " + std::to_string(max_sites_per_index) + " sites");
    for (const Json& site : json->items("sites")) {
        WHEELYARD_ASSIGN(SiteReport report, site_report_of(site));
        status.sites.push_back(std::move(report));
    }
    for (const Json& request : json->items("requests")) {
        if (status.requests.size() == max_requests_per_index) break;
        status.requests.push_back(request_of(request));
    }
    return status;
}

}  // namespace wheelyard::status
