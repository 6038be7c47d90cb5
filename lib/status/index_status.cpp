// Reports in an array.
#include "lib/status/index_status.hpp"

namespace wheelyard::status {

using io::Json;

std::string render_index_status(const IndexStatus& status) {
    Json sites = Json::array();
    for (const SiteReport& report : status.sites)
        sites.push(site_report_json(report));
    return Json::object(
               {{"format", index_status_format}, {"index", status.index}, {"sites", std::move(sites)}})
               .render() +
           "\n";
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
    return status;
}

}  // namespace wheelyard::status
