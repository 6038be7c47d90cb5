// What a crash leaves of base::replace_file.
#pragma once

#include <filesystem>

#include "lib/base/result.hpp"

namespace wheelyard::base {

// Removes the temporary files of replace_file(`path`), ".NAME.tmp.*" in its folder. Only while nobody else writes `path`.
[[nodiscard]] Status remove_temporary_files(const std::filesystem::path& path);

}  // namespace wheelyard::base
