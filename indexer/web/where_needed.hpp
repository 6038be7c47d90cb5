// Where a requirement with a marker (PEP 508) is needed, judged for every CPython 3 and machine that a reader
// may choose, on Linux: the page's script only looks it up. A reader without scripts is told what is needed
// nowhere here.
#pragma once

#include <optional>
#include <string>

#include "lib/wheel/marker.hpp"

namespace wheelyard::indexer {

struct WhereNeeded {
    bool nowhere = false;       // not on Linux with CPython, and no extra asks for it
    bool is_open = false;       // an extra or a variant decides, or what is not known of a machine
    std::string pythons = {};   // "9-11": from Python 3.9 to 3.11; "-11", "9-"; empty: any
    std::string machines = {};  // "x86_64 aarch64"; empty: any
};

// Without a marker: everywhere. Where the answer depends on Python and machine together, or leaves out a
// Python between two others, it stays open.
[[nodiscard]] WhereNeeded where_needed(const std::optional<wheel::Marker>& marker);

}  // namespace wheelyard::indexer
