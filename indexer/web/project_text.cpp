// Reads what people want to know from METADATA, tolerantly: a page without a summary is better than none.
#include <algorithm>
#include <array>
#include <utility>

#include "indexer/web/project_page.hpp"
#include "lib/base/text/text.hpp"
#include "lib/page/html.hpp"
#include "lib/wheel/metadata.hpp"

namespace wheelyard::indexer {

namespace {

void add_link(ProjectText& text, std::string label, std::string_view url) {
    const bool is_web = url.starts_with("https://") || url.starts_with("http://");
    if (is_web && page::is_safe_url(url)) text.links.emplace_back(std::move(label), url);
}

}  // namespace

ProjectText read_project_text(std::string_view metadata) {
    ProjectText text;
    const auto headers = wheel::parse_headers(metadata);
    if (!headers) return text;
    const auto first = [&](std::string_view name) {
        const auto* value = headers->first(name);
        return value == nullptr ? std::string() : *value;
    };
    text.name = first("Name");
    text.summary = first("Summary");
    text.keywords = first("Keywords");
    text.licence = wheel::stated_license(*headers).text;
    text.description = headers->body.empty() ? first("Description") : headers->body;
    text.description_type = first("Description-Content-Type");
    add_link(text, "Homepage", first("Home-page"));
    for (const std::string& link : headers->all("Project-URL")) {
        const auto comma = link.find(',');
        if (comma == std::string::npos) continue;
        add_link(text, std::string(base::trim(std::string_view(link).substr(0, comma))),
                 base::trim(std::string_view(link).substr(comma + 1)));
    }
    text.requirements = headers->all("Requires-Dist");
    return text;
}

}  // namespace wheelyard::indexer
