// What a lenient reader tolerates. The parsers of a wheel's .dist-info files are strict; a caller that passes
// a list of faults gets everything that can still be read, as installers do, and judges the faults itself.
#pragma once

#include <vector>

#include "lib/base/result.hpp"
#include "lib/wheel/limits.hpp"

namespace wheelyard::wheel {

using Faults = std::vector<base::Error>;  // at most max_faults: the first ones

// Adds the error of `status` to `faults`; returns it unchanged if `faults` is null.
[[nodiscard]] inline base::Status tolerate(base::Status status, Faults* faults) {
    if (status || faults == nullptr) return status;
    if (faults->size() < max_faults) faults->push_back(std::move(status.error()));
    return {};
}

}  // namespace wheelyard::wheel
