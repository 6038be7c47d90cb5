// Sources: which sdist of which index, downloaded once, checked by hash, unpacked into an attempt's tree.
//
//     WORK/sources/sha256/ab/<sha256>/markupsafe-3.0.2.tar.gz     the cache, checked again before each use
//
// Places are asked in pip's order (places.hpp).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "builder/attempt.hpp"
#include "builder/git_source.hpp"
#include "builder/places.hpp"
#include "builder/recipe.hpp"
#include "lib/base/breathe.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/page.hpp"
#include "lib/simple/pip_config.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

// One sdist that some place offers.
struct SdistOffer {
    wheel::Version version;
    std::string filename;
    std::string url;             // of an index's file; empty for a file in a folder
    std::filesystem::path file;  // of a folder
    std::string sha256;          // empty when the place gives none
    std::string requires_python;
    bool yanked = false;
    std::string place;  // where it was found, without secrets
};

struct SdistOffers {
    std::vector<SdistOffer> sdists;  // in the order of places
    std::vector<std::string>
        places;  // all that were asked, and how they are configured: "https://… (PIP_INDEX_URL)"
};

// Pure: the sdists of `project` among `files`.
[[nodiscard]] std::vector<SdistOffer> sdists_on_page(const simple::ProjectPage& page,
                                                     const std::string& project, const std::string& place);
// Pure: the offer to take for exactly `version`: one with the pinned digest if there is a pin, else the first
// place's; a yanked one last; .tar.gz before .zip. nullptr: nobody has it.
[[nodiscard]] const SdistOffer* choose_sdist(const std::vector<SdistOffer>& offers,
                                             const wheel::Version& version, const std::string& pinned_sha256);

class Sources {
  public:
    using DefaultIndex = Places::DefaultIndex;
    using Note = std::function<void(const std::string&)>;

    // `default_index` is asked (once) only when no index is configured and no-index is not set.
    Sources(io::HttpClient& http, const std::filesystem::path& work_directory, simple::PipConfig pip,
            DefaultIndex default_index);

    // Without it, recipes whose source is a repository are refused.
    void use_git(GitSource git) { git_.emplace(std::move(git)); }

    // What there is to build of a recipe's package, wherever its source is.
    [[nodiscard]] base::Result<SdistOffers> offers(const Recipe& recipe);
    // A place that does not answer is an error: its absence could choose another version.
    [[nodiscard]] base::Result<SdistOffers> offers(const std::string& project);

    // Finds, downloads into the cache and checks; fills kind, origin, filename and sha256. Redoable.
    [[nodiscard]] base::Result<SourceRecord> fetch(const Recipe& recipe, const std::string& version,
                                                   const base::Breathe& breathe);
    // Unpacks (or copies) into `tree`, made new, and reads the build system. Redoable. "source.cache": the
    // download is gone or damaged, and was removed: fetch it anew. Other errors: as copy_source.
    [[nodiscard]] base::Status unpack(const Recipe& recipe, SourceRecord& source,
                                      const std::filesystem::path& tree, const base::Breathe& breathe) const;

    // The repositories that a recipe wants beside its own, in BUILD/beside/NAME; one that is there stays.
    // Errors: as fetch and unpack.
    [[nodiscard]] base::Status put_beside(const Recipe& recipe, const std::filesystem::path& build,
                                          const base::Breathe& breathe);

    // Removes unfinished downloads of an agent that was killed; for the holder of the lock.
    [[nodiscard]] base::Status sweep(const base::Breathe& breathe) const;
    // Removes what was used longest ago until the cache holds at most so many bytes; for the holder of the
    // lock.
    [[nodiscard]] base::Status trim(std::uint64_t max_bytes, const base::Breathe& breathe) const;

  private:
    [[nodiscard]] base::Status fill(const Recipe& recipe, SourceRecord& source,
                                    const std::filesystem::path& tree, const base::Breathe& breathe) const;
    [[nodiscard]] base::Result<std::vector<Listing>> ask_upstream(const Recipe& recipe,
                                                                  std::vector<std::string>& told);
    [[nodiscard]] base::Result<SourceRecord> fetch_sdist(const Recipe& recipe, const std::string& version,
                                                         const base::Breathe& breathe);
    [[nodiscard]] base::Status fetch_file(const SdistOffer& offer, SourceRecord& source,
                                          const base::Breathe& breathe);
    [[nodiscard]] base::Status adopt(const std::filesystem::path& file, const std::string& expected,
                                     SourceRecord& source, const std::string& place);
    [[nodiscard]] std::filesystem::path cached(const SourceRecord& source) const;

    io::HttpClient& http_;
    Places places_;
    std::optional<GitSource> git_ = std::nullopt;
    std::filesystem::path directory_;
};

}  // namespace wheelyard::builder
