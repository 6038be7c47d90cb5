// What `wheelyard-indexer` does, apart from reading its command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "indexer/follow/follow.hpp"
#include "lib/base/clock.hpp"

namespace wheelyard::indexer {

struct PublishOptions {
    std::filesystem::path store = {};  // the registry's data folder: catalog.sqlite, blobs/
    std::filesystem::path tree = {};
    std::vector<std::string> indexes = {};  // get a root page even while they are empty
    bool find_links = true;
    bool precompressed = true;
    bool all = false;  // every page, whatever the tree's serial
    bool json = false;
};

struct CheckOptions {
    std::filesystem::path tree = {};
    std::filesystem::path store =
        {};               // compare with this catalog too; empty: with the tree's own hashes alone
    bool repair = false;  // needs the store
    bool json = false;
};

struct FollowCommand {
    FollowOptions follow = {};
    std::int64_t every_s = 0;  // 0: one round
    bool json = false;
};

// Exit statuses: 0 done, 1 it failed or left a project behind (reason on `err`), 2 wrong usage (main's).
[[nodiscard]] int run_publish(const PublishOptions& options, base::Clock& clock, std::ostream& out,
                              std::ostream& err);
// 0 the tree is whole, 1 it is not (each finding on `out`) or could not be read.
[[nodiscard]] int run_check(const CheckOptions& options, base::Clock& clock, std::ostream& out,
                            std::ostream& err);
// With `every_s` it goes on until it is killed, and waits through what fails.
[[nodiscard]] int run_follow(const FollowCommand& command, base::Clock& clock, std::ostream& out,
                             std::ostream& err);

}  // namespace wheelyard::indexer
