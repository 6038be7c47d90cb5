// Decides whether a wheel runs on a node, and if not, names one missing thing. Pure.
//
// The checks run in the order of `checks` in judge() and the first "no" wins. Unknown properties of the node or
// the wheel never give a "no".
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
    std::string code;    // of the failed or undecided check: "python", "glibc", "gpu", …
    std::string why;     // "needs glibc 2.38, here is 2.36"
    std::string advice;  // "load a module: openmpi/4.1.6"
    bool operator==(const Fit&) const = default;
};

[[nodiscard]] Fit judge(const Candidate& candidate, const Node& node, const Site& site);

}  // namespace wheelyard::avail_wheels
