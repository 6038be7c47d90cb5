// The content-addressed store on a local disk.
//
// Every writer holds a flock(2) on the file it stages, and the kernel releases the lock when the process
// ends. open() therefore removes exactly the staged files that it can lock: leftovers of dead processes go,
// files of running ones (a CLI command, or a server in another container) stay.
#include "registry/blobs/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "lib/base/check.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/private_files.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "registry/blobs/collection.hpp"

namespace wheelyard::blobs {
namespace {

namespace fs = std::filesystem;

constexpr mode_t staged_mode = 0600;
constexpr mode_t stored_mode = 0444;
constexpr int max_staging_tries = 16;
// Writeback starts after each such step, so that the final fsync of a multi-GB wheel is short.
constexpr std::uint64_t writeback_step_bytes = 32 * base::mib;
constexpr std::size_t compared_piece_bytes = base::mib;

fs::path staging_of(const fs::path& directory) {
    return directory / "staging";
}

// Takes the lock that marks the file as in use. Returns false if another process holds it.
base::Result<bool> try_lock(int fd, const fs::path& path) {
    while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return false;
        if (errno != EINTR) return base::fail_errno("flock", path.string(), errno);
    }
    return true;
}

// A file that cannot be opened or locked (another user's, a file system without flock) stays: it is an
// orphan, not damage.
base::Status remove_leftover(const fs::path& path) {
    constexpr int flags = O_CLOEXEC | O_NOFOLLOW;
    base::Fd fd(::open(path.c_str(), O_RDWR | flags));               // NFS locks writable files only
    if (!fd) fd = base::Fd(::open(path.c_str(), O_RDONLY | flags));  // one that was finished is mode 0444
    if (!fd) return {};
    const auto ours = try_lock(fd.get(), path);
    return ours && *ours ? base::remove_file(path) : base::Status{};
}

base::Status remove_leftovers(const fs::path& staging) {
    std::error_code error;
    for (fs::directory_iterator entry(staging, error), end; !error && entry != end; entry.increment(error)) {
        WHEELYARD_TRY(remove_leftover(entry->path()));
    }
    if (error) return base::fail_errno("readdir", staging.string(), error.value());
    return {};
}

// False if a cleaner removed the file between its creation and its lock.
base::Result<bool> still_linked(int fd, const fs::path& path) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return base::fail_errno("fstat", path.string(), errno);
    return status.st_nlink > 0;
}

// The 256 folders, durable before anything in them is acknowledged: also those that a killed run made and did
// not come to sync. So no blob pays for the fsync of a folder made for it.
base::Status make_folders(const fs::path& root) {
    constexpr int folders = 256;
    for (int number = 0; number < folders; ++number) {
        const fs::path folder = root / base::encode_hex(std::string(1, static_cast<char>(number)));
        std::error_code ignored;
        if (fs::is_directory(folder, ignored)) continue;
        if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
            return base::fail_errno("mkdir", folder.string(), errno);
    }
    return base::fsync_directory(root);
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

// Writes the pieces of `target` that differ from `staged`. In place, because the published tree has hard links
// to this file. Returns whether any did. A crash in between leaves a file that is still damaged.
base::Result<bool> repair(const fs::path& staged, const fs::path& target, std::uint64_t size) {
    WHEELYARD_ASSIGN(const base::Fd good, base::open_read(staged));
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
base::Status place(const fs::path& staged, const fs::path& target, std::uint64_t size) {
    for (int tries = 0;; ++tries) {
        if (::link(staged.c_str(), target.c_str()) == 0) return {};
        if (errno != EEXIST) return base::fail_errno("link", target.string(), errno);
        const auto repaired = repair(staged, target, size);
        const bool is_gone = !repaired && repaired.error().os_error == ENOENT;
        if (!repaired && !is_gone) return base::fail(repaired.error());
        const bool is_fresh = !is_gone && ::utimensat(AT_FDCWD, target.c_str(), nullptr, 0) == 0;
        // The kernel looks the name up before it sets the time: a collection may have looked at the time and removed the
        // file in between. A file that still has the name is safe: a collection from here on finds it fresh.
        if (is_fresh && ::access(target.c_str(), F_OK) == 0) return {};
        if ((!is_gone && errno != ENOENT) || tries == max_staging_tries)
            return base::fail_errno("utimensat", target.string(), errno);
        // A collection removed it between the calls: link again.
    }
}

}  // namespace

StagedBlob::StagedBlob(fs::path path, base::Fd fd)
    : path_(std::move(path)), fd_(std::move(fd)), sha256_(base::DigestKind::sha256) {}

StagedBlob::StagedBlob(StagedBlob&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      fd_(std::move(other.fd_)),
      sha256_(std::move(other.sha256_)),
      digest_(std::move(other.digest_)),
      size_(other.size_),
      written_back_(other.written_back_) {}

StagedBlob::~StagedBlob() {
    if (!path_.empty()) ::unlink(path_.c_str());  // if this fails, the next open() removes the file
}

base::Status StagedBlob::write(std::string_view bytes) {
    WHEELYARD_CHECK(digest_.empty());
    WHEELYARD_TRY(base::write_all(fd_.get(), bytes));
    sha256_.update(bytes);
    size_ += bytes.size();
    if (size_ - written_back_ >= writeback_step_bytes) {
        // Advisory only: fsync reports write errors.
        static_cast<void>(::sync_file_range(fd_.get(), static_cast<off_t>(written_back_),
                                            static_cast<off_t>(size_ - written_back_),
                                            SYNC_FILE_RANGE_WRITE));
        written_back_ = size_;
    }
    return {};
}

const std::string& StagedBlob::finish() {
    if (digest_.empty()) digest_ = base::encode_hex(sha256_.finish());
    return digest_;
}

base::Result<BlobStore> BlobStore::open(const fs::path& directory) {
    WHEELYARD_TRY(base::make_private_directories(staging_of(directory)));
    // Shuts off everything below: also bytes that are quarantined, whose files are readable for the sake of their
    // hard links in the published tree.
    WHEELYARD_TRY(base::make_private_directories(root_of(directory).parent_path()));
    WHEELYARD_TRY(base::make_directories(root_of(directory)));
    for (const char* folder : {"damaged", "collecting"})
        WHEELYARD_TRY(base::make_private(directory / folder));
    WHEELYARD_TRY(make_folders(root_of(directory)));
    WHEELYARD_TRY(remove_leftovers(staging_of(directory)));
    WHEELYARD_TRY(put_back_collecting(directory));
    return BlobStore(directory);
}

base::Result<StagedBlob> BlobStore::stage() const {
    for (int i = 0; i < max_staging_tries; ++i) {
        fs::path path = staging_of(directory_) / base::encode_hex(base::random_bytes(16));
        WHEELYARD_ASSIGN(base::Fd fd, base::create_new(path, staged_mode));
        WHEELYARD_ASSIGN(const bool locked, try_lock(fd.get(), path));
        if (!locked) continue;  // a cleaner is about to remove it
        WHEELYARD_ASSIGN(const bool linked, still_linked(fd.get(), path));
        if (linked) return StagedBlob(std::move(path), std::move(fd));
    }
    return base::fail("blobs.staging_contended",
                      "Another process keeps removing new files from the staging folder",
                      staging_of(directory_).string());
}

base::Result<std::string> BlobStore::store(StagedBlob&& staged) const {
    StagedBlob owned = std::move(staged);
    const std::string digest = owned.finish();
    const fs::path target = path_of(digest);
    const int fd = owned.fd_.get();
    if (::fchmod(fd, stored_mode) != 0) return base::fail_errno("fchmod", owned.path_.string(), errno);
    WHEELYARD_TRY(base::fsync_file(fd, owned.path_.string()));
    WHEELYARD_TRY(place(owned.path_, target, owned.size_));
    // Also if the name existed: its creator may not have synced the folder yet.
    WHEELYARD_TRY(base::fsync_directory(target.parent_path()));
    return digest;
}

base::Result<std::string> BlobStore::store_bytes(std::string_view bytes) const {
    WHEELYARD_ASSIGN(StagedBlob staged, stage());
    WHEELYARD_TRY(staged.write(bytes));
    return store(std::move(staged));
}

BlobStore::BlobStore(fs::path directory)
    : directory_(std::move(directory)), root_(root_of(directory_).native() + "/") {}

std::string BlobStore::path_text_of(std::string_view sha256) const {
    WHEELYARD_CHECK(base::is_sha256_hex(sha256));
    std::string path;
    path.reserve(root_.size() + sha256.size() + 3);
    path.append(root_).append(sha256.substr(0, 2)).append(1, '/').append(sha256);
    return path;
}

fs::path BlobStore::path_of(std::string_view sha256) const {
    return path_text_of(sha256);
}

bool BlobStore::is_intact(std::string_view sha256) const {
    const auto found = base::sha256_hex_of_file(path_of(sha256));
    return found && *found == sha256;
}

bool BlobStore::contains(std::string_view sha256) const {
    std::error_code error;
    return fs::is_regular_file(path_of(sha256), error);
}

}  // namespace wheelyard::blobs
