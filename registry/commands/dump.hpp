// `wheelyard-registry dump`: every stored thing as JSON lines.
#pragma once

#include <filesystem>

#include "lib/base/result.hpp"

namespace wheelyard::registry {

// Prints events, then files, tokens (without their hashes), and the list of indexes.
[[nodiscard]] base::Status run_dump(const std::filesystem::path& config);

}  // namespace wheelyard::registry
