// File descriptors are what connections, uploads, pages and SQLite compete for. The server takes no more
// connections than leave enough of them for the rest: strangers who only connect must not stop uploads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::registry {

// Raises the process's soft limit (1024 by custom) to its hard one and returns what counts now.
[[nodiscard]] std::uint64_t raise_descriptor_limit();

// How many connections fit, each with a file that it is sent, beside `most_uploads` uploads and all else;
// at least 1.
[[nodiscard]] std::size_t connections_within(std::uint64_t descriptors, std::size_t most_uploads);

}  // namespace wheelyard::registry
