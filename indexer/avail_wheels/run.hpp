// The whole program but for the process around it.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "indexer/avail_wheels/cli.hpp"
#include "lib/base/clock.hpp"
#include "lib/simple/client.hpp"

namespace wheelyard::avail_wheels {

// What the program meets: who runs it, the network, the clock, the node. Tests put their own in place.
struct World {
    EnvironmentMap environment;
    Ground ground;
    const base::Clock* clock = nullptr;
    simple::GetPage get;  // called only when the network is really needed
    // METADATA of a wheel in a folder, for Requires-Python where no catalogue says it; empty: not looked at.
    std::function<base::Result<std::string>(const std::filesystem::path& wheel)> read_metadata = {};
    std::string user;
    bool out_is_terminal = false;
    bool err_is_terminal = false;
};

// Exit status: 0, even when nothing matches; 1 when the source cannot be read; 2 for a wrong command line.
// `wants_pager` is set when the answer may go through one.
[[nodiscard]] int run(const std::vector<std::string>& arguments, const World& world, std::ostream& out,
                      std::ostream& err, bool& wants_pager);

}  // namespace wheelyard::avail_wheels
