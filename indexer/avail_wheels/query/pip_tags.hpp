// The tags that pip takes in one environment, made once.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

struct PipTags {
    std::set<wheel::Tag> tags;
    std::set<std::pair<std::string, std::string>> abis;  // Python and ABI alone, whatever the platform
};

// Remembered for the life of the program: a query asks for the same few again and again. One thread.
[[nodiscard]] const PipTags& supported_tags_of(const wheel::Environment& environment);

}  // namespace wheelyard::avail_wheels
