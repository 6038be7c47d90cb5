// What a farm's configuration says about itself, for the web UI.
#pragma once

#include <map>
#include <set>
#include <string>

namespace wheelyard::indexer {

struct FarmText {
    std::string title = {};                          // empty: "Wheelyard"
    std::string text = {};                           // on the front page; empty: ours
    std::string contact = {};                        // URL or address of electronic mail; empty: none
    std::string style = {};                          // a style sheet with the farm's colours; empty: none
    std::string logo = {};                           // the published name of its logo; empty: ours
    std::map<std::string, std::string> titles = {};  // of indexes, for people
    std::set<std::string> hidden = {};               // indexes that the front page does not list
    std::set<std::string> without_pages = {};        // indexes that have none
    // The bytes of the logo; empty: the tree has the file already. Only `logo` counts as a difference.
    struct Bytes {
        std::string bytes = {};
        bool operator==(const Bytes&) const { return true; }
    } logo_bytes = {};
    bool operator==(const FarmText&) const = default;
};

}  // namespace wheelyard::indexer
