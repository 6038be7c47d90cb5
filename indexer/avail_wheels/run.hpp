// The whole program except for process setup (main.cpp).
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "indexer/avail_wheels/ask_registry.hpp"
#include "indexer/avail_wheels/cli.hpp"
#include "indexer/avail_wheels/source/wheel_reading.hpp"
#include "lib/base/clock.hpp"
#include "lib/simple/client.hpp"

namespace wheelyard::avail_wheels {

// The program's environment: user, network, clock and node. Tests substitute their own.
struct World {
    EnvironmentMap environment;
    HostProbe probe;
    base::Clock* clock = nullptr;
    simple::GetPage get;  // called only if the network is needed
    PostDocument post = {};
    ReadWheelFile read_wheel = {};  // of a folder without a wheel list; empty: wheels are not read
    std::string user;
    bool out_is_terminal = false;
    std::size_t out_columns = 0;  // of the terminal; 0: none, so lines have no limit
    std::size_t help_columns = base::help_columns;
    bool err_is_terminal = false;
};

// Exit status: 0 even if nothing matches, 1 if the source cannot be read, 2 for a wrong command line. Sets
// `wants_pager` if the output may go through a pager.
[[nodiscard]] int run(const std::vector<std::string>& arguments, const World& world, std::ostream& out,
                      std::ostream& err, bool& wants_pager);

// `arguments` begin with the command's word. Exit status as that of run().
[[nodiscard]] int run_login(const std::vector<std::string>& arguments, const World& world, std::ostream& out,
                            std::ostream& err);

}  // namespace wheelyard::avail_wheels
