// Sources: finds an sdist, downloads it once, checks its hash and unpacks it into an attempt's tree.
//
//     WORK/sources/sha256/ab/<sha256>/markupsafe-3.0.2.tar.gz     the cache, verified before each use
//
// It asks the places in pip's order.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/plan/offers.hpp"
#include "builder/site/recipe.hpp"
#include "builder/sources/git_source.hpp"
#include "lib/base/keep_alive.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/page.hpp"
#include "lib/simple/pip_config.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

// The files of a project in one place; a find-links place may list other projects' files, too.
struct Listing {
    simple::ProjectPage page;
    std::string place;             // without secrets
    std::filesystem::path folder;  // contains the files that have no URL
    bool is_index = false;         // the page is of this project alone
};

[[nodiscard]] std::string without_secrets(const std::string& url);
// Pure: whether pip accepts this index: https, or http on this machine or a trusted host.
[[nodiscard]] bool is_secure_place(const std::string& url, const std::vector<std::string>& trusted_hosts);

class Places {
  public:
    using DefaultIndex = std::function<base::Result<std::string>()>;
    using Warn = std::function<void(const std::string&)>;

    // `default_index` is called only if no index is configured and no-index is not set, and only once. `warn`
    // gets pip's own warning of each place that pip ignores, once.
    Places(io::HttpClient& http, simple::PipConfig pip, DefaultIndex default_index, Warn warn = {});

    // Appends every place, with its configuration, to `asked`: "https://… (PIP_INDEX_URL)". An index-url that
    // does not answer is an error. Like pip, goes on without a folder that is not there, and without an extra
    // index or a page of find-links that does not answer; then `unanswered` is set, since another version
    // could be chosen.
    [[nodiscard]] base::Result<std::vector<Listing>> ask(const std::string& project,
                                                         std::vector<std::string>& asked,
                                                         std::optional<base::Error>& unanswered);
    // The names of all places, without secrets.
    [[nodiscard]] base::Result<std::string> names();

  private:
    struct Place;
    [[nodiscard]] base::Result<std::vector<Place>> places();
    // nullopt: pip ignores the place, or its index does not have the project.
    [[nodiscard]] base::Result<std::optional<Listing>> ask_place(const Place& place,
                                                                 const std::string& project,
                                                                 std::string& left_out);
    void warn_once(const std::string& warning);

    io::HttpClient& http_;
    simple::PipConfig pip_;
    DefaultIndex ask_default_index_;
    Warn warn_;
    std::set<std::string> warned_ = {};
    std::string default_index_ = {};  // the result of ask_default_index_
};

class Sources {
  public:
    using DefaultIndex = Places::DefaultIndex;

    // `default_index` and `warn`: as Places.
    Sources(io::HttpClient& http, const std::filesystem::path& work_directory, simple::PipConfig pip,
            DefaultIndex default_index, Places::Warn warn = {});

    // Without this call, recipes whose source is a repository are errors.
    void use_git(GitSource git) { git_.emplace(std::move(git)); }

    // The versions of a recipe's package that can be built, for any kind of source.
    [[nodiscard]] base::Result<SdistOffers> offers(const Recipe& recipe);
    [[nodiscard]] base::Result<SdistOffers> offers(const std::string& project);

    // Finds a source, downloads it into the cache and checks it. Fills kind, origin, filename and sha256.
    // Idempotent.
    [[nodiscard]] base::Result<SourceRecord> fetch(const Recipe& recipe, const std::string& version,
                                                   const base::KeepAlive& keep_alive);
    // fetch_known() is for a source whose file name and sha256 are known: `download` writes the file.
    using Download = std::function<base::Status(const std::filesystem::path& file)>;
    [[nodiscard]] base::Result<SourceRecord> fetch_known(SourceRecord source, const Download& download);
    // Unpacks (or copies) into the new folder `tree` and reads the build system. Idempotent. Error
    // "source.cache": the download was missing or damaged and has been removed; fetch it again. Other errors:
    // as copy_source.
    [[nodiscard]] base::Status unpack(const Recipe& recipe, SourceRecord& source,
                                      const std::filesystem::path& tree,
                                      const base::KeepAlive& keep_alive) const;

    // Puts the recipe's additional repositories and archives into BUILD/beside/NAME; existing ones are kept.
    // Errors: those of fetch and unpack.
    [[nodiscard]] base::Status put_beside(const Recipe& recipe, const std::filesystem::path& build,
                                          const base::KeepAlive& keep_alive);

    // Removes unfinished downloads of a killed agent; the caller holds the lock.
    [[nodiscard]] base::Status sweep(const base::KeepAlive& keep_alive) const;
    // Removes the least recently used entries until the cache has at most `max_bytes`; the caller holds the
    // lock.
    [[nodiscard]] base::Status trim(std::uint64_t max_bytes, const base::KeepAlive& keep_alive) const;

  private:
    [[nodiscard]] base::Status fill(const Recipe& recipe, SourceRecord& source,
                                    const std::filesystem::path& tree,
                                    const base::KeepAlive& keep_alive) const;
    [[nodiscard]] base::Result<std::vector<Listing>> ask_upstream(const Recipe& recipe, SdistOffers& found);
    [[nodiscard]] base::Result<SourceRecord> fetch_sdist(const Recipe& recipe, const std::string& version,
                                                         const base::KeepAlive& keep_alive);
    // The archive of this digest, from the cache or from `address`.
    [[nodiscard]] base::Result<SourceRecord> fetch_archive(const std::string& address,
                                                           const std::string& sha256,
                                                           const base::KeepAlive& keep_alive);
    // Returns the name of its top folder in `into`. Error "source.cache": as unpack.
    [[nodiscard]] base::Result<std::string> unpack_archive(const SourceRecord& source,
                                                           const std::filesystem::path& into,
                                                           const base::KeepAlive& keep_alive) const;
    // Both return the tree, which lies in `into`.
    [[nodiscard]] base::Result<std::filesystem::path> put_repository(const Beside& one,
                                                                     const std::filesystem::path& into,
                                                                     const base::KeepAlive& keep_alive);
    [[nodiscard]] base::Result<std::filesystem::path> put_archive(const Beside& one,
                                                                  const std::filesystem::path& into,
                                                                  const base::KeepAlive& keep_alive);
    [[nodiscard]] base::Status fetch_file(const SdistOffer& offer, SourceRecord& source,
                                          const base::KeepAlive& keep_alive);
    [[nodiscard]] base::Status adopt(const std::filesystem::path& file, const std::string& expected,
                                     SourceRecord& source, const std::string& place);
    // Marks it as used, if the cache has these bytes.
    [[nodiscard]] bool is_cached(const SourceRecord& source) const;
    [[nodiscard]] std::filesystem::path cached(const SourceRecord& source) const;

    io::HttpClient& http_;
    Places places_;
    std::optional<GitSource> git_ = std::nullopt;
    std::filesystem::path directory_;
};

struct BuildSystem {
    std::vector<std::string> build_requires = {"setuptools>=40.8.0"};  // PEP 518's default
    std::string back_end = "setuptools.build_meta:__legacy__";         // PEP 517's default
    std::vector<std::string> back_end_path;
};

// Errors: "source.pyproject" (not TOML, a requirement that is none, or a back end that is not a module name).
[[nodiscard]] base::Result<BuildSystem> parse_build_system(std::string_view pyproject);
// Returns the default if `project` has no pyproject.toml. Errors: those above; "file.not_regular"
// (lib/base/files/untrusted_file.hpp).
[[nodiscard]] base::Result<BuildSystem> read_build_system(const std::filesystem::path& project);

// Error "source.stub": the sdist builds nothing. It only downloads a wheel from an index of its own, or fails and
// names one. The rows are in build_system.cpp.
[[nodiscard]] base::Status check_builds(const std::filesystem::path& project, const BuildSystem& system);

}  // namespace wheelyard::builder
