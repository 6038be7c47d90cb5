// Removes temporary files of a killed agent. Only the holder of the lock may do so, because no other process
// writes then.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/keep_alive.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// Removes ".NAME.tmp.*" (temporary files of base::replace_file) directly in `folder`.
void sweep_temporary_files(const std::filesystem::path& folder);

// Removes folders "PREFIX-*" (created by base::TempDir) directly in `folder`.
[[nodiscard]] base::Status sweep_temp_dirs(const std::filesystem::path& folder, const std::string& prefix,
                                           const base::KeepAlive& keep_alive);

// Removes `path` to free space. A file that cannot be removed stays and is no error. Errors: those of
// `keep_alive`.
[[nodiscard]] base::Status free_space(const std::filesystem::path& path, const base::KeepAlive& keep_alive);

}  // namespace wheelyard::builder
