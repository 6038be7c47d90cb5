// Reads a project's page of a followed tree. Our own pages are rendered from what is read here, never copied:
// an HTML page can show links to a browser or to pip that another parser does not see.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/pages/project_view.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// What a page states about one file.
struct Promised {
    TreeFile file;
    std::uint64_t size_bytes = 0;
    std::string metadata_sha256;    // empty: not served
    std::string provenance_sha256;  // the same
    std::string attestations_sha256 = {};
};

struct FollowedPage {
    std::vector<Promised> files;
    ProjectView
        view;  // of the same files, for rendering; without `metadata_name` and the bytes of `variants`
};

// Whether a project of an untrusted source can have a page: a valid, normalised name that fits a folder's name.
[[nodiscard]] bool is_usable_project(std::string_view name);

// `json`: the PEP 691 page; `from`: the index's URL, ends in '/'. "follow.link": a file is linked outside the layout
// of a published tree, is another project's, or lacks its hash, size or upload time, or one of variants is of a version
// without variant wheels on the page. "follow.twice": two files have one name. "follow.status": unknown.
[[nodiscard]] base::Result<FollowedPage> read_followed_page(const std::string& json, const std::string& from,
                                                            const std::string& project);

// "files/ab/<sha256>/<filename>", percent-encoded, relative to `from`.
[[nodiscard]] std::string followed_path(const TreeFile& file);
// "simple/<project>/<sha256>/<name>-<version>-variants.json", likewise.
[[nodiscard]] std::string followed_path(const std::string& project, const catalog::VariantsFile& file);

}  // namespace wheelyard::indexer
