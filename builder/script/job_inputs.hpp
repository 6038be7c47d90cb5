// The input files of a job in addition to the source: the recipe's patches.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/site/recipe.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// The files that match a recipe's patterns for `version`: pattern by pattern, each sorted by name.
// Errors: "recipe.patch" (a pattern for this version matches no file).
[[nodiscard]] base::Result<std::vector<std::filesystem::path>> find_patches(const Recipe& recipe,
                                                                            const std::string& version);

// Copies them to FOLDER/patches/ as 01-NAME, 02-NAME …; returns a SHA-256 over all of them, empty for none.
[[nodiscard]] base::Result<std::string> put_patches(const std::vector<std::filesystem::path>& patches,
                                                    const std::filesystem::path& folder);

}  // namespace wheelyard::builder
