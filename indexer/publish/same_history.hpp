// Checks that a tree and a catalog share one history: the tree records the last event that it shows.
#pragma once

#include <filesystem>

#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::indexer {

// Errors: "publish.tree_ahead", "publish.other_catalog"; both of kind conflict, as no other error of a
// publish run.
[[nodiscard]] base::Status check_same_history(const catalog::Catalog& catalog, const PublishedState& state,
                                              const std::filesystem::path& tree);

}  // namespace wheelyard::indexer
