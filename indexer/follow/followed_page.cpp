// Uses the common parsers, then requires every link to be the one that a published tree would have.
#include "indexer/follow/followed_page.hpp"

#include <algorithm>

#include "lib/base/digest.hpp"
#include "lib/base/encoding.hpp"
#include "lib/base/url.hpp"
#include "lib/simple/page.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::indexer {

namespace {

template <typename Parse>
base::Result<std::vector<Promised>> read_page(const std::string& text, const std::string& from,
                                              const std::string& project, Parse parse) {
    WHEELYARD_ASSIGN(const auto page_url, base::parse_url(from + "simple/" + project + "/"));
    WHEELYARD_ASSIGN(const auto page, parse(text, page_url));
    std::vector<Promised> files;
    for (const auto& link : page.files) {
        const TreeFile file{link.sha256, link.filename};
        const bool is_a_trees = base::is_sha256_hex(link.sha256) &&
                                wheel::parse_wheel_filename(link.filename).has_value() &&
                                link.url == from + followed_path(file);
        if (!is_a_trees || (link.has_metadata && !base::is_sha256_hex(link.metadata_sha256))) {
            return base::fail_malformed(
                "follow.link",
                "A page links a file outside the layout of a published tree, or without a hash", link.url,
                "follow an index that wheelyard publishes");
        }
        files.push_back(
            {file, link.size.value_or(0), link.has_metadata ? link.metadata_sha256 : std::string()});
    }
    return files;
}

}  // namespace

std::string followed_path(const TreeFile& file) {
    return "files/" + file.sha256.substr(0, 2) + "/" + file.sha256 + "/" +
           base::encode_percent(file.filename);
}

base::Result<std::vector<Promised>> read_followed_json(const std::string& text, const std::string& from,
                                                       const std::string& project) {
    return read_page(text, from, project, simple::parse_project_json);
}

base::Result<std::vector<Promised>> read_followed_pages(const std::string& json, const std::string& html,
                                                        const std::string& from, const std::string& project) {
    WHEELYARD_ASSIGN(auto files, read_followed_json(json, from, project));
    WHEELYARD_ASSIGN(const auto in_html, read_page(html, from, project, simple::parse_project_html));
    const bool same = std::equal(
        files.begin(), files.end(), in_html.begin(), in_html.end(), [](const Promised& a, const Promised& b) {
            return a.file == b.file && a.metadata_sha256 == b.metadata_sha256;  // HTML has no sizes
        });
    if (!same) {
        return base::fail_malformed(
            "follow.pages_differ", "The HTML and JSON pages of this project list different files", project,
            "the source may have published between the two requests; the next round retries");
    }
    return files;
}

}  // namespace wheelyard::indexer
