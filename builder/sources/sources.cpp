// Asks the places that pip would ask, in the same order, and caches downloads by digest.
#include "builder/sources/sources.hpp"

#include <cerrno>
#include <cstdint>

#include "builder/attempt/temporary_files.hpp"
#include "builder/sources/source_cache.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/archive.hpp"
#include "lib/simple/client.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::uint64_t max_source_bytes = 8 * base::gib;

constexpr std::int64_t max_unpack_ms = 30 * 60'000;  // of one archive, by a tick that holds the lock

namespace fs = std::filesystem;

// Removes a partial tree: on a full disk it would leave no room for the journal to record the wait.
template <typename Work>
base::Status whole_or_nothing(const fs::path& tree, const base::KeepAlive& keep_alive, Work work) {
    auto done = work();
    if (!done && done.error().os_error != 0) WHEELYARD_TRY(free_space(tree, keep_alive));
    return done;
}

void add_wheels(SdistOffers& found, const Listing& listing, const std::string& project) {
    for (const auto& file : listing.page.files) {
        const auto name = wheel::parse_wheel_filename(file.filename);
        if (name && name->project == project)
            found.wheels.push_back({name->version,
                                    file.filename,
                                    file.url,
                                    {},
                                    file.sha256,
                                    file.requires_python,
                                    file.yanked,
                                    listing.place});
    }
    found.has_project = found.has_project || listing.is_index || !found.wheels.empty();
}

}  // namespace

Sources::Sources(io::HttpClient& http, const fs::path& work_directory, simple::PipConfig pip,
                 DefaultIndex default_index, Places::Warn warn)
    : http_(http),
      places_(http, std::move(pip), std::move(default_index), std::move(warn)),
      directory_(work_directory / "sources") {}

base::Result<SdistOffers> Sources::offers(const std::string& project) {
    SdistOffers found;
    WHEELYARD_ASSIGN(const auto listings, places_.ask(project, found.places, found.unanswered));
    for (const auto& listing : listings) {
        add_wheels(found, listing, project);
        for (auto& offer : sdists_on_page(listing.page, project, listing.place)) {
            const auto url = base::parse_url(offer.url);
            if (!listing.folder.empty()) {
                offer.file = listing.folder / offer.filename;
            } else if (url && url->scheme == "file") {
                WHEELYARD_ASSIGN(offer.file, base::file_path(*url));
            }
            found.sdists.push_back(std::move(offer));
        }
    }
    found.has_project = found.has_project || !found.sdists.empty();
    return found;
}

// Asks the recipe's index, or pip's places if it has none.
base::Result<std::vector<Listing>> Sources::ask_upstream(const Recipe& recipe, SdistOffers& found) {
    if (recipe.index.empty()) return places_.ask(recipe.package, found.places, found.unanswered);
    WHEELYARD_ASSIGN(auto page, simple::fetch_project(http_, recipe.index, recipe.package));
    found.places.push_back(recipe.index + " (the recipe's upstream)");
    std::vector<Listing> listings;
    if (page) listings.push_back({std::move(*page), recipe.index, {}, true});
    return listings;
}

base::Result<SdistOffers> Sources::offers(const Recipe& recipe) {
    if (recipe.source == SourceKind::sdist) return offers(recipe.package);
    SdistOffers found;
    if (recipe.source == SourceKind::git && git_) {
        WHEELYARD_ASSIGN(const auto versions, git_->versions(recipe));
        for (const auto& version : versions)
            found.sdists.push_back({version, "", "", {}, "", "", false, recipe.url});
        found.places.push_back(recipe.url + " (tags)");
    }
    if (recipe.source == SourceKind::upstream) {
        WHEELYARD_ASSIGN(const auto listings, ask_upstream(recipe, found));
        for (const auto& listing : listings)
            add_wheels(found, listing, recipe.package);
    }
    return found;
}

base::Status Sources::sweep(const base::KeepAlive& keep_alive) const {
    return sweep_temp_dirs(directory_, "incoming", keep_alive);
}

base::Status Sources::trim(std::uint64_t max_bytes, const base::KeepAlive& keep_alive) const {
    WHEELYARD_TRY(trim_cache(directory_, max_bytes, keep_alive));
    return {};
}

fs::path Sources::cached(const SourceRecord& source) const {
    return directory_ / "sha256" / source.sha256.substr(0, 2) / source.sha256 / source.filename;
}

// Checks a complete file's digest, then moves it into the cache.
base::Status Sources::adopt(const fs::path& file, const std::string& expected, SourceRecord& source,
                            const std::string& place) {
    WHEELYARD_ASSIGN(source.sha256, base::sha256_hex_of_file(file));
    if (!expected.empty() && source.sha256 != expected) {
        return base::fail("source.hash_mismatch",
                          source.filename + " from " + place + " has the wrong digest: sha256 " +
                              source.sha256 + " instead of " + expected,
                          source.filename,
                          "check why the file differs; if the recipe is wrong, fix its sha256");
    }
    WHEELYARD_TRY(base::make_directories(cached(source).parent_path()));
    return base::rename_durably(file, cached(source));
}

base::Status Sources::fetch_file(const SdistOffer& offer, SourceRecord& source,
                                 const base::KeepAlive& keep_alive) {
    if (!offer.sha256.empty()) {
        source.sha256 = offer.sha256;
        if (is_cached(source)) return {};
    }
    WHEELYARD_TRY(base::make_directories(directory_));
    WHEELYARD_ASSIGN(const auto incoming, base::TempDir::make("incoming", directory_));
    const fs::path file = incoming.path() / "file";
    if (!offer.file.empty()) {
        std::error_code error;
        fs::copy_file(offer.file, file, error);
        if (error)
            return base::fail(
                copy_error(base::fail_errno("copy", offer.file.native(), error.value()).value()));
    } else {
        const io::HttpProgress progress = [&](std::uint64_t, std::uint64_t) {
            return base::renew_or_abort(keep_alive).has_value();
        };
        WHEELYARD_ASSIGN(const auto answer, http_.download(offer.url, file, max_source_bytes, progress));
        if (answer.status != 200) {
            const std::string status = std::to_string(answer.status);
            const bool may_pass = io::is_temporary_status(answer.status);
            base::Error error{may_pass ? "http.status" : "source.status",
                              "A source answers " + status + " " + answer.reason, without_secrets(offer.url)};
            if (!may_pass) return base::fail(std::move(error));
            return base::fail_as(base::ErrorKind::unavailable, base::Recovery::retry, std::move(error));
        }
    }
    return adopt(file, offer.sha256, source, offer.place);
}

bool Sources::is_cached(const SourceRecord& source) const {
    const auto there = base::sha256_hex_of_file(cached(source));
    if (!there || *there != source.sha256) return false;
    mark_used(cached(source).parent_path());
    return true;
}

base::Result<SourceRecord> Sources::fetch_known(SourceRecord source, const Download& download) {
    if (!is_file_name(source.filename))
        return base::fail("source.name", "Not a valid file name of a source", source.filename);
    if (is_cached(source)) return source;
    WHEELYARD_TRY(base::make_directories(directory_));
    WHEELYARD_ASSIGN(const auto incoming, base::TempDir::make("incoming", directory_));
    const fs::path file = incoming.path() / "file";
    WHEELYARD_TRY(download(file));
    const std::string expected = source.sha256;
    WHEELYARD_TRY(adopt(file, expected, source, source.origin));
    return source;
}

base::Result<SourceRecord> Sources::fetch_sdist(const Recipe& recipe, const std::string& version,
                                                const base::KeepAlive& keep_alive) {
    const std::string exact = recipe.labelled ? without_label(version) : version;
    WHEELYARD_ASSIGN(const auto wanted, wheel::Version::parse(exact));
    WHEELYARD_ASSIGN(const auto found, offers(recipe.package));
    const std::string pinned = recipe.pinned_sha256(wanted.text());
    const SdistOffer* offer = choose_sdist(found.sdists, wanted, pinned);
    if (offer == nullptr && found.unanswered) return tl::unexpected(*found.unanswered);
    if (offer == nullptr)
        return base::fail(
            "source.absent",
            "There is nothing to build from: " + why_no_sdist(recipe.package, found, wanted.text()),
            recipe.package);
    SourceRecord source;
    source.kind = "sdist";
    source.filename = offer->filename;
    source.origin = offer->url.empty() ? offer->file.string() : without_secrets(offer->url);
    SdistOffer checked = *offer;
    if (!pinned.empty() && !checked.sha256.empty() && checked.sha256 != pinned) {
        return base::fail("source.hash_mismatch",
                          checked.place + " offers " + checked.filename + " with sha256 " + checked.sha256 +
                              ", but the recipe states " + pinned,
                          checked.filename,
                          "check why the file differs; if the recipe is wrong, fix its sha256");
    }
    if (!pinned.empty()) checked.sha256 = pinned;
    WHEELYARD_TRY(fetch_file(checked, source, keep_alive));
    return source;
}

base::Result<SourceRecord> Sources::fetch(const Recipe& recipe, const std::string& version,
                                          const base::KeepAlive& keep_alive) {
    if (recipe.source == SourceKind::sdist) return fetch_sdist(recipe, version, keep_alive);
    if (recipe.source == SourceKind::git) {
        if (git_) return git_->fetch(recipe, version, keep_alive);
        return base::fail("source.git", "git is not available to clone with", recipe.url);
    }
    SourceRecord source;
    source.kind = source_kinds.text(recipe.source);
    if (recipe.source == SourceKind::upstream) {
        source.origin = recipe.index;
        if (source.origin.empty()) {  // pip chooses the place when the job runs
            WHEELYARD_ASSIGN(source.origin, places_.names());
        }
        return source;
    }
    if (recipe.source == SourceKind::path) {
        source.origin = recipe.path.string();
        return source;
    }
    const std::string exact = recipe.labelled ? without_label(version) : version;
    WHEELYARD_ASSIGN(const auto wanted, wheel::Version::parse(exact));
    const std::string pinned = recipe.pinned_sha256(wanted.text());
    if (pinned.empty()) {
        return base::fail("source.unpinned",
                          "The recipe states no sha256 for version " + version + " of its tarball",
                          recipe.file.string(), "add it under [source.sha256]");
    }
    return fetch_archive(base::replace_all(recipe.url, "{version}", exact), pinned, keep_alive);
}

base::Result<SourceRecord> Sources::fetch_archive(const std::string& address, const std::string& sha256,
                                                  const base::KeepAlive& keep_alive) {
    SdistOffer offer;
    offer.url = address;
    offer.sha256 = sha256;
    offer.place = without_secrets(address);
    SourceRecord source;
    source.kind = source_kinds.text(SourceKind::tarball);
    source.origin = offer.place;
    WHEELYARD_ASSIGN(const auto url, base::parse_url(offer.url));
    WHEELYARD_ASSIGN(source.filename, base::last_segment(url));
    if (!is_file_name(source.filename))
        return base::fail("source.name", "The archive's URL does not end in a file name", offer.place);
    WHEELYARD_TRY(fetch_file(offer, source, keep_alive));
    return source;
}

base::Result<fs::path> Sources::put_repository(const Beside& one, const fs::path& into,
                                               const base::KeepAlive& keep_alive) {
    if (!git_) return base::fail("source.git", "git is not available to clone with", one.url);
    WHEELYARD_ASSIGN(const auto source, git_->fetch(one.url, one.tag, keep_alive));
    fs::path tree = into / one.name;
    WHEELYARD_TRY(git_->unpack(source, tree, keep_alive));
    return tree;
}

base::Result<fs::path> Sources::put_archive(const Beside& one, const fs::path& into,
                                            const base::KeepAlive& keep_alive) {
    WHEELYARD_ASSIGN(const auto source, fetch_archive(one.url, one.sha256, keep_alive));
    WHEELYARD_ASSIGN(const auto top, unpack_archive(source, into, keep_alive));
    return into / top;
}

base::Status Sources::put_beside(const Recipe& recipe, const fs::path& build,
                                 const base::KeepAlive& keep_alive) {
    for (const auto& one : recipe.beside) {
        const fs::path into = build / "beside" / one.name;
        std::error_code error;
        if (fs::exists(into, error)) continue;
        const fs::path temporary = into.string() + ".tmp";
        WHEELYARD_TRY(base::remove_tree(temporary, keep_alive));
        WHEELYARD_TRY(base::make_directories(temporary));
        WHEELYARD_TRY(whole_or_nothing(temporary, keep_alive, [&]() -> base::Status {
            WHEELYARD_ASSIGN(const auto tree, one.tag.empty() ? put_archive(one, temporary, keep_alive)
                                                              : put_repository(one, temporary, keep_alive));
            return base::rename_durably(tree, into);
        }));
        WHEELYARD_TRY(base::remove_tree(temporary, keep_alive));
    }
    return {};
}

base::Result<std::string> Sources::unpack_archive(const SourceRecord& source, const fs::path& into,
                                                  const base::KeepAlive& keep_alive) const {
    // Scratch file systems purge and truncate files, so the digest is checked again.
    const auto digest = base::sha256_hex_of_file(cached(source));
    const bool is_missing = !digest && digest.error().os_error == ENOENT;
    if (!digest && !is_missing) return tl::unexpected(digest.error());
    if (is_missing || *digest != source.sha256) {
        WHEELYARD_TRY(base::remove_file(cached(source)));
        return base::fail_as(base::ErrorKind::missing, base::Recovery::retry,
                             {"source.cache",
                              is_missing ? "A downloaded source is missing from the work folder"
                                         : "A downloaded source was changed or damaged",
                              cached(source).string(), "it is downloaded again"});
    }
    WHEELYARD_ASSIGN(auto names, io::unpack(cached(source), into, {.time_ms = max_unpack_ms}, keep_alive));
    std::error_code error;
    if (names.size() != 1 || !fs::is_directory(fs::symlink_status(into / names.front(), error))) {
        return base::fail("source.layout", "A source archive must hold exactly one folder at its top",
                          source.filename);
    }
    return std::move(names.front());
}

base::Status Sources::unpack(const Recipe& recipe, SourceRecord& source, const fs::path& tree,
                             const base::KeepAlive& keep_alive) const {
    return whole_or_nothing(tree, keep_alive, [&] { return fill(recipe, source, tree, keep_alive); });
}

base::Status Sources::fill(const Recipe& recipe, SourceRecord& source, const fs::path& tree,
                           const base::KeepAlive& keep_alive) const {
    WHEELYARD_TRY(base::remove_tree(tree, keep_alive));
    WHEELYARD_TRY(base::make_directories(tree));
    if (recipe.source == SourceKind::upstream) return {};  // nothing to build
    if (recipe.source == SourceKind::git) {
        source.folder = recipe.package;
        WHEELYARD_TRY(git_ ? git_->unpack(source, tree / source.folder, keep_alive)
                           : base::fail("source.git", "git is not available to clone with", recipe.url));
    } else if (recipe.source == SourceKind::path) {
        source.folder = recipe.package;
        WHEELYARD_TRY(copy_source(recipe.path, tree / source.folder, keep_alive));
    } else {
        WHEELYARD_ASSIGN(source.folder, unpack_archive(source, tree, keep_alive));
    }
    WHEELYARD_ASSIGN(auto system, read_build_system(tree / source.folder));
    if (recipe.source == SourceKind::sdist) WHEELYARD_TRY(check_builds(tree / source.folder, system));
    source.back_end = std::move(system.back_end);
    source.back_end_path = std::move(system.back_end_path);
    source.build_requires = std::move(system.build_requires);
    return {};
}

}  // namespace wheelyard::builder
