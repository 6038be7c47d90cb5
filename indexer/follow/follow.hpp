// Keeps a tree of files like another one that is only reached over HTTP: a registry's, or another tree behind
// any web server. The published event log says which projects changed; their pages are taken byte for byte,
// after every file that they name is here and has the promised hash. The catalogue that avail_wheels reads is
// our own, of our pages (followed_catalogue.hpp). Nothing is run, and no catalog is needed.
//
// Kept in TREE/.wheelyard/followed-<index>.json:
//     {"format":"wheelyard.followed/1","from":"https://wheels.example.org/main/","serial":12,…}
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "indexer/publish/publish.hpp"
#include "indexer/tree/disk.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::indexer {

struct FollowOptions {
    std::string from;  // "https://wheels.example.org/main/": what has simple/ and events/
    std::filesystem::path tree;
    std::string index;  // its name in our tree; empty: the last part of `from`
    bool all = false;   // look at every project, whatever the log says
    TreeViews views{.find_links = true, .precompressed = true};
};

struct FollowReport {
    catalog::Serial serial = 0;  // what our tree now shows
    std::uint64_t projects = 0;  // looked at
    std::uint64_t project_pages = 0;
    std::uint64_t files_fetched = 0;
    std::uint64_t bytes_fetched = 0;
    std::uint64_t files_removed = 0;
    std::uint64_t uncatalogued = 0;  // projects whose newest wheels the next round puts into the catalogue
    bool from_nothing = false;       // every project was looked at
    std::vector<Lagging>
        lagging;  // projects that could not be brought up to date; the next round tries again
};

// One round. Killed anywhere, the next one finishes: files that are here are not fetched again.
[[nodiscard]] base::Result<FollowReport> follow(const FollowOptions& options, io::HttpClient& http,
                                                const base::Clock& clock);
[[nodiscard]] base::Result<FollowReport> follow_with(Disk& disk, const FollowOptions& options,
                                                     io::HttpClient& http, const base::Clock& clock);

}  // namespace wheelyard::indexer
