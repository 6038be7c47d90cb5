// What a build tree is built by: a build that was cut goes on only with the same settings.
#pragma once

#include <filesystem>
#include <string>

#include "builder/attempt/job_files.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"

namespace wheelyard::builder {

// A hash of everything but the source that goes into the objects: environments, build requirements,
// interpreter. Pure.
[[nodiscard]] std::string build_key(const Site& site, const Recipe& recipe,
                                    const std::filesystem::path& python);

// Whether the folder's tree was begun with this key; a tree without one was not.
[[nodiscard]] bool is_built_by(const AttemptFolder& folder, const std::string& key);

}  // namespace wheelyard::builder
