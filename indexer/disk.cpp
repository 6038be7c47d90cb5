// The file operations of a publish run, on the machine's file system.
#include "indexer/disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

#include "indexer/limits.hpp"
#include "lib/base/digest.hpp"
#include "lib/base/encoding.hpp"
#include "lib/base/file.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

constexpr mode_t file_mode = 0444;  // as blobs have it

// link(2): other file system, no links here, none across projects, too many links, fs.protected_hardlinks.
constexpr std::array link_is_impossible{EXDEV, EOPNOTSUPP, ENOSYS, EMLINK, EPERM};

bool same_file(const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    return fs::equivalent(a, b, ignored);
}

// Replaces an existing `to`: rename(2) does nothing when both names are one file already, so the aside name
// is removed after it.
base::Status link_over(const fs::path& blob, const fs::path& to) {
    if (same_file(blob, to)) return {};
    const fs::path aside =
        to.parent_path() /
        (".aside." + base::encode_hex(base::random_bytes(8)));  // short: NAME_MAX is near for some wheels
    if (::link(blob.c_str(), aside.c_str()) != 0) return base::fail_errno("link", aside.native(), errno);
    const int renamed = ::rename(aside.c_str(), to.c_str());
    const int why = errno;
    ::unlink(aside.c_str());
    if (renamed != 0) return base::fail_errno("rename", to.native(), why);
    return {};
}

}  // namespace

base::Result<std::optional<std::uint64_t>> LocalDisk::size_of(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) return static_cast<std::uint64_t>(status.st_size);
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return base::fail_errno("stat", path.native(), errno);
}

base::Result<std::string> LocalDisk::read(const fs::path& path, std::uint64_t limit_bytes) {
    return base::read_file(path, limit_bytes);
}

base::Status LocalDisk::make_directories(const fs::path& path) {
    return base::make_directories(path);
}

base::Status LocalDisk::link_or_copy(const fs::path& blob, const fs::path& to, std::string_view sha256,
                                     const Meanwhile& meanwhile) {
    if (::link(blob.c_str(), to.c_str()) == 0) return {};
    if (errno == ENOENT) {
        return base::fail("publish.blob_missing", "The catalog names a file that the store does not hold",
                          blob.native(), "restore it from a backup; nothing that names it was published");
    }
    if (errno == EEXIST) {
        const auto linked = link_over(blob, to);
        if (linked) return {};
    } else if (std::find(link_is_impossible.begin(), link_is_impossible.end(), errno) ==
               link_is_impossible.end()) {
        return base::fail_errno("link", to.native(), errno);
    }
    return copy_verified(blob, to, sha256, meanwhile);
}

base::Status LocalDisk::sync_directory(const fs::path& path) {
    return base::fsync_directory(path);
}

base::Status LocalDisk::replace(const fs::path& path, std::string_view bytes) {
    return base::replace_file(path, bytes);
}

base::Status LocalDisk::remove(const fs::path& path) {
    // remove(3): unlink for a file, rmdir for a folder.
    if (std::remove(path.c_str()) == 0) return {};
    const int why = errno;
    if (why == ENOENT || why == ENOTEMPTY || why == EEXIST) return {};
    return base::fail_errno("remove", path.native(), why);
}

base::Status LocalDisk::remove_leftovers(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> leftovers;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().native();
        if (name.front() == '.' && name.find(".aside.") != std::string::npos)
            leftovers.push_back(entry->path());
    }
    if (error) return base::fail_errno("readdir", folder.native(), error.value());
    for (const auto& leftover : leftovers)
        WHEELYARD_TRY(base::remove_file(leftover));
    return {};
}

base::Status copy_verified(const fs::path& from, const fs::path& to, std::string_view sha256,
                           const Meanwhile& meanwhile) {
    WHEELYARD_ASSIGN(const auto reader, base::FileReader::open(from));
    WHEELYARD_ASSIGN(auto copy, base::FileReplacement::begin(to, file_mode));
    base::Digest digest(base::DigestKind::sha256);
    const auto take = [&](std::string_view piece) -> base::Status {
        digest.update(piece);
        WHEELYARD_TRY(copy.write(piece));
        return meanwhile();
    };
    WHEELYARD_TRY(base::for_each_piece(reader, copy_chunk_bytes, take));
    if (base::encode_hex(digest.finish()) != sha256) {
        return base::fail("publish.blob_damaged",
                          "A stored file no longer has the bytes that its name promises", from.native(),
                          "restore this file from a backup; nothing that names it was published");
    }
    return copy.commit();
}

}  // namespace wheelyard::indexer
