// Reports in an array.
#include "lib/status/index_status.hpp"

#include <algorithm>
#include <set>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/text.hpp"
#include "lib/status/codecs.hpp"
#include "lib/status/documents.hpp"

namespace wheelyard::status {

using io::Json;

namespace {

// The file may be another party's, so texts are cut and printable.
template <auto Member>
constexpr auto text_of(std::string_view name, std::string_view meaning) {
    return io::field<Text<max_text_bytes>, Member>(name, meaning, Need::optional, io::Written::if_given);
}
template <auto Member>
constexpr auto time_of(std::string_view name, std::string_view meaning) {
    return io::field<io::Time, Member>(name, meaning, Need::optional, io::Written::unless_null);
}

constexpr auto user_request_record = io::record<RequestReport>({
    text_of<&RequestReport::id>("id", "the request's ID"),
    text_of<&RequestReport::package>("package", "normalised name"),
    text_of<&RequestReport::version>("version", "as it was asked for"),
    text_of<&RequestReport::python>("python", "`3.12`"),
    text_of<&RequestReport::accelerator>("accelerator", "absent: one wheel for all accelerators"),
    text_of<&RequestReport::state>("state", "the state of the task (task.md)"),
    text_of<&RequestReport::reason>("reason", "why it waits, why nobody takes it, or why it ended so"),
    time_of<&RequestReport::asked>("asked", "when"),
    time_of<&RequestReport::ended>("ended", "when; absent: it has not ended"),
});

// With what the file says, and no agent does.
struct SiteOfIndex : io::OnlyWritten {
    static Json to(SiteReport report) {
        for (NodeReport& node : report.nodes) {
            node.gpu_code.clear();
            for (const std::string& architecture : node.architectures) {
                const auto running = accelerator::code_running_on(architecture);
                node.gpu_code.insert(node.gpu_code.end(), running.begin(), running.end());
            }
        }
        return site_report_json(report);
    }
    static std::string type() { return "object"; }
    static io::Document document() { return site_report_document(); }
};

constexpr auto status_record = io::record<IndexStatus>(
    {
        io::field<&IndexStatus::index>("index", "the index"),
        io::field<io::ListOf<SiteOfIndex>, &IndexStatus::sites>("sites",
                                                                "the last report of each site, by name"),
        member<Some<io::Nested<user_request_record>, max_requests_per_index>, &IndexStatus::requests>(
            "requests", "requests of users, open or ended lately; absent: none"),
    },
    index_status_format);

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
    return status_record.write(status).render() + "\n";
}

io::Document index_status_document() {
    return io::document_of<status_record>();
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
        io::Fault ignored;
        RequestReport read;
        if (user_request_record.read(request, read, ignored)) status.requests.push_back(std::move(read));
    }
    return status;
}

}  // namespace wheelyard::status
