// METADATA of a wheel and nothing else: for who lists wheels rather than judges them.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/result.hpp"

namespace wheelyard::inspect {

// Reads the directory of the archive and one member. Errors: the file cannot be read, or has no METADATA that
// can.
[[nodiscard]] base::Result<std::string> read_metadata_alone(const std::filesystem::path& wheel);

}  // namespace wheelyard::inspect
