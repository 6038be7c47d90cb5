// Reads a wheel's METADATA without checking the wheel, for callers that only list wheels.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/result.hpp"

namespace wheelyard::inspect {

// Reads the archive's directory and one member. Errors: I/O errors, "metadata.none".
[[nodiscard]] base::Result<std::string> read_metadata_alone(const std::filesystem::path& wheel);

}  // namespace wheelyard::inspect
