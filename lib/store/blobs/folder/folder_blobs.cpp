#include "lib/store/blobs/folder/folder_blobs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::blobs {
namespace {

namespace fs = std::filesystem;

constexpr int max_placing_tries = 16;
constexpr std::size_t compared_piece_bytes = base::mib;
// Who writes registry.json beside open() takes milliseconds.
constexpr std::chrono::minutes left_after(1);

// The 256 folders, durable before anything in them is acknowledged: also those that a killed run made and did
// not come to sync. So no blob pays for the fsync of a folder made for it.
base::Status make_folders(const fs::path& root) {
    constexpr int folders = 256;
    for (int number = 0; number < folders; ++number) {
        const fs::path folder = root / base::encode_hex(std::string(1, static_cast<char>(number)));
        std::error_code ignored;
        if (fs::is_directory(folder, ignored)) continue;
        if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
            return base::fail_errno("making the folder", folder.string(), errno);
    }
    return base::fsync_directory(root);
}

// `blobs` may be a link to a folder that others share. A blob is stored by a link, so no upload would work.
base::Status check_same_file_system(const fs::path& directory) {
    const fs::path staging = directory / "staging";
    struct stat staged {};
    struct stat stored {};
    if (::stat(staging.c_str(), &staged) != 0) return base::fail_errno("stat", staging.string(), errno);
    if (::stat(root_of(directory).c_str(), &stored) != 0)
        return base::fail_errno("stat", root_of(directory).string(), errno);
    if (staged.st_dev == stored.st_dev) return {};
    return base::fail("blobs.other_file_system", "The blobs are on another file system than the data folder",
                      fs::canonical(root_of(directory)).string(),
                      "put both on one file system, or the wheels into a bucket ([stores] blobs)");
}

// Reads up to `piece.size()` bytes at `offset`; 0 at the end, and where the disk cannot read them.
std::size_t read_piece(int fd, std::string& piece, std::uint64_t offset) {
    std::size_t have = 0;
    while (have < piece.size()) {
        const ssize_t got =
            ::pread(fd, piece.data() + have, piece.size() - have, static_cast<off_t>(offset + have));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        have += static_cast<std::size_t>(got);
    }
    return have;
}

base::Status write_piece(int fd, std::string_view bytes, std::uint64_t offset, const fs::path& target) {
    while (!bytes.empty()) {
        const ssize_t put = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return base::fail_errno("pwrite", target.string(), errno);
        offset += static_cast<std::uint64_t>(put);
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
}

// Writes the pieces of `target` that differ from `staged`. In place, because the published tree has hard
// links to this file. Returns whether any did. A crash in between leaves a file that is still damaged.
base::Result<bool> repair(const StagedBlob& staged, const fs::path& target) {
    const std::uint64_t size = staged.size();
    WHEELYARD_ASSIGN(const base::Fd good, staged.open());
    WHEELYARD_ASSIGN(base::Fd stored, base::open_untrusted(target));  // what a broken disk left there
    // Past the page cache: bytes in memory say nothing about those on the disk.
    static_cast<void>(::posix_fadvise(stored.get(), 0, 0, POSIX_FADV_DONTNEED));
    bool differs = base::file_size(target).value_or(size + 1) != size;
    std::string wanted(compared_piece_bytes, '\0');
    std::string there(compared_piece_bytes, '\0');
    bool is_writable = false;
    for (std::uint64_t offset = 0;; offset += compared_piece_bytes) {
        const std::size_t want = read_piece(good.get(), wanted, offset);
        const std::size_t have = read_piece(stored.get(), there, offset);
        const std::string_view right = std::string_view(wanted).substr(0, want);
        const bool same = have >= want && right == std::string_view(there).substr(0, want);
        if ((!same || differs) && !is_writable) {
            if (::chmod(target.c_str(), stored_mode | S_IWUSR) != 0)
                return base::fail_errno("chmod", target.string(), errno);
            stored = base::Fd(::open(target.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
            if (!stored) return base::fail_errno("open", target.string(), errno);
            is_writable = true;
        }
        if (!same) {
            WHEELYARD_TRY(write_piece(stored.get(), right, offset, target));
            differs = true;
        }
        if (want < compared_piece_bytes) break;
    }
    if (!differs) return false;
    if (::ftruncate(stored.get(), static_cast<off_t>(size)) != 0)
        return base::fail_errno("ftruncate", target.string(), errno);
    if (::fchmod(stored.get(), stored_mode) != 0) return base::fail_errno("fchmod", target.string(), errno);
    WHEELYARD_TRY(base::fsync_file(stored.get(), target.string()));
    return true;
}

// Gives the staged bytes their lasting name. A file that has it already is repaired where it differs, and
// counts as stored now: a collection that is about to remove it sees that (collection.cpp).
base::Status place(const StagedBlob& staged, const fs::path& target) {
    for (int tries = 0;; ++tries) {
        auto linked = staged.link_as(target);
        if (linked || linked.error().os_error != EEXIST) return linked;
        std::error_code left;  // what a repair of the file system left there is no file
        if (!fs::is_regular_file(fs::symlink_status(target, left))) fs::remove(target, left);
        if (left) return base::fail_errno("remove", target.string(), left.value());
        const auto repaired = repair(staged, target);
        const bool is_gone = !repaired && repaired.error().os_error == ENOENT;
        if (!repaired && !is_gone) return base::fail(repaired.error());
        const bool is_fresh = !is_gone && ::utimensat(AT_FDCWD, target.c_str(), nullptr, 0) == 0;
        // The kernel looks the name up before it sets the time: a collection may have looked at the time and
        // removed the file in between. A file that still has the name is safe: a collection from here on
        // finds it fresh.
        if (is_fresh && ::access(target.c_str(), F_OK) == 0) return {};
        if ((!is_gone && errno != ENOENT) || tries == max_placing_tries)
            return base::fail_errno("utimensat", target.string(), errno);
        // A collection removed it between the calls: link again.
    }
}

base::Result<std::unique_ptr<base::Reader>> open_file(const fs::path& file) {
    WHEELYARD_ASSIGN(base::FileReader reader, base::FileReader::open(file));
    return std::make_unique<base::FileReader>(std::move(reader));
}

// What a repair of the file system left in the place of a blob may be of any type.
base::Result<std::unique_ptr<base::Reader>> open_on_disk(const fs::path& file) {
    auto fd = base::open_untrusted(file);
    if (!fd) {
        std::error_code ignored;
        const bool is_other =
            fd.error().os_error != ENOENT && !fs::is_regular_file(fs::symlink_status(file, ignored));
        if (is_other) fd.error().kind = base::ErrorKind::malformed;
        return base::fail(std::move(fd.error()));
    }
    static_cast<void>(::posix_fadvise(fd->get(), 0, 0, POSIX_FADV_DONTNEED));
    return open_file(file);
}

}  // namespace

FolderBlobs::FolderBlobs(fs::path directory, Staging staging, base::Fd root)
    : BlobStore(std::move(staging)), directory_(std::move(directory)), root_(std::move(root)) {}

base::Result<FolderBlobs> FolderBlobs::open(const fs::path& directory) {
    WHEELYARD_ASSIGN(Staging staging, Staging::open(directory));
    // Shuts off everything below: also bytes that are quarantined, whose files are readable for the sake of
    // their hard links in the published tree.
    WHEELYARD_TRY(base::make_private_directories(root_of(directory).parent_path()));
    WHEELYARD_TRY(base::make_directories(root_of(directory)));
    WHEELYARD_TRY(base::make_private(directory / "collecting"));
    WHEELYARD_TRY(make_folders(root_of(directory)));
    WHEELYARD_TRY(check_same_file_system(directory));
    WHEELYARD_TRY(put_back_collecting(directory));
    WHEELYARD_TRY(base::remove_temporary_files(identity_of(directory), left_after));
    WHEELYARD_ASSIGN(base::Fd root, base::open_read(root_of(directory)));
    return FolderBlobs(directory, std::move(staging), std::move(root));
}

FolderBlobs FolderBlobs::read(const fs::path& directory) {
    auto root = base::open_read(root_of(directory));
    return FolderBlobs(directory, Staging(directory), root ? *std::move(root) : base::Fd());
}

base::Result<std::string> FolderBlobs::store(StagedBlob&& staged) const {
    StagedBlob owned = std::move(staged);
    const std::string digest = owned.finish();
    const fs::path target = path_of(digest);
    WHEELYARD_TRY(owned.make_durable(stored_mode));
    WHEELYARD_TRY(place(owned, target));
    // This is needed also if the name existed: its creator may not have synced the folder yet.
    WHEELYARD_TRY(base::fsync_directory(target.parent_path()));
    return digest;
}

base::Result<std::unique_ptr<base::Reader>> FolderBlobs::open(std::string_view sha256, ReadFrom from) const {
    return from == ReadFrom::medium ? open_on_disk(path_of(sha256)) : open_file(path_of(sha256));
}

base::Status FolderBlobs::link_into(std::string_view sha256, int folder, const char* path) const {
    WHEELYARD_CHECK(base::is_sha256_hex(sha256));
    std::string below_root;
    below_root.append(sha256.substr(0, 2)).append(1, '/').append(sha256);
    if (root_ && ::linkat(root_.get(), below_root.c_str(), folder, path, 0) == 0) return {};
    const int why = root_ ? errno : ENOENT;
    return base::fail_errno("link", path_of(sha256).string(), why);
}

fs::path FolderBlobs::path_of(std::string_view sha256) const {
    WHEELYARD_CHECK(base::is_sha256_hex(sha256));
    return file_of(directory_, sha256);
}

base::Status FolderBlobs::write_identity(std::string_view document) const {
    return base::replace_file(identity_of(directory_), document);
}

base::Result<std::string> FolderBlobs::read_identity() const {
    return base::read_file(identity_of(directory_), max_identity_bytes);
}

}  // namespace wheelyard::blobs
