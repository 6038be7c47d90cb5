// Keeps the catalogue of an index that is followed (docs/reference/catalogue.md): its wheels are those that
// our own pages show, their facts are what the catalogue over there says of the same bytes. That one is
// written behind its pages, so a wheel whose facts are not there yet is left out until a later round finds
// them.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "indexer/follow/followed_source.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/followed_state.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

struct CatalogueRound {
    std::filesystem::path tree;
    std::string index;
    std::set<std::string> projects;  // whose pages may have changed
    catalog::Serial serial = 0;      // that the pages show
    base::UnixMicros time = 0;
    bool is_anew = false;  // all projects, their facts as they are over there now
};

// After the pages of the round; durable when it returns. What it returns is left to the next round: projects
// that wait for facts, or every_project where there is no catalogue over there: then ours says no facts, as
// the pages do.
[[nodiscard]] base::Result<FollowedCatalogue> follow_catalogue(Disk& disk, FollowedSource& source,
                                                               const CatalogueRound& round,
                                                               const FollowedCatalogue& before,
                                                               const Meanwhile& meanwhile);

}  // namespace wheelyard::indexer
