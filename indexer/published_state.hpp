// What a tree knows about itself: TREE/.wheelyard/published.json, rewritten whole.
//
//     {"format":"wheelyard.published/1","serial":12,"stale_roots":["main"]}
//
// `lagging` is there when a project's files or pages could not be brought up to date though all others were:
// every run tries them again.
//
// A root page is stale from before the first page of a new name is written until the root that names it is
// out. Noting it first is what lets a killed run be finished: the next one can no longer see that the name
// was new.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

// Files that are to leave the tree, by what names them there.
struct TreeFile {
    std::string sha256;
    std::string filename;
    auto operator<=>(const TreeFile&) const = default;
};
struct StaleProject {
    std::string index;
    std::string project;
    std::set<TreeFile> deleted;  // of the catalog, maybe not yet of the tree
    auto operator<=>(const StaleProject&) const = default;
};

struct PublishedState {
    catalog::Serial serial = 0;
    std::set<std::string> stale_roots;  // names of indexes
    std::set<StaleProject> lagging = {};
    bool operator==(const PublishedState&) const = default;
};

[[nodiscard]] std::string render_published_state(const PublishedState& state);
[[nodiscard]] base::Result<PublishedState> parse_published_state(std::string_view text);

}  // namespace wheelyard::indexer
