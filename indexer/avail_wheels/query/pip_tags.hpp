// The tags that pip supports in an environment, computed once.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

struct PipTags {
    std::set<wheel::Tag> tags;
    std::set<std::pair<std::string, std::string>> abis;  // Python and ABI of each tag, for any platform
};

// Cached for the life of the process, because a query has few environments. Not thread-safe.
[[nodiscard]] const PipTags& supported_tags_of(const wheel::Environment& environment);

}  // namespace wheelyard::avail_wheels
