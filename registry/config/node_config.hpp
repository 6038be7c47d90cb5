// `[node]`: this server among several over one database (registry/nodes/). Without the table it is one that no other
// passes writes to.
#pragma once

#include <cstdint>
#include <string>

#include "lib/io/toml.hpp"
#include "registry/nodes/limits.hpp"

namespace wheelyard::registry {

struct NodeConfig {
    std::string name;  // for people; the machine's unless configured
    std::string
        address;  // "http://node-a.example.org:8080": where other nodes send writes; empty: they cannot
    std::int64_t lease_ms = nodes::default_lease_s * 1000;
};

[[nodiscard]] NodeConfig read_node(io::TomlTable table);

}  // namespace wheelyard::registry
