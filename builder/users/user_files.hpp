// What a site's users get of its wheels, made from [users] of site.toml: modulefiles, hooks for virtual and
// Conda environments, a job's environment, job scripts, an environment packed for a node's own disk, a
// LibTorch example. Pure but for the writing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "builder/site/site.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

struct UserFile {
    std::string path;  // relative: "modulefiles/pytorch/2.4.0.lua"
    std::string about;
    std::string text;
    bool executable = false;
};

// `place`: the absolute folder that the files will lie in; they name each other by it. Errors:
// "site.no_users", "site.no_registry".
[[nodiscard]] base::Result<std::vector<UserFile>> render_user_files(const Site& site,
                                                                    const std::filesystem::path& place);

// Each replaced at once and whole.
[[nodiscard]] base::Status write_user_files(const std::vector<UserFile>& files,
                                            const std::filesystem::path& place);

}  // namespace wheelyard::builder
