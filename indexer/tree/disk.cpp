// LocalDisk: the file operations of a publish run on a real file system.
#include "indexer/tree/disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "indexer/tree/paths.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

constexpr mode_t file_mode = 0444;  // the mode of blobs

// Errors of link(2) after which a copy is made: another file system, no hard links, links across projects,
// too many links, fs.protected_hardlinks.
constexpr std::array link_is_impossible{EXDEV, EOPNOTSUPP, ENOSYS, EMLINK, EPERM};

// An empty `folder` is the current directory.
std::string in_folder(const std::string& folder, std::string_view name) {
    std::string path;
    path.reserve(folder.size() + name.size() + 1);
    path += folder;
    if (!folder.empty()) path += '/';
    return path.append(name);
}

// "." if the path has no slash.
std::string parent_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return path.substr(0, std::max<std::size_t>(slash, 1));
}

// How the names of this process's temporary files begin.
const std::string& temp_start() {
    static const std::string start = ".tmp." + base::encode_hex(base::random_bytes(8));
    return start;
}

// A name that no other process, host or thread uses. Short, because some wheel names are close to NAME_MAX.
std::string temp_name_in(const std::string& folder) {
    static std::atomic<std::uint64_t> count{0};
    return in_folder(folder, temp_start() + std::to_string(++count));
}

bool same_file(const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    return fs::equivalent(a, b, ignored);
}

tl::unexpected<base::Error> fail_missing(const base::Error& error) {
    return base::fail_as(
        base::ErrorKind::other, base::Recovery::person,
        {"publish.blob_missing", "The catalog names a file that is missing from the blob store", error.value,
         "restore it from a backup; no page that links to it was published"});
}

}  // namespace

AtPath LocalDisk::at_path(const std::string& path) const {
    if (const AtPath hidden = hidden_.at_path(path); hidden.path != nullptr) return hidden;
    const bool is_below = bulk_ && path.size() > bulk_prefix_.size() && path.starts_with(bulk_prefix_) &&
                          path[bulk_prefix_.size()] != '/';
    if (is_below) return {bulk_.get(), path.c_str() + bulk_prefix_.size()};
    return {AT_FDCWD, path.c_str()};
}

base::Result<std::optional<std::uint64_t>> LocalDisk::size_of(const std::string& path) {
    struct stat status {};
    const AtPath at = at_path(path);
    if (::fstatat(at.folder, at.path, &status, 0) == 0) return static_cast<std::uint64_t>(status.st_size);
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return base::fail_errno("stat", path, errno);
}

base::Result<std::string> LocalDisk::read(const fs::path& path, std::uint64_t limit_bytes) {
    return base::read_file(hidden_.actual(path.native()), limit_bytes);
}

base::Result<bool> LocalDisk::make_directories(const std::string& path) {
    constexpr mode_t folder_mode = 0777;
    const AtPath at = at_path(path);
    if (::mkdirat(at.folder, at.path, folder_mode) != 0) {
        const int why = errno;
        struct stat there {};
        if (why == EEXIST && ::fstatat(at.folder, at.path, &there, 0) == 0 && S_ISDIR(there.st_mode))
            return false;
        const std::string parent = parent_of(path);
        if (why != ENOENT || parent == path) return base::fail_errno("making the folder", path, why);
        WHEELYARD_TRY(make_directories(parent));
        // "a/b/" makes a/b twice, and another process may have created it in the meantime.
        if (::mkdirat(at.folder, at.path, folder_mode) != 0)
            return errno == EEXIST ? base::Result<bool>(false)
                                   : base::fail_errno("making the folder", path, errno);
    }
    if (!bulk_) WHEELYARD_TRY(sync_directory(parent_of(path)));
    return true;
}

base::Status LocalDisk::place_blob(const blobs::BlobStore& blobs, const std::string& sha256,
                                   const std::string& to, const base::KeepAlive& keep_alive) {
    const auto link_to = [&](const AtPath& at) { return blobs.link_into(sha256, at.folder, at.path); };
    const base::Status linked = link_to(at_path(to));
    if (linked) return {};
    const int why = linked.error().os_error;
    if (why == ENOENT) return fail_missing(linked.error());
    const fs::path path = hidden_.actual(to);
    if (why == EEXIST) {
        // rename(2) does nothing if both names are the same file already, so the temporary name is always
        // unlinked.
        const std::string temp = temp_name_in(path.parent_path().native());
        const bool is_linked = link_to({AT_FDCWD, temp.c_str()}).has_value();
        const bool is_renamed = is_linked && ::rename(temp.c_str(), path.c_str()) == 0;
        if (is_linked) ::unlink(temp.c_str());
        if (is_renamed) return {};
    } else if (std::find(link_is_impossible.begin(), link_is_impossible.end(), why) ==
               link_is_impossible.end()) {
        return base::fail_errno("link", to, why);
    }
    const auto reader = blobs.open(sha256, blobs::ReadFrom::cache);
    if (!reader)
        return reader.error().os_error == ENOENT ? fail_missing(reader.error()) : base::fail(reader.error());
    return copy_verified(**reader, path, sha256, keep_alive);
}

base::Status LocalDisk::place_stand_in(const std::string& to, std::uint64_t size_bytes) {
    const fs::path path = hidden_.actual(to);
    const std::string temp = temp_name_in(path.parent_path().native());
    WHEELYARD_ASSIGN(const base::Fd file, base::create_stand_in(temp, size_bytes));
    const auto finish = [&]() -> base::Status {
        if (!bulk_) WHEELYARD_TRY(base::fsync_file(file.get(), temp));
        if (::rename(temp.c_str(), path.c_str()) != 0) return base::fail_errno("rename", to, errno);
        return {};
    };
    auto done = finish();
    if (!done) ::unlink(temp.c_str());
    return done;
}

base::Status LocalDisk::sync_directory(const std::string& path) {
    return bulk_ ? base::Status{} : base::fsync_directory(hidden_.actual(path));
}

base::Status LocalDisk::replace(const fs::path& path, std::string_view bytes) {
    return write_together(path.parent_path().native(), {{path.filename().native(), std::string(bytes)}});
}

base::Result<base::Fd> LocalDisk::create(const std::string& path, int how) const {
    constexpr mode_t page_mode = 0644;
    const AtPath at = at_path(path);
    int fd = -1;
    do {
        fd = ::openat(at.folder, at.path, O_WRONLY | O_CREAT | O_CLOEXEC | how, page_mode);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) return base::fail_errno("open", path, errno);
    return base::Fd(fd);
}

base::Status LocalDisk::write_temp(const std::string& folder, const NamedBytes& file,
                                   std::vector<TempFile>& temp_files, std::vector<base::Fd>& open_files) {
    std::string temp = temp_name_in(folder);
    WHEELYARD_ASSIGN(auto fd, create(temp, O_EXCL));
    temp_files.push_back({std::move(temp), in_folder(folder, file.name)});
    WHEELYARD_TRY(base::write_all(fd.get(), file.bytes));
    if (!bulk_) open_files.push_back(std::move(fd));
    return {};
}

base::Status LocalDisk::rename_all(std::vector<TempFile>& temp_files) const {
    for (auto& item : temp_files) {
        const AtPath from = at_path(item.temp);
        const AtPath to = at_path(item.path);
        if (::renameat(from.folder, from.path, to.folder, to.path) != 0)
            return base::fail_errno("rename", item.path, errno);
        item.temp.clear();
    }
    temp_files.clear();
    return {};
}

void LocalDisk::unlink_all(const std::vector<TempFile>& temp_files) const {
    for (const auto& item : temp_files) {
        const AtPath at = at_path(item.temp);
        if (!item.temp.empty()) ::unlinkat(at.folder, at.path, 0);
    }
}

base::Status LocalDisk::replace_together(const std::string& folder, const std::vector<NamedBytes>& files) {
    WHEELYARD_TRY(write_together(folder, files));
    return sync_directory(folder);
}

base::Status LocalDisk::write_staged(const std::string& folder, const std::vector<NamedBytes>& files) const {
    const auto write_all = [&]() -> base::Status {
        for (const auto& file : files) {
            const std::string path = in_folder(folder, file.name);
            WHEELYARD_ASSIGN(const auto fd, create(path, O_TRUNC));
            WHEELYARD_TRY(base::write_all(fd.get(), file.bytes));
            if (!bulk_) WHEELYARD_TRY(base::fsync_file(fd.get(), path));
        }
        return {};
    };
    auto done = write_all();
    if (done) return {};
    for (const auto& file : files) {  // a root page lists every project whose page exists
        const std::string path = in_folder(folder, file.name);
        const AtPath place = at_path(path);
        ::unlinkat(place.folder, place.path, 0);
    }
    return done;
}

base::Status LocalDisk::write_together(const std::string& folder, const std::vector<NamedBytes>& files) {
    if (hidden_.has(folder)) return write_staged(folder, files);
    std::vector<TempFile> temp_files;
    std::vector<base::Fd> open_files;
    const auto finish = [&]() -> base::Status {
        for (const auto& file : files)
            WHEELYARD_TRY(write_temp(folder, file, temp_files, open_files));
        if (bulk_) return {};
        for (std::size_t at = 0; at < open_files.size(); ++at)
            WHEELYARD_TRY(base::fsync_file(open_files[at].get(), temp_files[at].path));
        return rename_all(temp_files);
    };
    auto done = finish();
    if (done && bulk_) {
        std::move(temp_files.begin(), temp_files.end(), std::back_inserter(pending_));
        return {};
    }
    unlink_all(temp_files);
    return done;
}

base::Result<bool> LocalDisk::symlink(const fs::path& wanted, const fs::path& target) {
    const fs::path path = hidden_.actual(wanted.native());
    if (::symlink(target.c_str(), path.c_str()) == 0) return true;
    std::error_code error;
    if (fs::read_symlink(path, error) == target) return false;
    const fs::path there = path.parent_path() / target;
    if (!fs::is_symlink(path, error) && same_file(path, there)) return false;
    const fs::path temp = temp_name_in(path.parent_path().native());
    const bool linked =
        ::symlink(target.c_str(), temp.c_str()) == 0 || ::link(there.c_str(), temp.c_str()) == 0;
    if (!linked) return base::fail_errno("symlink", path.native(), errno);
    const int renamed = ::rename(temp.c_str(), path.c_str());
    const int why = errno;
    ::unlink(temp.c_str());  // rename(2) leaves it if both names were the same file
    if (renamed != 0) return base::fail_errno("rename", path.native(), why);
    return true;
}

LocalDisk::~LocalDisk() {
    unlink_all(pending_);
}

base::Status LocalDisk::stage_directory(const std::string& folder, const base::KeepAlive& keep_alive) {
    WHEELYARD_ASSIGN(const bool is_new, make_directories(parent_of(folder)));
    if (!is_new) WHEELYARD_TRY(remove_staged(folder, keep_alive));
    std::string actual = HiddenFolders::name_for(folder);
    WHEELYARD_TRY(make_directories(actual));
    return hidden_.add(folder, std::move(actual));
}

base::Status LocalDisk::publish_directory(const std::string& folder) {
    WHEELYARD_TRY(hidden_.show(folder));
    return sync_directory(parent_of(folder));
}

base::Status LocalDisk::remove_staged(const std::string& folder, const base::KeepAlive& keep_alive) {
    return HiddenFolders::remove_leftovers(folder, keep_alive);
}

base::Status LocalDisk::begin_bulk(const fs::path& tree) {
    has_renamed_ = false;
    WHEELYARD_ASSIGN(bulk_, base::open_read(tree));
    bulk_prefix_ = tree.native() + "/";
    return {};
}

base::Status LocalDisk::flush_pending() {
    // Files alone need no sync yet, because no page links to them. Staged pages are synced in batches, since
    // one sync of all of them could take longer than the tree's lock stays valid.
    if (!bulk_ || (pending_.empty() && !has_renamed_ && hidden_.is_empty())) return {};
    if (::syncfs(bulk_.get()) != 0) return base::fail_errno("syncfs", "", errno);
    has_renamed_ = !pending_.empty();
    return rename_all(pending_);
}

base::Status LocalDisk::end_bulk() {
    WHEELYARD_TRY(flush_pending());
    if (bulk_ && ::syncfs(bulk_.get()) != 0) return base::fail_errno("syncfs", "", errno);
    bulk_.reset();
    return {};
}

base::Status LocalDisk::replace_via(const fs::path& temp, const fs::path& path, std::string_view bytes) {
    WHEELYARD_TRY(base::remove_file(temp));
    const auto finish = [&]() -> base::Status {
        WHEELYARD_ASSIGN(const auto fd, base::create_new(temp));
        WHEELYARD_TRY(base::write_all(fd.get(), bytes));
        WHEELYARD_TRY(base::fsync_file(fd.get(), temp.native()));
        if (::rename(temp.c_str(), path.c_str()) != 0)
            return base::fail_errno("rename", path.native(), errno);
        return {};
    };
    auto done = finish();
    if (!done) ::unlink(temp.c_str());  // frees its space if the disk is full
    return done;
}

base::Status LocalDisk::remove(const fs::path& path) {
    // remove(3): unlink for a file, rmdir for a folder.
    if (std::remove(hidden_.actual(path.native()).c_str()) == 0) return {};
    const int why = errno;
    if (why == ENOENT || why == ENOTEMPTY || why == EEXIST) return {};
    return base::fail_errno("remove", path.native(), why);
}

base::Status LocalDisk::remove_leftovers(const fs::path& folder) {
    if (hidden_.has(folder.native())) return {};  // freshly staged: its files have their final names
    return base::remove_temporary_files_in(folder, temp_start());  // its own wait for flush_pending()
}

base::Status copy_verified(const base::Reader& from, const fs::path& to, const std::string& sha256,
                           const base::KeepAlive& keep_alive) {
    WHEELYARD_ASSIGN(auto copy, base::FileReplacement::begin(to, file_mode));
    base::Digest digest(base::DigestKind::sha256);
    const auto take = [&](std::string_view piece) -> base::Status {
        digest.update(piece);
        WHEELYARD_TRY(copy.write(piece));
        return keep_alive();
    };
    WHEELYARD_TRY(base::for_each_piece(from, copy_chunk_bytes, take));
    if (base::encode_hex(digest.finish()) != sha256) {
        return base::fail_as(
            base::ErrorKind::other, base::Recovery::person,
            {"publish.blob_damaged", "The content of a stored file no longer matches its hash", sha256,
             "restore this file from a backup; no page that links to it was published"});
    }
    return copy.commit();
}

base::Result<TreeLock> TreeLock::acquire(const std::filesystem::path& tree, const base::Clock& clock) {
    return acquire_file(state_folder(tree) / "lock", clock);
}

base::Result<TreeLock> TreeLock::acquire_wheel_lists(const std::filesystem::path& tree,
                                                     const base::Clock& clock) {
    return acquire_file(wheel_lists_folder(tree) / "lock", clock);
}

base::Result<TreeLock> TreeLock::acquire_file(const std::filesystem::path& file, const base::Clock& clock) {
    WHEELYARD_ASSIGN(auto lock, base::LockFile::acquire(file, clock, lock_stale_after_ms));
    return TreeLock(std::move(lock), clock);
}

base::Status TreeLock::renew() {
    const auto since = clock_.now() - renewed_;
    if (since >= 0 && since < lock_stale_after_ms * 1000 / 4) return {};  // the clock may step back
    renewed_ = clock_.now();
    return lock_.refresh(clock_);
}

}  // namespace wheelyard::indexer
