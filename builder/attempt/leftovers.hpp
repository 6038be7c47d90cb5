// What a killed agent leaves beside finished files. Only the holder of the lock may sweep: nobody else is
// writing then.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/breathe.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// Removes ".NAME.aside.*" (base::replace_file's unfinished files) directly in `folder`.
void sweep_asides(const std::filesystem::path& folder);

// Removes folders "PREFIX-*" (base::TempDir's) directly in `folder`.
[[nodiscard]] base::Status sweep_temp_dirs(const std::filesystem::path& folder, const std::string& prefix,
                                           const base::Breathe& breathe);

// Removes what holds bytes and nothing else: what cannot be removed stays. Errors: as `breathe`.
[[nodiscard]] base::Status free_space(const std::filesystem::path& path, const base::Breathe& breathe);

}  // namespace wheelyard::builder
