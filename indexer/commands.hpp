// What `wheelyard-indexer` does, apart from reading its command line.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"

namespace wheelyard::indexer {

struct PublishOptions {
    std::filesystem::path store;  // the registry's data folder: catalog.sqlite, blobs/
    std::filesystem::path tree;
    std::vector<std::string> indexes;  // get a root page even while they are empty
    bool json = false;
};

struct CheckOptions {
    std::filesystem::path tree;
    bool json = false;
};

// Exit statuses: 0 done, 1 it failed or left a project behind (reason on `err`), 2 wrong usage (main's).
[[nodiscard]] int run_publish(const PublishOptions& options, const base::Clock& clock, std::ostream& out,
                              std::ostream& err);
// 0 the tree is whole, 1 it is not (each finding on `out`) or could not be read.
[[nodiscard]] int run_check(const CheckOptions& options, std::ostream& out, std::ostream& err);

}  // namespace wheelyard::indexer
