// What a farm's configuration says about itself, for the pages for people.
#pragma once

#include <map>
#include <set>
#include <string>

namespace wheelyard::indexer {

struct FarmText {
    std::string title = {};                          // empty: "Wheelyard"
    std::map<std::string, std::string> titles = {};  // of indexes, for people
    std::set<std::string> hidden = {};               // indexes that the front page does not list
    bool operator==(const FarmText&) const = default;
};

}  // namespace wheelyard::indexer
