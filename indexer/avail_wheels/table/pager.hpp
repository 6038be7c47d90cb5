// Long answers on a terminal go through the user's pager.
#pragma once

#include <string>

#include "indexer/avail_wheels/node/node_probe.hpp"

namespace wheelyard::avail_wheels {

// Rows of the terminal at standard output; 0: it is none.
[[nodiscard]] std::size_t terminal_rows();
// False: there is no pager, or it could not be started, so nothing was shown. $PAGER, else less; LESS
// defaults to FRX, as git's does.
[[nodiscard]] bool show_in_pager(const std::string& text, const EnvironmentMap& environment);

}  // namespace wheelyard::avail_wheels
