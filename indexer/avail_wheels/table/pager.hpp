// Shows long output on a terminal in the user's pager.
#pragma once

#include <string>

#include "indexer/avail_wheels/node/node_probe.hpp"

namespace wheelyard::avail_wheels {

// Rows of the terminal at standard output; 0: not a terminal.
[[nodiscard]] std::size_t terminal_rows();
// Uses $PAGER, otherwise less; LESS defaults to FRX, as in git. False: the pager could not be started, and
// nothing was shown.
[[nodiscard]] bool show_in_pager(const std::string& text, const EnvironmentMap& environment);

}  // namespace wheelyard::avail_wheels
