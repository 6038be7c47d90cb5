// What a tree knows about itself: TREE/.wheelyard/published.json, rewritten whole.
//
//     {"format":"wheelyard.published/1","serial":12,"stale_roots":["main"]}
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

struct PublishedState {
    catalog::Serial serial = 0;
    std::set<std::string> stale_roots;  // names of indexes
    bool operator==(const PublishedState&) const = default;
};

[[nodiscard]] std::string render_published_state(const PublishedState& state);
[[nodiscard]] base::Result<PublishedState> parse_published_state(std::string_view text);

}  // namespace wheelyard::indexer
