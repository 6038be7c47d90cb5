// Follows no link, and opens folders whose permissions were taken away: they are this user's.
#include "builder/governor/bound/bound.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>

#include "lib/base/files/fd.hpp"

namespace wheelyard::governor {
namespace {

constexpr std::uint64_t block_size = 512;  // of st_blocks, stat(2)
constexpr int entries_between_clocks = 64;

// By its descriptor: chmod(2) by name could follow a symbolic link that replaced the folder.
bool permit(int parent, const char* name) {
    const base::Fd folder(::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return folder && ::chmod(("/proc/self/fd/" + std::to_string(folder.get())).c_str(), S_IRWXU) == 0;
}

}  // namespace

DiskWalk::DiskWalk(std::filesystem::path folder) : folder_(std::move(folder)) {}

void DiskWalk::enter(int parent, const char* name) {
    if (open_.size() >= max_depth) {
        use_.is_too_deep = true;
        return;
    }
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = ::openat(parent, name, flags);
    if (fd < 0 && errno == EACCES && permit(parent, name)) fd = ::openat(parent, name, flags);
    if (fd < 0) return;
    DIR* folder = ::fdopendir(fd);
    if (folder == nullptr) {
        ::close(fd);
        return;
    }
    open_.emplace_back(folder);
}

void DiskWalk::count(const struct stat& status) {
    ++use_.files;
    if (!S_ISDIR(status.st_mode) && status.st_nlink > 1 &&
        !linked_.emplace(status.st_dev, status.st_ino).second)
        return;
    use_.bytes += static_cast<std::uint64_t>(status.st_blocks) * block_size;
}

bool DiskWalk::advance(std::int64_t slice_ms) {
    using std::chrono::steady_clock;
    const auto until = steady_clock::now() + std::chrono::milliseconds(slice_ms);
    if (open_.empty()) {
        use_ = {};
        linked_.clear();
        enter(AT_FDCWD, folder_.c_str());
    }
    for (int entries = 1; !open_.empty(); ++entries) {
        if (entries % entries_between_clocks == 0 && steady_clock::now() >= until) return false;
        const auto* entry = ::readdir(open_.back().get());
        if (entry == nullptr) {
            open_.pop_back();
            continue;
        }
        const std::string_view name(entry->d_name);
        if (name == "." || name == "..") continue;
        struct stat status {};
        const int parent = ::dirfd(open_.back().get());
        int failed = ::fstatat(parent, entry->d_name, &status, AT_SYMLINK_NOFOLLOW);
        if (failed != 0 && errno == EACCES &&
            ::fchmod(parent, S_IRWXU) == 0)  // readable, but not to be searched
            failed = ::fstatat(parent, entry->d_name, &status, AT_SYMLINK_NOFOLLOW);
        if (failed != 0) continue;
        count(status);
        if (S_ISDIR(status.st_mode)) enter(parent, entry->d_name);
    }
    return true;
}

}  // namespace wheelyard::governor
