// The input files of a job in addition to the source: the recipe's patches.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "builder/site/recipe.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr std::size_t max_patches = 9999;  // of a recipe: their numbers have four digits

// The patches of a recipe for `version`, in the order in which they apply: of a pattern by name, of a quilt
// series as it lists them. `beside`: the folder of the archives that have the series; empty: not unpacked
// yet, and their patches are left out. Errors: "recipe.patch" (a pattern matches no file, or a series is not
// one).
[[nodiscard]] base::Result<std::vector<std::filesystem::path>> find_patches(
    const Recipe& recipe, const std::string& version, const std::filesystem::path& beside = {});

// A SHA-256 over names and contents, empty for no patches.
[[nodiscard]] base::Result<std::string> digest_of_patches(const std::vector<std::filesystem::path>& patches);

// Copies them to FOLDER/patches/ as 0001-NAME, 0002-NAME …: a shell's wildcard finds them in this order.
[[nodiscard]] base::Status put_patches(const std::vector<std::filesystem::path>& patches,
                                       const std::filesystem::path& folder);

}  // namespace wheelyard::builder
