// The catalog's row of a wheel that was inspected and whose bytes are stored: the same whichever way it came.
#pragma once

#include <string>

#include "lib/inspect/inspect.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::registry {

// What the inspection does not know of it.
struct StoredWheel {
    std::string index;
    std::string filename;
    std::string sha256;
    std::uint64_t size_bytes = 0;
    std::string metadata_sha256;  // of the stored METADATA
    std::string uploaded_by;
};

// Without a time: that of the commit is its writer's.
[[nodiscard]] catalog::FileRow stored_row(const StoredWheel& wheel, const inspect::Inspection& inspection);

}  // namespace wheelyard::registry
