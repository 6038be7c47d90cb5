// Taking blobs away, beside uploads that may be storing the very same bytes.
//
// An upload that finds its bytes there does not write them again: it marks the file as stored now (its mtime)
// and then commits the row. So a blob is removed in three steps: renamed into `collecting/`, looked at, and
// removed for good or put back. An upload that marked it before the rename is seen by that look; one that
// comes after finds nothing there and stores its own. Either way its row has its bytes. What a killed
// collection leaves in `collecting/` is put back by the next open(): a blob too many is an orphan, one too
// few is damage.
#include "registry/blobs/collection.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "lib/base/check.hpp"
#include "lib/base/digest.hpp"
#include "lib/base/file.hpp"
#include "registry/blobs/store.hpp"

namespace wheelyard::blobs {
namespace {

namespace fs = std::filesystem;

fs::path collecting_of(const fs::path& directory) {
    return directory / "collecting";
}

base::UnixMicros micros_of(const struct timespec& time) {
    return static_cast<base::UnixMicros>(time.tv_sec) * 1'000'000 + time.tv_nsec / 1000;
}

// One collection at a time: a second one would put newer bytes of the same name where the first is about to
// remove old ones. Ends with its descriptor.
base::Result<base::Fd> lock_collecting(const fs::path& folder) {
    base::Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return base::fail_errno("open", folder.string(), errno);
    while (::flock(fd.get(), LOCK_EX) != 0) {
        if (errno != EINTR) return base::fail_errno("flock", folder.string(), errno);
    }
    return fd;
}

// Back to its place; bytes that are there already stay.
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
        const fs::path place = root_of(directory) / name.substr(0, 2) / name;
        WHEELYARD_TRY(base::make_directories(place.parent_path()));
        WHEELYARD_TRY(put_back(collecting_of(directory) / name, place));
    }
    return {};
}

base::Result<std::vector<StoredBlob>> BlobStore::list(std::string_view two_digits) const {
    WHEELYARD_CHECK(two_digits.size() == 2);
    const fs::path folder = root_of(directory_) / two_digits;
    std::vector<StoredBlob> blobs;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        std::string name = entry->path().filename().string();
        if (!base::is_sha256_hex(name) || name.substr(0, 2) != two_digits) continue;
        struct stat status {};
        if (::stat(entry->path().c_str(), &status) != 0) {
            if (errno == ENOENT) continue;  // collected by another process meanwhile
            return base::fail_errno("stat", entry->path().string(), errno);
        }
        blobs.push_back({.sha256 = std::move(name),
                         .size_bytes = static_cast<std::uint64_t>(status.st_size),
                         .stored = micros_of(status.st_mtim)});
    }
    if (error && error != std::errc::no_such_file_or_directory)
        return base::fail_errno("readdir", folder.string(), error.value());
    std::sort(blobs.begin(), blobs.end(),
              [](const StoredBlob& a, const StoredBlob& b) { return a.sha256 < b.sha256; });
    return blobs;
}

base::Result<bool> BlobStore::remove_if_stored_before(std::string_view sha256,
                                                      base::UnixMicros before) const {
    const fs::path place = path_of(sha256);
    const fs::path taken = collecting_of(directory_) / sha256;
    WHEELYARD_TRY(base::make_directories(taken.parent_path()));
    WHEELYARD_ASSIGN(const base::Fd lock, lock_collecting(taken.parent_path()));
    if (::rename(place.c_str(), taken.c_str()) != 0) {
        if (errno == ENOENT) return false;
        return base::fail_errno("rename", place.string(), errno);
    }
    struct stat status {};
    if (::stat(taken.c_str(), &status) != 0) {
        if (errno == ENOENT) return false;  // another process's open() has put it back
        return base::fail_errno("stat", taken.string(), errno);
    }
    if (micros_of(status.st_mtim) >= before) {
        WHEELYARD_TRY(put_back(taken, place));
        return false;
    }
    WHEELYARD_TRY(base::remove_file(taken));
    return true;
}

base::Status BlobStore::set_aside_damaged(std::string_view sha256) const {
    const fs::path aside = directory_ / "damaged" / sha256;
    WHEELYARD_TRY(base::make_directories(aside.parent_path()));
    WHEELYARD_TRY(base::rename_durably(path_of(sha256), aside));
    return base::fsync_directory(path_of(sha256).parent_path());
}

}  // namespace wheelyard::blobs
