// The tags that pip supports in an environment, computed once.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "indexer/avail_wheels/node/python.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

struct PipTags {
    std::set<wheel::Tag> tags;
    std::set<std::pair<std::string, std::string>> abis;  // Python and ABI of each tag, for any platform
    std::set<std::string> platforms;                     // with those of PEP 600, without "any"
};

// What pip sees of a Python, on any machine: of a PyPy whose ABI is unknown, one environment for each ABI that there is.
[[nodiscard]] std::vector<wheel::Environment> environments_of(const Python& python);

// Cached for the life of the process, because a query has few environments. Not thread-safe.
[[nodiscard]] const PipTags& supported_tags_of(const wheel::Environment& environment);

}  // namespace wheelyard::avail_wheels
