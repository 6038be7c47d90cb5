// What a killed agent leaves beside finished files. Only the holder of the lock may sweep: nobody else is
// writing then.
#pragma once

#include <filesystem>
#include <string>

namespace wheelyard::builder {

// Removes ".NAME.aside.*" (base::replace_file's unfinished files) directly in `folder`.
void sweep_asides(const std::filesystem::path& folder);

// Removes folders "PREFIX-*" (base::TempDir's) directly in `folder`.
void sweep_temp_dirs(const std::filesystem::path& folder, const std::string& prefix);

}  // namespace wheelyard::builder
