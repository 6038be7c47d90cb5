// The site file of a command without --site: $WHEELYARD_BUILDER_SITE, ./site.toml, else the one that `site init` wrote last.
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

}  // namespace wheelyard::builder
