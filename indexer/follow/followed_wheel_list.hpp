// Keeps the wheel list of a followed index (docs/reference/wheel-list.md): the wheels are those on our own
// pages, the facts come from the source's wheel list for the same hashes. The source updates its wheel list
// after its pages, so a wheel without facts is left out until a later round finds them.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "indexer/follow/followed_source.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/followed_state.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

struct WheelListRound {
    std::filesystem::path tree;
    std::string index;
    std::set<std::string> projects;  // projects whose pages may have changed
    catalog::Serial serial = 0;      // of the pages
    base::UnixMicros time = 0;
    bool rebuild = false;  // all projects, with the source's current facts
};

// Runs after the pages of the round. Durable on return. The result is for the next round: projects that wait
// for facts, or every_project if the source has no wheel list; ours then has no facts either.
[[nodiscard]] base::Result<FollowedWheelList> follow_wheel_list(Disk& disk, FollowedSource& source,
                                                                const WheelListRound& round,
                                                                const FollowedWheelList& before,
                                                                const base::KeepAlive& keep_alive);

}  // namespace wheelyard::indexer
