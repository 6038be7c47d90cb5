// Asks the URL and the folders above it for "wheelyard.indexes/1" (registry/http/front_pages.hpp).
#include "indexer/avail_wheels/source/source.hpp"

#include <cstdint>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/registry_address.hpp"

namespace wheelyard::avail_wheels {

namespace {

constexpr std::uint64_t max_front_page_bytes = base::mib;  // a registry has few indexes

base::Result<io::HttpAnswer> ask(const simple::GetPage& get, const std::string& url) {
    return get(url, {{"Accept", "application/json, application/vnd.pypi.simple.v1+json"}},
               max_front_page_bytes);
}

// The URLs of the indexes that a front page lists; empty: it is none.
std::vector<std::string> indexes_on(const io::HttpAnswer& page) {
    std::vector<std::string> urls;
    constexpr int status_ok = 200;
    if (page.status != status_ok) return urls;
    const auto json = io::parse_json(page.body);
    if (!json || json->string_or("format", {}) != "wheelyard.indexes/1") return urls;
    for (const auto& index : json->items("indexes"))
        urls.push_back(index.string_or("url", {}));
    return urls;
}

}  // namespace

base::Status check_index(const simple::GetPage& get, const std::string& index_url) {
    const std::string url = index_url + (index_url.ends_with('/') ? "" : "/");
    const auto page = ask(get, url);
    if (!page) return {};  // a page that is too large for this question is an index
    std::vector<std::string> indexes = indexes_on(*page);
    constexpr int status_not_found = 404;
    if (indexes.empty() && page->status != status_not_found) return {};
    for (std::string folder = simple::folder_above(url); indexes.empty() && !folder.empty();
         folder = simple::folder_above(folder)) {
        if (const auto answer = ask(get, folder)) indexes = indexes_on(*answer);
    }
    const auto parsed = base::parse_url(url);
    std::string reason = simple::told_refusal(*page).reason;
    return base::fail("index.absent", reason.empty() ? "There is no index at this URL" : std::move(reason),
                      parsed ? parsed->text_without_secrets() : std::string(),
                      indexes.empty() ? "check the URL: that of an index usually ends in /simple/"
                                      : "the indexes there are " + base::join(indexes, ", "));
}

}  // namespace wheelyard::avail_wheels
