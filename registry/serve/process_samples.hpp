// The metrics of this process that every program of Prometheus has, and which version it is.
#pragma once

#include <vector>

#include "registry/http/metrics.hpp"

namespace wheelyard::registry {

// Of proc(5), getrusage(2) and getrlimit(2). What the system does not say is left out.
[[nodiscard]] std::vector<http::Sample> process_samples();

}  // namespace wheelyard::registry
