// Recursive removal of a folder; this can take long on a slow file system.
#pragma once

#include <filesystem>

#include "lib/base/keep_alive.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::base {

// Removes `path` of any kind, including folders without read or write permission for their owner. Calls
// `keep_alive` before each entry and stops if it fails. Entries that cannot be removed stay; the first such
// failure is returned at the end. A missing path is not an error.
[[nodiscard]] Status remove_tree(const std::filesystem::path& path, const KeepAlive& keep_alive = {});

}  // namespace wheelyard::base
