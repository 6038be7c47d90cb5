// `[node]`.
#include "registry/config/config.hpp"

#include <unistd.h>

namespace wheelyard::registry {
namespace {

constexpr std::size_t max_node_name = 64;

}  // namespace

std::string name_of_machine() {
    char name[max_node_name + 1] = {};
    return ::gethostname(name, max_node_name) == 0 ? name : "node";
}

NodeConfig read_node(io::TomlTable table) {
    NodeConfig node;
    node.name = table.string_or("name", name_of_machine());
    if (node.name.empty() || node.name.size() > max_node_name)
        table.report("name", "must have 1 to " + std::to_string(max_node_name) + " characters");
    node.address = table.string_or("address", "");
    const bool is_url = node.address.starts_with("http://") || node.address.starts_with("https://");
    if (!node.address.empty() && (!is_url || node.address.ends_with('/')))
        table.report("address",
                     "must be a URL like http://node-a.example.org:8080, without a trailing slash");
    node.lease_ms =
        table.integer_or("lease_s", nodes::default_lease_s, nodes::min_lease_s, nodes::max_lease_s) * 1000;
    node.read_without_database_ms =
        table.integer_or("read_without_database_s", 0, 0, nodes::max_read_without_database_s) * 1000;
    if (node.read_without_database_ms != 0 && node.read_without_database_ms <= node.lease_ms)
        table.report("read_without_database_s", "must be 0 or more than lease_s");
    return node;
}

}  // namespace wheelyard::registry
