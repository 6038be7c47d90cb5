// Runs independent work items on a few threads.
#pragma once

#include <cstddef>
#include <functional>

#include "lib/base/result.hpp"

namespace wheelyard::inspect {

// Calls `work(i)` once for each i in [0, count), starting in order, on up to `threads` threads (1: only the
// caller's). Stops at the first Error and returns it; rethrows exceptions of the threads.
[[nodiscard]] base::Status for_each_parallel(std::size_t count, unsigned threads,
                                             const std::function<base::Status(std::size_t)>& work);

}  // namespace wheelyard::inspect
