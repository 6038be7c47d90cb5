// Whether a tree and a catalog are of one history: a tree's record names the event that it shows last.
#pragma once

#include <filesystem>
#include <optional>

#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

[[nodiscard]] base::Result<std::optional<catalog::Event>> event_at(const catalog::Catalog& catalog,
                                                                   catalog::Serial serial);
// "publish.tree_ahead", "publish.other_catalog".
[[nodiscard]] base::Status check_same_history(const catalog::Catalog& catalog, const PublishedState& state,
                                              const std::filesystem::path& tree);

}  // namespace wheelyard::indexer
