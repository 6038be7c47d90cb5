// Removes blobs while uploads may be storing the same bytes.
//
// An upload whose bytes exist already compares them, repairs what differs, updates the file's mtime and then
// commits the row. A blob is therefore removed in three steps: rename into `collecting/`, check its mtime,
// then remove it or put it back. The check sees an upload that touched the file before the rename; a later
// upload finds no file and stores its own. Either way the row has its bytes. The next open() puts back what a
// killed collection left in `collecting/`: an extra blob is an orphan, a missing one is damage.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/store/blobs/folder/folder_blobs.hpp"

namespace wheelyard::blobs {
namespace {

namespace fs = std::filesystem;

fs::path collecting_of(const fs::path& directory) {
    return directory / "collecting";
}

base::UnixMicros micros_of(const struct timespec& time) {
    return static_cast<base::UnixMicros>(time.tv_sec) * 1'000'000 + time.tv_nsec / 1000;
}

base::Result<std::optional<StoredBlob>> look_at(const fs::path& file, std::string sha256) {
    struct stat status {};
    if (::lstat(file.c_str(), &status) != 0) {
        if (errno == ENOENT) return std::nullopt;
        return base::fail_errno("lstat", file.string(), errno);
    }
    return StoredBlob{.sha256 = std::move(sha256),
                      .size_bytes = static_cast<std::uint64_t>(status.st_size),
                      .stored = micros_of(status.st_mtim)};
}

// Serializes collections: a second one could move newer bytes to the name that the first is about to delete.
// Closing the descriptor releases the lock.
base::Result<base::Fd> lock_collecting(const fs::path& folder) {
    base::Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return base::fail_errno("open", folder.string(), errno);
    while (::flock(fd.get(), LOCK_EX) != 0) {
        if (errno != EINTR) return base::fail_errno("flock", folder.string(), errno);
    }
    return fd;
}

// Puts a blob back; an existing file in its place stays.
base::Status put_back(const fs::path& taken, const fs::path& place) {
    if (::link(taken.c_str(), place.c_str()) != 0 && errno != EEXIST && errno != ENOENT)
        return base::fail_errno("link", place.string(), errno);
    WHEELYARD_TRY(base::fsync_directory(place.parent_path()));
    return base::remove_file(taken);
}

}  // namespace

base::Status put_back_collecting(const fs::path& directory) {
    std::error_code error;
    if (!fs::exists(collecting_of(directory), error)) return {};
    WHEELYARD_ASSIGN(const base::Fd lock, lock_collecting(collecting_of(directory)));
    std::vector<std::string> names;
    for (fs::directory_iterator entry(collecting_of(directory), error), end; !error && entry != end;
         entry.increment(error))
        names.push_back(entry->path().filename().string());
    if (error == std::errc::no_such_file_or_directory) return {};
    if (error) return base::fail_errno("readdir", collecting_of(directory).string(), error.value());
    for (const std::string& name : names) {
        if (!base::is_sha256_hex(name)) continue;
        const fs::path place = file_of(directory, name);
        WHEELYARD_TRY(base::make_directories(place.parent_path()));
        WHEELYARD_TRY(put_back(collecting_of(directory) / name, place));
    }
    return {};
}

base::Result<std::optional<StoredBlob>> FolderBlobs::find(std::string_view sha256) const {
    return look_at(path_of(sha256), std::string(sha256));
}

base::Result<std::vector<StoredBlob>> FolderBlobs::list(std::string_view two_digits) const {
    WHEELYARD_CHECK(two_digits.size() == 2);
    const fs::path folder = root_of(directory_) / two_digits;
    std::vector<StoredBlob> blobs;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        std::string name = entry->path().filename().string();
        if (!base::is_sha256_hex(name) || name.substr(0, 2) != two_digits) continue;
        WHEELYARD_ASSIGN(auto blob, look_at(entry->path(), std::move(name)));
        if (blob) blobs.push_back(*std::move(blob));  // none: collected by another process in the meantime
    }
    if (error && error != std::errc::no_such_file_or_directory)
        return base::fail_errno("readdir", folder.string(), error.value());
    std::sort(blobs.begin(), blobs.end(),
              [](const StoredBlob& a, const StoredBlob& b) { return a.sha256 < b.sha256; });
    return blobs;
}

base::Result<bool> FolderBlobs::remove_if_stored_before(std::string_view sha256,
                                                        base::UnixMicros before) const {
    WHEELYARD_CHECK(base::is_sha256_hex(sha256));
    const fs::path place = path_of(sha256);
    const fs::path taken = collecting_of(directory_) / sha256;
    std::error_code ignored;
    const fs::file_type type = fs::symlink_status(place, ignored).type();
    if (type != fs::file_type::regular) return false;  // also what a repair of the file system left there
    WHEELYARD_TRY(base::make_private_directories(taken.parent_path()));
    WHEELYARD_ASSIGN(const base::Fd lock, lock_collecting(taken.parent_path()));
    if (::rename(place.c_str(), taken.c_str()) != 0) {
        if (errno == ENOENT) return false;
        return base::fail_errno("rename", place.string(), errno);
    }
    struct stat status {};
    if (::lstat(taken.c_str(), &status) != 0) {
        if (errno == ENOENT) return false;  // another process's open() has put it back
        return base::fail_errno("lstat", taken.string(), errno);
    }
    const bool is_old = micros_of(status.st_mtim) < before;
    WHEELYARD_TRY(is_old ? base::remove_file(taken) : put_back(taken, place));
    return is_old;
}

}  // namespace wheelyard::blobs
