// Identifies the settings of a build tree: an interrupted build resumes only with the same settings.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/job_files.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"

namespace wheelyard::builder {

// A hash of everything except the source that affects the objects: environments, build requirements and their bounds
// (`constraints`, of constraints_for()), steps, repositories beside the source, modules, compilers, interpreter. Pure.
[[nodiscard]] std::string build_key(const Site& site, const Recipe& recipe,
                                    const std::filesystem::path& python,
                                    const std::vector<std::string>& constraints);

// Whether the attempt of this folder built with this key; false without a key.
[[nodiscard]] bool is_built_by(const AttemptFolder& folder, const std::string& key);

// A file beside the tree: its patches and `build.before` are done. A tree without it, as of a job that was cut before, cannot
// be continued: they may be half done, and a job that continues leaves them out.
inline constexpr std::string_view tree_ready_file = "tree_ready";
[[nodiscard]] bool is_tree_ready(const AttemptFolder& folder);

}  // namespace wheelyard::builder
