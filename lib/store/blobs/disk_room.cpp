#include "lib/store/blobs/disk_room.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::blobs {

std::uint64_t free_bytes_of(const std::filesystem::path& folder) {
    struct statvfs info {};
    if (::statvfs(folder.c_str(), &info) != 0) return std::numeric_limits<std::uint64_t>::max();
    return std::uint64_t{info.f_bavail} * info.f_frsize;
}

base::Status DiskRoom::check(std::uint64_t more_bytes) const {
    const std::uint64_t free_bytes = free_bytes_of(store_);
    const std::uint64_t room = free_bytes - std::min(free_bytes, min_free_bytes_);
    const bool is_low = free_bytes < min_free_bytes_;
    if (!is_low && room >= more_bytes) return {};
    return base::fail({"store.min_free",
                       is_low ? "The store's disk has less than its minimum of free space"
                              : "The store's disk has no room for this beyond its minimum of free space",
                       (is_low ? std::string() : base::render_bytes(more_bytes) + " to store, ") +
                           base::render_bytes(free_bytes) + " free, minimum " +
                           base::render_bytes(min_free_bytes_),
                       "free space on the disk, or lower [store] min_free_mib", base::Recovery::retry,
                       base::ErrorKind::other, ENOSPC});
}

bool DiskRoom::has_reserve() const {
    return base::file_size(file()).value_or(0) >= min_free_bytes_;
}

base::Status DiskRoom::keep_reserve() const {
    if (min_free_bytes_ == 0 || has_reserve()) return {};
    if (!check(min_free_bytes_)) return {};
    const base::Fd fd(::open(file().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) return base::fail_errno("open", file().string(), errno);
    const int failed = ::posix_fallocate(fd.get(), 0, static_cast<off_t>(min_free_bytes_));
    if (failed == 0) return {};
    static_cast<void>(base::remove_file(file()));  // part of a reserve would be taken for a whole one
    if (failed == ENOSPC || failed == EDQUOT) return {};
    return base::fail_errno("posix_fallocate", file().string(), failed);
}

bool DiskRoom::give_back() const {
    return ::unlink(file().c_str()) == 0;
}

bool DiskRoom::give_back_if_low() const {
    return free_bytes_of(store_) < min_free_bytes_ && give_back();
}

}  // namespace wheelyard::blobs
