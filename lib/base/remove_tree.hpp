// Removes a folder with all in it. A large one takes long on a slow file system.
#pragma once

#include <filesystem>

#include "lib/base/breathe.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::base {

// Removes `path`, whatever it is, also through folders that their owner may not write or read. Breathes
// before each entry and ends with its failure; what the file system refuses stays, and the first such failure
// is returned at the end. What is not there is no failure.
[[nodiscard]] Status remove_tree(const std::filesystem::path& path, const Breathe& breathe = {});

}  // namespace wheelyard::base
