// The end of a ZIP file: end record, and ZIP64 end record with its locator (APPNOTE 4.3.14 to 4.3.16).
#pragma once

#include <cstdint>
#include <optional>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/verdict/findings.hpp"

namespace wheelyard::inspect {

struct ZipEnd {
    std::uint64_t members = 0;
    std::uint64_t directory_offset = 0;
    std::uint64_t directory_bytes = 0;
    std::uint64_t prefix_bytes = 0;  // before the archive: added to every offset that it stores
};

// Verifies that the central directory ends where the end records begin and that all records agree. nullopt: it
// cannot be found; a final finding says why.
[[nodiscard]] base::Result<std::optional<ZipEnd>> read_zip_end(const base::Reader& bytes, Findings& findings);

}  // namespace wheelyard::inspect
