// The state of a tree that follows another one: TREE/.wheelyard/followed-<index>.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "indexer/tree/disk.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

// What a round of the wheel list passes to the next one (followed_wheel_list.hpp).
struct FollowedWheelList {
    std::set<std::string> waiting = {};  // projects with wheels whose facts the source does not have yet
    std::string base_etag = {};          // ETags of the kept copies of the source's wheel list files
    std::string delta_etag = {};
    bool operator==(const FollowedWheelList&) const = default;
};

// What a round with a root document passes to the next one (follow/signed_source.hpp).
struct SignedPart {
    std::string pages =
        {};  // SHA-256 of the first list that our pages were compared with; empty: they were not
    std::int64_t history = 0;  // of the newest state that was verified; 0: none
    std::int64_t serial = 0;
    std::set<std::string> unlike = {};  // projects whose pages here are not byte for byte the signed ones
    bool operator==(const SignedPart&) const = default;
};

struct FollowedState {
    std::string from;  // the index's URL, ends in '/'; empty: nothing was followed yet
    catalog::Serial serial = 0;
    std::set<std::string> lagging;                        // projects that every round retries
    std::map<std::string, std::set<TreeFile>> gone = {};  // project → files that its new page no longer lists
    FollowedWheelList wheel_list = {};
    SignedPart signed_part = {};
    // Of the page of --find-links. An older program drops this, but not the page.
    catalog::Serial flat_serial = 0;
    bool operator==(const FollowedState&) const = default;
};

[[nodiscard]] std::filesystem::path followed_file(const std::filesystem::path& tree, std::string_view index);
[[nodiscard]] std::string render_followed_state(const FollowedState& state);
// Errors: "follow.state_format", or the text is not JSON.
[[nodiscard]] base::Result<FollowedState> parse_followed_state(std::string_view text);
// An empty state where there is no file.
[[nodiscard]] base::Result<FollowedState> read_followed_state(Disk& disk, const std::filesystem::path& tree,
                                                              std::string_view index);

}  // namespace wheelyard::indexer
