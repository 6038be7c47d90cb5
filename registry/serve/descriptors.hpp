// File descriptors are what connections, files, uploads, pages and SQLite compete for. A connection takes
// one, and another while a file is sent over it. The server limits connections so that
// enough remain for the rest: idle clients must block neither uploads nor downloads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::registry {

// Raises the process's soft limit (usually 1024) to its hard limit and returns the new soft limit.
[[nodiscard]] std::uint64_t raise_descriptor_limit();

struct DescriptorNeeds {
    std::size_t max_connections = 0;  // wanted
    std::size_t max_uploads = 0;
    unsigned io_threads = 0;
    std::size_t max_transfers = 0;  // from upstreams
};
struct DescriptorShares {
    std::size_t connections = 1;
    std::size_t files = 1;  // being sent at once
};
// What fits beside the uploads and all else; at least 1 of each.
[[nodiscard]] DescriptorShares share_descriptors(std::uint64_t descriptors, const DescriptorNeeds& needs);

}  // namespace wheelyard::registry
