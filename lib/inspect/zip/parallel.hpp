// Independent pieces of work over a few threads.
#pragma once

#include <cstddef>
#include <functional>

#include "lib/base/result.hpp"

namespace wheelyard::inspect {

// Calls `work(i)` once for each i in [0, count), in order of starting, on up to `threads` threads (1: the
// caller's own). Stops at the first Error and returns it; an exception in a thread is rethrown here.
[[nodiscard]] base::Status for_each_parallel(std::size_t count, unsigned threads,
                                             const std::function<base::Status(std::size_t)>& work);

}  // namespace wheelyard::inspect
