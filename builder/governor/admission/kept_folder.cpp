// Chooses the folder, and checks the private one. /tmp belongs to everyone: the first to create a name owns it.
#include "builder/governor/admission/kept_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace wheelyard::governor {
namespace {

// Shims and libraries in kept_folder(): longer than any build, whose start marks them as used.
constexpr std::int64_t unused_days = 30;

namespace fs = std::filesystem;

constexpr mode_t only_ours = 0700;

// Whether this process could create files below `folder`: its closest existing parent is a folder that it may write.
bool can_keep(fs::path folder) {
    struct stat status {};
    while (::stat(folder.c_str(), &status) != 0) {
        if (errno != ENOENT || !folder.has_relative_path()) return false;
        folder = folder.parent_path();
    }
    return S_ISDIR(status.st_mode) && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

fs::path folder_in(const char* variable, const char* inside) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value == '/' ? fs::path(value) / inside : fs::path();
}

}  // namespace

fs::path kept_folder() {
    for (const fs::path& folder : {folder_in("XDG_CACHE_HOME", "wheelyard/governor"),
                                   folder_in("HOME", ".cache/wheelyard/governor")}) {
        if (!folder.empty() && can_keep(folder)) return folder;
    }
    return private_folder();
}

fs::path private_folder() {
    return "/tmp/wheelyard-" + std::to_string(::geteuid());
}

base::Status make_private_folder(const fs::path& folder) {
    if (::mkdir(folder.c_str(), only_ours) != 0 && errno != EEXIST)
        return base::fail_errno("making the folder", folder.string(), errno);
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0) return base::fail_errno("lstat", folder.string(), errno);
    const bool ours = S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
    if (!ours || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return base::fail("governor.folder", "Another user can write this folder, or it is no folder",
                          folder.string(), "remove it, or set XDG_CACHE_HOME to a folder of yours");
    if (::chmod(folder.c_str(), only_ours) != 0) return base::fail_errno("chmod", folder.string(), errno);
    return {};
}

base::Status prepare_kept(const fs::path& kept) {
    const fs::path folder = private_folder();
    const std::string inside = kept.lexically_relative(folder).string();
    if (inside.empty() || inside.starts_with("..")) return {};
    return make_private_folder(folder);
}

void mark_used(const fs::path& kept) {
    ::utimensat(AT_FDCWD, kept.c_str(), nullptr, 0);
}

void remove_unused(const fs::path& folder, std::string_view prefix) {
    constexpr std::int64_t day_s = 24 * 60 * 60;
    const std::int64_t since = std::time(nullptr) - unused_days * day_s;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        struct stat status {};
        if (!entry.path().filename().string().starts_with(prefix)) continue;
        if (::lstat(entry.path().c_str(), &status) == 0 && status.st_mtime < since)
            fs::remove_all(entry.path(), error);
    }
}

}  // namespace wheelyard::governor
