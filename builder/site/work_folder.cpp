#include "builder/site/work_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "lib/base/files/file.hpp"

namespace wheelyard::builder {
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
