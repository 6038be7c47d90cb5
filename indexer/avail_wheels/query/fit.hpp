// Whether a wheel runs on a node, and if not, the one thing that is missing: pure.
//
// Asked in this order, and the first "no" counts: the site's list of known-bad versions, the machine, Python,
// glibc, the processor's level, the GPU, its driver, MPI and modules. What is not known of the node or of the
// wheel is never a "no".
#pragma once

#include <string>
#include <vector>

#include "indexer/avail_wheels/node/node.hpp"
#include "indexer/avail_wheels/node/site.hpp"
#include "indexer/avail_wheels/query/candidate.hpp"

namespace wheelyard::avail_wheels {

enum class Runs { yes, no, unknown };
[[nodiscard]] std::string_view runs_text(Runs runs);  // "yes", "no", "unknown"

struct Fit {
    Runs runs = Runs::yes;
    std::string code;  // of what is missing: "python", "glibc", "gpu" …; of what is not known with unknown
    std::string why;   // "needs glibc 2.38, here is 2.36"
    std::string advice;  // "load a module: openmpi/4.1.6"
    bool operator==(const Fit&) const = default;
};

[[nodiscard]] Fit judge(const Candidate& candidate, const Node& node, const Site& site);

}  // namespace wheelyard::avail_wheels
