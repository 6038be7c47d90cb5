// `wheelyard-registry init`: a commented configuration for a new registry.
#pragma once

#include <filesystem>

#include "lib/base/result.hpp"

namespace wheelyard::registry {

// Writes registry.toml into `directory` (made if missing). "init.exists": there is one.
[[nodiscard]] base::Status run_init(const std::filesystem::path& directory);

}  // namespace wheelyard::registry
