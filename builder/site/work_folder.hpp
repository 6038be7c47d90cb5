// Who may change the work folder: the scripts that jobs run lie there.
#pragma once

#include <filesystem>

#include "lib/base/result.hpp"

namespace wheelyard::builder {

// Refuses an existing folder that another user owns or may write. Error: "work.shared".
[[nodiscard]] base::Status check_is_private(const std::filesystem::path& folder);

// Creates the folder, writable for its owner only, whatever the umask.
[[nodiscard]] base::Status make_private_folder(const std::filesystem::path& folder);

}  // namespace wheelyard::builder
