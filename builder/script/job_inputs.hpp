// What a job finds in its attempt's folder beside the source: the recipe's patches.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/site/recipe.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// The files that a recipe's patterns name for `version`, pattern by pattern, each in the order of its names.
// Errors: "recipe.patch" (a pattern for this version names no file).
[[nodiscard]] base::Result<std::vector<std::filesystem::path>> find_patches(const Recipe& recipe,
                                                                            const std::string& version);

// Copies them into FOLDER/patches/ as 01-NAME, 02-NAME …; returns a digest over all of them, empty for none.
[[nodiscard]] base::Result<std::string> put_patches(const std::vector<std::filesystem::path>& patches,
                                                    const std::filesystem::path& folder);

}  // namespace wheelyard::builder
