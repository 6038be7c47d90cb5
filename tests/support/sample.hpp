// How much of what can be tried in many places a run tries: all of it in a full one, as `scripts/test --full` is.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace wheelyard::test_support {

// From one place to the next one that is tried: `sampled`, or 1 in a full run.
inline std::size_t step_of_sample(std::size_t sampled) {
    return std::getenv("WHEELYARD_FULL") != nullptr ? 1 : sampled;
}

}  // namespace wheelyard::test_support
