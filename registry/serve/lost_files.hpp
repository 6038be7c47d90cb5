// The trees of a node after the database lost events that they show: they are set aside, made again, and compared, so that
// an operator knows whose uploads are missing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

struct NodeTrees {
    explicit NodeTrees(const RegistryConfig& config);

    std::filesystem::path store, open, with_token;
    std::vector<std::string> fetched;  // indexes whose files come from an upstream again
};

// A server that is killed after this finds no tree, and makes one.
[[nodiscard]] base::Status set_trees_aside(const NodeTrees& trees);
// Appends what the trees set aside have and the new ones lack to STORE/lost-files.tsv, lines of index, SHA-256 and filename;
// then removes them.
[[nodiscard]] base::Status list_lost_files(const NodeTrees& trees);

}  // namespace wheelyard::registry
