// The site file of a command without --site: $WHEELYARD_BUILDER_SITE, ./site.toml, else the one that `site
// init` wrote last.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "lib/base/result.hpp"

namespace wheelyard::builder {

struct ChosenSite {
    std::filesystem::path file;
    bool is_remembered = false;  // of the last `site init`: nothing in this shell or folder names it
};

// Error "site.no_file": none of them is there.
[[nodiscard]] base::Result<ChosenSite> choose_site_file(const std::map<std::string, std::string>& environment,
                                                        const std::filesystem::path& directory);
// Notes the absolute path in wheelyard/builder-site of the user's configuration folder.
[[nodiscard]] base::Status remember_site_file(const std::map<std::string, std::string>& environment,
                                              const std::filesystem::path& file);

// Who may change the work folder: the scripts that jobs run lie there.

// Refuses an existing folder that another user owns or may write. Error: "work.shared".
[[nodiscard]] base::Status check_is_private(const std::filesystem::path& folder);

// Creates the folder, writable for its owner only, whatever the umask.
[[nodiscard]] base::Status make_private_folder(const std::filesystem::path& folder);

}  // namespace wheelyard::builder
