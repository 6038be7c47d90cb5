// Blobs being written: files of `staging/` in the data folder, from the first byte until a store has taken
// them over.
//
// Whatever store takes the bytes, they are hashed and inspected here first. Every writer holds a flock(2) on
// the file that it stages, and the kernel releases the lock when the process ends. open() therefore removes
// exactly the staged files that it can lock: leftovers of dead processes go, files of running ones (a CLI
// command, or a server in another container) stay.
#include "lib/store/blobs/store.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "lib/base/check.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::blobs {
namespace {

namespace fs = std::filesystem;

constexpr mode_t staged_mode = 0600;
constexpr int max_staging_tries = 16;
// Writeback starts after each such step, so that the final fsync of a multi-GB wheel is short.
constexpr std::uint64_t writeback_step_bytes = 32 * base::mib;

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

base::Status StagedBlob::make_durable(mode_t mode) const {
    if (::fchmod(fd_.get(), mode) != 0) return base::fail_errno("fchmod", path_.string(), errno);
    return base::fsync_file(fd_.get(), path_.string());
}

base::Status StagedBlob::link_as(const fs::path& target) const {
    if (::link(path_.c_str(), target.c_str()) == 0) return {};
    return base::fail_errno("link", target.string(), errno);
}

base::Result<Staging> Staging::open(const fs::path& data) {
    Staging staging(data);
    WHEELYARD_TRY(base::make_private_directories(staging.folder_));
    WHEELYARD_TRY(remove_leftovers(staging.folder_));
    return staging;
}

base::Result<StagedBlob> Staging::stage() const {
    for (int i = 0; i < max_staging_tries; ++i) {
        fs::path path = folder_ / base::encode_hex(base::random_bytes(16));
        WHEELYARD_ASSIGN(base::Fd fd, base::create_new(path, staged_mode));
        WHEELYARD_ASSIGN(const bool locked, try_lock(fd.get(), path));
        if (!locked) continue;  // a cleaner is about to remove it
        WHEELYARD_ASSIGN(const bool linked, still_linked(fd.get(), path));
        if (linked) return StagedBlob(std::move(path), std::move(fd));
    }
    return base::fail("blobs.staging_contended",
                      "Another process keeps removing new files from the staging folder", folder_.string());
}

}  // namespace wheelyard::blobs
