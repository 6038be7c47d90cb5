// STATE/store.json: which store of a registry has the wheels of this journal. Written by ticks, read by every
// command.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/result.hpp"

namespace wheelyard::builder {

// Empty: none is known, or the file cannot be read.
[[nodiscard]] std::string read_known_store(const std::filesystem::path& state_directory);
[[nodiscard]] base::Status write_known_store(const std::filesystem::path& state_directory,
                                             const std::string& store);

}  // namespace wheelyard::builder
