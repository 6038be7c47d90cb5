// Sources in a Git repository: one clone for each tag, with its submodules, checked before each use.
//
//     WORK/sources/git/<repository>-<tag>/tree    the working tree of `git clone --recurse-submodules`
//                                         commit  HEAD and every submodule's commit; exists once the clone is complete
//
// If the remote's branch or tag has moved, the next attempt clones again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/attempt/environment.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/site/recipe.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/keep_alive.hpp"
#include "lib/base/result.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

constexpr std::int64_t git_list_timeout_ms = 60'000;  // a person who asks for the plan waits as long

class GitSource {
  public:
    // `max_walltime_minutes` limits the time of one clone, `list_timeout_ms` that of listing tags.
    GitSource(const std::filesystem::path& sources, EnvironmentMap environment, base::Clock& clock,
              std::int64_t max_walltime_minutes = default_login_minutes,
              std::int64_t list_timeout_ms = git_list_timeout_ms);

    // Clones unless a complete clone of the remote's current commit exists. Fills origin, filename (the
    // clone's folder) and sha256 (of the commits). Errors: as advance_login_step, and "source.git".
    [[nodiscard]] base::Result<SourceRecord> fetch(const Recipe& recipe, const std::string& version,
                                                   const base::KeepAlive& keep_alive);
    // The same for any repository; `tag` may be a branch.
    [[nodiscard]] base::Result<SourceRecord> fetch(const std::string& url, const std::string& tag,
                                                   const base::KeepAlive& keep_alive);
    // Copies the clone into `tree`, as copy_source. Error "source.cache": the clone was damaged and has been
    // removed.
    [[nodiscard]] base::Status unpack(const SourceRecord& source, const std::filesystem::path& tree,
                                      const base::KeepAlive& keep_alive) const;
    // The versions that the repository's tags name. An error of a remote that did not answer in time has
    // ETIMEDOUT.
    [[nodiscard]] base::Result<std::vector<wheel::Version>> versions(const Recipe& recipe) const;

  private:
    [[nodiscard]] bool is_outdated(const std::filesystem::path& folder, const std::string& url,
                                   const std::string& tag) const;

    std::filesystem::path directory_;
    EnvironmentMap environment_;
    base::Clock& clock_;
    std::int64_t max_walltime_minutes_;
    std::int64_t list_timeout_ms_;
};

// Pure: the commit that `git clone --branch` takes for a branch or tag of this name, from the output of
// `git ls-remote`. A branch precedes a tag; an annotated tag is dereferenced. Empty: no such branch or tag.
[[nodiscard]] std::string commit_in(std::string_view listing, std::string_view tag);

// Pure: the versions in the output of `git ls-remote --tags --refs` whose tags match `pattern`; none where it
// is no pattern but the tag of one version.
[[nodiscard]] std::vector<wheel::Version> versions_of_tags(std::string_view listing,
                                                           std::string_view pattern);

}  // namespace wheelyard::builder
