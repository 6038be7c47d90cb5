// The whole program but for the process around it.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "indexer/avail_wheels/cli.hpp"

namespace wheelyard::avail_wheels {

// Exit status: 0, even when nothing matches; 1 when the source cannot be read; 2 for a wrong command line.
[[nodiscard]] int run(const std::vector<std::string>& arguments, const EnvironmentMap& environment,
                      std::ostream& out, std::ostream& err);

}  // namespace wheelyard::avail_wheels
