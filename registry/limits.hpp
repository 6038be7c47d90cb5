// Limits of registry/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::registry {

// The store's lock (store_lock.hpp).
inline constexpr std::uint64_t max_lock_bytes = 64;  // a process id and a line end
inline constexpr std::int64_t store_lock_wait_ms = 300;
inline constexpr std::int64_t store_lock_poll_ms = 10;

// Commands that change the indexes of a running server (index_request.hpp).
inline constexpr std::uint64_t max_index_request_bytes = 8 * 1024 * 1024;  // a configuration, twice escaped
inline constexpr std::int64_t apply_poll_ms = 20;       // between looks at the server's result
inline constexpr std::int64_t apply_grace_ms = 30'000;  // beyond the wait for pages: reading, the catalog

// File descriptors (descriptors.hpp).
inline constexpr std::uint64_t descriptors_by_custom = 1024;       // the usual soft limit
inline constexpr std::uint64_t max_descriptors_asked = 1'048'576;  // fs.nr_open's default: more is refused

// 64 refused connections; SQLite, epoll, pages, log.
inline constexpr std::uint64_t descriptors_of_the_program = 128;
inline constexpr std::uint64_t descriptors_of_an_upload = 8;  // staging, METADATA, readers, folders synced

// Asio's three, the tree, a page that is read.
inline constexpr std::uint64_t descriptors_of_an_io_thread = 5;

// Of what is left, for connections at most; the rest is for the files that some of them are sent. Most
// clients are quiet, or ask for pages, which are kept in memory.
inline constexpr std::uint64_t connections_of_four_descriptors = 3;

}  // namespace wheelyard::registry
