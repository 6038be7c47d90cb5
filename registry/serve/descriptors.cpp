// getrlimit(2), and the sum of all needs.
#include "registry/serve/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace wheelyard::registry {
namespace {

constexpr std::uint64_t descriptors_by_custom = 1024;       // the usual soft limit
constexpr std::uint64_t max_descriptors_asked = 1'048'576;  // fs.nr_open's default: more is refused

// 64 refused connections; SQLite, epoll, pages, log.
constexpr std::uint64_t descriptors_of_the_program = 128;
constexpr std::uint64_t descriptors_of_a_transfer = 3;  // from an upstream: socket, staging, readers
constexpr std::uint64_t descriptors_of_an_upload = 8;   // staging, METADATA, readers, folders synced

// Asio's three, the tree, a page that is read.
constexpr std::uint64_t descriptors_of_an_io_thread = 5;

// Connections get at most this share of four of the rest; the others are for the files that clients are sent.
// Most clients are quiet, or ask for pages, which are kept in memory.
constexpr std::uint64_t connections_of_four_descriptors = 3;

}  // namespace

std::uint64_t raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return descriptors_by_custom;
    rlimit raised = limit;
    raised.rlim_cur = std::min<rlim_t>(limit.rlim_max, max_descriptors_asked);
    if (raised.rlim_cur > limit.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) return raised.rlim_cur;
    return limit.rlim_cur;
}

DescriptorShares share_descriptors(std::uint64_t descriptors, const DescriptorNeeds& needs) {
    const std::uint64_t taken = descriptors_of_the_program + needs.max_uploads * descriptors_of_an_upload +
                                needs.io_threads * descriptors_of_an_io_thread +
                                needs.max_transfers * descriptors_of_a_transfer;
    const std::uint64_t left = descriptors > taken ? descriptors - taken : 0;
    const std::uint64_t connections = std::clamp<std::uint64_t>(
        left / 4 * connections_of_four_descriptors, 1, std::max<std::size_t>(needs.max_connections, 1));
    // A connection is sent one file at a time.
    const std::uint64_t files = left > connections ? std::min(left - connections, connections) : 1;
    return {.connections = static_cast<std::size_t>(connections), .files = static_cast<std::size_t>(files)};
}

}  // namespace wheelyard::registry
