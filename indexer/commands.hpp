// The commands of `wheelyard-indexer`, without the parsing of the command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "indexer/follow/follow.hpp"
#include "lib/base/clock.hpp"
#include "registry/blobs/place.hpp"
#include "registry/database/store.hpp"

namespace wheelyard::indexer {

// What a tree is signed with.
struct SignOptions {
    std::filesystem::path key = {};  // PEM; empty: nothing is signed
    std::int64_t history = 1;
    std::int64_t index_valid_days = 7;
};

struct PublishOptions {
    database::Place store = {};                   // the registry's
    blobs::Place blobs{std::filesystem::path()};  // its bucket; without a URL the folder
    std::filesystem::path tree = {};
    std::vector<std::string> indexes = {};  // indexes that get a root page even if empty
    bool find_links = true;
    bool precompressed = true;
    bool pages = true;
    bool all = false;  // rewrite every page, whatever the tree's serial
    bool json = false;
    bool is_private = false;  // the private indexes instead of the public ones
    SignOptions sign = {};
};

struct CheckOptions {
    std::filesystem::path tree = {};
    // Compare with the catalog of this data folder; empty: check the tree alone.
    database::Place store = {};
    blobs::Place blobs{std::filesystem::path()};
    bool repair = false;  // requires `store`
    bool json = false;
    SignOptions sign = {};            // the repaired tree
    std::filesystem::path root = {};  // empty: what is signed is not verified
    std::filesystem::path seen = {};
    std::string signed_as = {};
};

struct FollowCommand {
    FollowOptions follow = {};
    std::int64_t every_s = 0;  // 0: a single round
    bool json = false;
};

// Exit statuses: 0 success, 1 failure or a lagging project (reason on `err`), 2 wrong usage (from main).
[[nodiscard]] int run_publish(const PublishOptions& options, base::Clock& clock, std::ostream& out,
                              std::ostream& err);
// 0 the tree is complete, 1 it has findings (printed on `out`) or could not be read.
[[nodiscard]] int run_check(const CheckOptions& options, base::Clock& clock, std::ostream& out,
                            std::ostream& err);
// With `every_s`, runs until it is killed and continues after failed rounds.
[[nodiscard]] int run_follow(const FollowCommand& command, base::Clock& clock, std::ostream& out,
                             std::ostream& err);

}  // namespace wheelyard::indexer
