// Which libraries the dynamic loader finds on this node, and their versions. Cached like the node's other properties.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/node/node.hpp"
#include "indexer/avail_wheels/node/node_probe.hpp"

namespace wheelyard::avail_wheels {

// Adds to node.libraries what the Python's process would load under these names: a library, searched for as the dynamic
// loader does it there (LD_LIBRARY_PATH, the interpreter's own paths, the system's), or a file with its folder, if the
// loader would take it; and what these lack. One process for all libraries and one for all files, a few more where one
// lacks something, none for what the cache has. Names stay unknown if the loader does not answer. "-lmagic" is what
// ctypes.util.find_library("magic") finds: the first such library of ldconfig's list.
void ask_libraries(const HostProbe& probe, const base::Clock& clock, const std::vector<std::string>& names,
                   Node& node);

// The highest versions that GCC's libraries and zlib define, from the names in the library's bytes.
[[nodiscard]] std::map<std::string, Dotted, std::less<>> versions_of_library(std::string_view name,
                                                                             std::string_view bytes);

}  // namespace wheelyard::avail_wheels
