// Mirrors an index over HTTP into a tree of files; the source is a registry or another tree behind any web
// server. The published event log lists the changed projects. Their pages are rendered from the source's
// JSON after every file that it lists is in place with its hash verified. The wheel list for avail_wheels is
// generated from our own pages (followed_wheel_list.hpp). Needs no server process and no catalog.
//
// State in TREE/.wheelyard/followed-<index>.json:
//     {"format":"wheelyard.followed/1","from":"https://wheels.example.org/main/","serial":12,…}
#pragma once

#include <cstddef>
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

// Events that one round reads from a log; each of its files counts as at least events_per_segment. An index of a million
// wheels has some two million. If a log is longer, only the newest events are read, and every project is checked.
inline constexpr std::size_t max_followed_events = 4'000'000;

struct FollowOptions {
    std::string from;  // "https://wheels.example.org/main/", with simple/ and events/
    std::filesystem::path tree;
    std::string index;  // the name in our tree; empty: the last part of `from`
    // The registry's root document: only what it has signed is mirrored (signed_source.hpp). Empty: nothing is verified.
    std::filesystem::path root = {};
    std::string signed_as = {};  // the registry's name of the index; empty: the last part of `from`
    bool all = false;            // check every project, not only those in the log
    std::size_t max_events = max_followed_events;
    TreeViews views{.find_links = true, .precompressed = true};
};

struct FollowReport {
    catalog::Serial serial = 0;  // of our tree after the round
    std::uint64_t projects = 0;  // checked
    std::uint64_t project_pages = 0;
    std::uint64_t files_fetched = 0;
    std::uint64_t bytes_fetched = 0;
    std::uint64_t files_removed = 0;
    std::uint64_t unlisted =
        0;                      // projects whose newest wheels wait for a later round to enter the wheel list
    bool from_nothing = false;  // every project was checked
    std::vector<std::string> warnings = {};
    std::vector<Lagging> lagging;  // projects that failed; the next round retries them
};

// Runs one round. If it is killed, the next one continues; files already fetched are not fetched again.
[[nodiscard]] base::Result<FollowReport> follow(const FollowOptions& options, io::HttpClient& http,
                                                base::Clock& clock);
[[nodiscard]] base::Result<FollowReport> follow_with(Disk& disk, const FollowOptions& options,
                                                     io::HttpClient& http, base::Clock& clock);

}  // namespace wheelyard::indexer
