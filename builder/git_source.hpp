// Sources in a Git repository: one clone for each tag, submodules and all, checked before each use.
//
//     WORK/sources/git/<repository>-<tag>/tree    the working tree, as `git clone --recurse-submodules` left
//     it
//                                         commit  HEAD and every submodule's commit, when it was whole
//
// One of a branch that went on, or of a tag that was moved, is cloned anew for the next attempt.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "builder/attempt.hpp"
#include "builder/environment.hpp"
#include "builder/limits.hpp"
#include "builder/recipe.hpp"
#include "lib/base/breathe.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

class GitSource {
  public:
    // A clone may take `max_walltime_minutes`.
    GitSource(const std::filesystem::path& sources, EnvironmentMap environment, base::Clock& clock,
              std::int64_t max_walltime_minutes = default_login_minutes);

    // Clones unless a whole clone of what the remote has now is there. Fills origin, filename (its folder)
    // and sha256: of the commits. Errors: as advance_login_step, and "source.git".
    [[nodiscard]] base::Result<SourceRecord> fetch(const Recipe& recipe, const std::string& version,
                                                   const base::Breathe& breathe);
    // The same of any repository; `tag` may be a branch.
    [[nodiscard]] base::Result<SourceRecord> fetch(const std::string& url, const std::string& tag,
                                                   const base::Breathe& breathe);
    // Copies the clone into `tree`, as copy_source; "source.cache": it is no longer whole, and was removed.
    [[nodiscard]] base::Status unpack(const SourceRecord& source, const std::filesystem::path& tree,
                                      const base::Breathe& breathe) const;
    // The versions that tags name.
    [[nodiscard]] base::Result<std::vector<wheel::Version>> versions(const Recipe& recipe) const;

  private:
    [[nodiscard]] bool is_outdated(const std::filesystem::path& folder, const std::string& url,
                                   const std::string& tag) const;

    std::filesystem::path directory_;
    EnvironmentMap environment_;
    base::Clock& clock_;
    std::int64_t max_walltime_minutes_;
};

// Pure: the commit that `git clone --branch` takes for a branch or tag of this name, by the lines of
// `git ls-remote`: a branch before a tag, and what an annotated tag stands for. Empty: there is none.
[[nodiscard]] std::string commit_in(std::string_view listing, std::string_view tag);

// Pure: the versions among the lines of `git ls-remote --tags --refs`.
[[nodiscard]] std::vector<wheel::Version> versions_of_tags(std::string_view listing,
                                                           std::string_view pattern);

}  // namespace wheelyard::builder
