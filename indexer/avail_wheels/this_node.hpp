// The node that is asked about: this one, or a node type of the site file, with what the command line says of it.
#pragma once

#include <string>

#include "indexer/avail_wheels/run.hpp"

namespace wheelyard::avail_wheels {

[[nodiscard]] Node node_of(const Options& options, const World& world);

// Why nothing is known to run on a node without a Python that answers.
[[nodiscard]] std::string python_fault(const Node& node);

}  // namespace wheelyard::avail_wheels
