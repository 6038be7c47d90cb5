#include "builder/site/site_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t max_path_bytes = 4096;

std::string value_of(const std::map<std::string, std::string>& environment, const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? "" : found->second;
}

// Empty: the user has no home.
fs::path note_file(const std::map<std::string, std::string>& environment) {
    fs::path folder = value_of(environment, "XDG_CONFIG_HOME");
    const fs::path home = value_of(environment, "HOME");
    if (!folder.is_absolute() && home.is_absolute()) folder = home / ".config";
    return folder.is_absolute() ? folder / "wheelyard/builder-site" : fs::path();
}

}  // namespace

base::Result<ChosenSite> choose_site_file(const std::map<std::string, std::string>& environment,
                                          const fs::path& directory) {
    if (const auto named = value_of(environment, "WHEELYARD_BUILDER_SITE"); !named.empty())
        return ChosenSite{named};
    std::error_code error;
    if (fs::is_regular_file(directory / "site.toml", error)) return ChosenSite{"site.toml"};
    if (const auto note = note_file(environment); !note.empty()) {
        const auto text = base::read_file(note, max_path_bytes);
        const fs::path file = text ? std::string(base::trim(*text)) : "";
        if (!file.empty() && fs::is_regular_file(file, error)) return ChosenSite{file, true};
    }
    const bool has_other = !value_of(environment, "WHEELYARD_SITE").empty();
    return base::fail(
        "site.no_file", "No site file is named, and there is no ./site.toml", "",
        "name it with --site or in WHEELYARD_BUILDER_SITE, or write one with `wheelyard-builder site "
        "init`" +
            std::string(has_other ? "; WHEELYARD_SITE names the file of avail_wheels, which is another"
                                  : ""));
}

base::Status remember_site_file(const std::map<std::string, std::string>& environment, const fs::path& file) {
    const fs::path note = note_file(environment);
    if (note.empty()) return {};
    WHEELYARD_TRY(base::make_directories(note.parent_path()));
    return base::replace_file(note, file.string() + "\n");
}

namespace {

namespace fs = std::filesystem;
constexpr mode_t writable_for_others = S_IWGRP | S_IWOTH;

}  // namespace

base::Status check_is_private(const fs::path& folder) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) != 0) {
        if (errno == ENOENT) return {};
        return base::fail_errno("stat", folder.native(), errno);
    }
    const bool is_own = status.st_uid == ::geteuid();
    if (is_own && (status.st_mode & writable_for_others) == 0) return {};
    return base::fail(
        "work.shared",
        is_own ? "Other users may write the work folder, and so change the scripts of jobs"
               : "The work folder belongs to another user, who can change the scripts of jobs",
        folder.string(),
        is_own ? "run: chmod go-w " + folder.string() : "choose a folder of your own in [work] of site.toml");
}

base::Status make_private_folder(const fs::path& folder) {
    std::error_code error;
    if (fs::exists(folder, error)) return {};
    WHEELYARD_TRY(base::make_directories(folder));
    fs::permissions(folder, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove,
                    error);
    if (error) return base::fail_errno("chmod", folder.native(), error.value());
    return {};
}

}  // namespace wheelyard::builder
