// Proves a published tree: every link on every page leads to a file with the promised hash and size, HTML and
// JSON say the same, and the root names exactly the projects that are there. Reads nothing but the tree.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::indexer {

struct Finding {
    std::string code;       // "missing", "wrong_hash", …: see check.cpp
    std::string page;       // relative to the tree
    std::string detail;     // which link, and what is wrong with it
    std::string file = {};  // what a repair takes away before it publishes anew; relative to the tree
};

struct CheckReport {
    std::uint64_t pages = 0;
    std::uint64_t files = 0;  // each once, however many pages name it
    std::uint64_t bytes_hashed = 0;
    std::vector<Finding> findings;
};

// An error only when the tree cannot be walked. A page that is being replaced meanwhile is read old or new,
// never half.
[[nodiscard]] base::Result<CheckReport> check_tree(const std::filesystem::path& tree);

}  // namespace wheelyard::indexer
