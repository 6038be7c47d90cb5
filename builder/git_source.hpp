// Sources in a Git repository: one clone for each tag, submodules and all, checked before each use.
//
//     WORK/sources/git/<repository>-<tag>/tree    the working tree, as `git clone --recurse-submodules` left
//     it
//                                         commit  HEAD and every submodule's commit, when it was whole
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/attempt.hpp"
#include "builder/environment.hpp"
#include "builder/recipe.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

class GitSource {
  public:
    GitSource(const std::filesystem::path& sources, EnvironmentMap environment, base::Clock& clock);

    // Clones unless a whole clone is there. Fills origin, filename (its folder) and sha256: of the commits.
    // Errors: as advance_login_step, and "source.git".
    [[nodiscard]] base::Result<SourceRecord> fetch(const Recipe& recipe, const std::string& version);
    // The same of any repository; `tag` may be a branch.
    [[nodiscard]] base::Result<SourceRecord> fetch(const std::string& url, const std::string& tag);
    // Copies the clone into `tree`; "source.cache": it is no longer whole, and was removed.
    [[nodiscard]] base::Status unpack(const SourceRecord& source, const std::filesystem::path& tree) const;
    // The versions that tags name.
    [[nodiscard]] base::Result<std::vector<wheel::Version>> versions(const Recipe& recipe) const;

  private:
    std::filesystem::path directory_;
    EnvironmentMap environment_;
    base::Clock& clock_;
};

// Pure: the versions among the lines of `git ls-remote --tags --refs`.
[[nodiscard]] std::vector<wheel::Version> versions_of_tags(std::string_view listing,
                                                           std::string_view pattern);

}  // namespace wheelyard::builder
