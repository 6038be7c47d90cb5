// Verifies a published tree: every link on every page leads to a file with the listed hash and size, HTML and
// JSON agree, and the root lists exactly the existing projects. Reads only the tree.
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
    std::string detail;     // the link, and what is wrong with it
    std::string file = {};  // what a repair removes before it publishes again; relative to the tree
};

struct CheckReport {
    std::uint64_t pages = 0;
    std::uint64_t files = 0;  // each counted once
    std::uint64_t bytes_hashed = 0;
    std::vector<Finding> findings;
};

// Errors: "tree.invalid", or the tree cannot be read. Safe during a publish run: pages are replaced atomically.
[[nodiscard]] base::Result<CheckReport> check_tree(const std::filesystem::path& tree);

}  // namespace wheelyard::indexer
