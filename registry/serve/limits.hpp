// Limits of registry/serve/, each with its unit and its reason.
#pragma once

#include <cstdint>

namespace wheelyard::registry {

// File descriptors (descriptors.hpp).
inline constexpr std::uint64_t descriptors_by_custom = 1024;       // the usual soft limit
inline constexpr std::uint64_t max_descriptors_asked = 1'048'576;  // fs.nr_open's default: more is refused

// 64 refused connections; SQLite, epoll, pages, log.
inline constexpr std::uint64_t descriptors_of_the_program = 128;
inline constexpr std::uint64_t descriptors_of_a_transfer = 3;  // from an upstream: socket, staging, readers
inline constexpr std::uint64_t descriptors_of_an_upload = 8;   // staging, METADATA, readers, folders synced

// Asio's three, the tree, a page that is read.
inline constexpr std::uint64_t descriptors_of_an_io_thread = 5;

// Of what is left, for connections at most; the rest is for the files that some of them are sent. Most
// clients are quiet, or ask for pages, which are kept in memory.
inline constexpr std::uint64_t connections_of_four_descriptors = 3;

}  // namespace wheelyard::registry
