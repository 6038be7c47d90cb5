// The commands of `wheelyard-indexer`, without the parsing of the command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/store.hpp"

namespace wheelyard::indexer {

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
    bool quiet = false;       // no progress
};

struct CheckOptions {
    std::filesystem::path tree = {};
    // Compare with the catalog of this data folder; empty: check the tree alone.
    database::Place store = {};
    blobs::Place blobs{std::filesystem::path()};
    bool repair = false;  // requires `store`
    bool json = false;
};

// Exit statuses: 0 success, 1 failure or a lagging project (reason on `err`), 2 wrong usage (from main).
[[nodiscard]] int run_publish(const PublishOptions& options, base::Clock& clock, std::ostream& out,
                              std::ostream& err);
// 0 the tree is complete, 1 it has findings (printed on `out`) or could not be read.
[[nodiscard]] int run_check(const CheckOptions& options, base::Clock& clock, std::ostream& out,
                            std::ostream& err);

struct ClientOptions {
    // "gh200=https://wheels.example.org/bede-gh200/simple/", "gh200=file:///…/simple/". A path is an index if
    // it ends in `simple` or contains `simple/index.html`, otherwise a folder of wheels.
    std::vector<std::string> nodes;
    std::vector<std::string> machines;         // "gh200=aarch64"
    std::vector<std::string> hosts;            // "gh200=gpu*"
    std::vector<std::string> with_token = {};  // "gh200": only tokens may read its index
    std::string fallback = {};                 // the Simple index of all that the nodes' indexes lack
    std::string site = "wheels";               // the modulefile's name
    std::string kind;                          // print only this: pip, uv, poetry, pdm, lmod, tcl
    std::filesystem::path to;                  // empty: print
    bool json = false;
};

// Exit statuses: 0 success, 1 failure, 2 wrong usage.
[[nodiscard]] int run_client_config(const ClientOptions& options, std::ostream& out, std::ostream& err);

}  // namespace wheelyard::indexer
