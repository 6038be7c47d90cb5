// Files for the users of a site's wheels, rendered from [users] of site.toml: modulefiles, hooks for virtual
// and Conda environments, job variables, job scripts, an environment packed for a node's local disk, a
// LibTorch example. Pure except for write_user_files.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "builder/site/site.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

struct UserFile {
    std::string path;   // relative: "modulefiles/pytorch/2.4.0.lua"
    std::string about;  // one line for README.md
    std::string text;
    bool executable = false;
};

// `place` is the absolute folder in which the files will be installed: they refer to each other by it.
// Errors: "site.no_users", "site.no_registry".
[[nodiscard]] base::Result<std::vector<UserFile>> render_user_files(const Site& site,
                                                                    const std::filesystem::path& place);

// The job of job.sh.
[[nodiscard]] UserJob job_of_users(const Site& site, const UserSettings& users, const std::string& name);

// Writes each file atomically and sets its mode. Errors: those of base::make_directories and
// base::replace_file.
[[nodiscard]] base::Status write_user_files(const std::vector<UserFile>& files,
                                            const std::filesystem::path& place);

}  // namespace wheelyard::builder
