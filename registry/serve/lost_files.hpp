// The trees of a node after the database lost events that they show: they are set aside, made again, and compared, so that
// an operator knows whose uploads are missing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "registry/blobs/store.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

struct NodeTrees {
    explicit NodeTrees(const RegistryConfig& config);

    std::filesystem::path store, open, with_token;
    std::vector<std::string> fetched;  // indexes whose files come from an upstream again
};

// Whether an earlier process ended before list_lost_files() did.
[[nodiscard]] bool are_trees_aside(const NodeTrees& trees);
// A server that is killed after this finds no tree, and makes one. One that is aside already stays, and the
// new one goes.
[[nodiscard]] base::Status set_trees_aside(const NodeTrees& trees, const blobs::BlobStore& blobs);
// Stores what the trees set aside have and the store of the wheels lacks; appends what they have and the new trees lack to
// STORE/lost-files.tsv, lines of index, SHA-256 and filename; then removes them. After an error they stay.
[[nodiscard]] base::Status list_lost_files(const NodeTrees& trees, const blobs::BlobStore& blobs);

}  // namespace wheelyard::registry
