// File operations on system calls, with the fsyncs that make a rename survive a power failure.
#include "lib/base/files/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::base {

namespace {

template <typename Call>
auto again_when_interrupted(Call call) {
    auto result = call();
    while (result < 0 && errno == EINTR)
        result = call();
    return result;
}

Result<Fd> open_with(const fs::path& path, int flags, mode_t mode) {
    Fd fd(again_when_interrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, mode); }));
    if (!fd) return fail_errno("open", path.native(), errno);
    return fd;
}

fs::path folder_of(const fs::path& path) {
    const auto parent = path.parent_path();
    return parent.empty() ? fs::path(".") : parent;
}

// A unique temporary name in the same folder. The original name is cut because a wheel's name can come close
// to NAME_MAX (255 bytes).
fs::path temporary_name(const fs::path& path) {
    constexpr std::size_t max_name_bytes = 200;
    const auto name = path.filename().native().substr(0, max_name_bytes);
    return folder_of(path) / ("." + name + ".tmp." + encode_hex(random_bytes(8)));
}

}  // namespace

Result<Fd> open_read(const fs::path& path) {
    return open_with(path, O_RDONLY, 0);
}

Result<Fd> create_new(const fs::path& path, mode_t mode) {
    return open_with(path, O_WRONLY | O_CREAT | O_EXCL, mode);
}

Status write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto written = again_when_interrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
        if (written < 0) return fail_errno("write", "", errno);
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

Status fsync_file(int fd, std::string_view name) {
    if (again_when_interrupted([&] { return ::fsync(fd); }) != 0) return fail_errno("fsync", name, errno);
    return {};
}

Status close_file(Fd file, std::string_view name) {
    if (::close(file.release()) != 0 && errno != EINTR) return fail_errno("close", name, errno);
    return {};
}

Status fsync_directory(const fs::path& directory) {
    WHEELYARD_ASSIGN(const auto fd, open_with(directory, O_RDONLY | O_DIRECTORY, 0));
    // Some file systems reject fsync of a folder with EINVAL (fsync(2)); they order renames themselves.
    if (again_when_interrupted([&] { return ::fsync(fd.get()); }) != 0 && errno != EINVAL) {
        return fail_errno("fsync", directory.native(), errno);
    }
    return {};
}

Result<std::string> read_file(const fs::path& path, std::uint64_t limit_bytes) {
    WHEELYARD_ASSIGN(const auto fd, open_read(path));
    return read_file(fd, path, limit_bytes);
}

Result<std::string> read_file(const Fd& file, const fs::path& path, std::uint64_t limit_bytes) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return fail_errno("stat", path.native(), errno);
    // The size is only a hint: files under /proc report 0, and a growing file reports too little.
    constexpr std::uint64_t chunk = 64 << 10, of_proc = 4 << 10;
    const auto hint = status.st_size > 0 ? static_cast<std::uint64_t>(status.st_size) : of_proc;
    std::string out;
    std::size_t have = 0;
    out.resize(static_cast<std::size_t>(std::min(hint, limit_bytes)) + 1);
    for (;;) {
        if (have == out.size()) out.resize(out.size() + std::max<std::size_t>(chunk, out.size() / 2));
        const auto got =
            again_when_interrupted([&] { return ::read(file.get(), out.data() + have, out.size() - have); });
        if (got < 0) return fail_errno("read", path.native(), errno);
        have += static_cast<std::size_t>(got);
        if (have > limit_bytes) {
            return fail("file.too_large", "The file has more than " + std::to_string(limit_bytes) + " bytes",
                        path.native());
        }
        if (got == 0) break;
    }
    out.resize(have);
    return out;
}

Result<std::uint64_t> file_size(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return fail_errno("stat", path.native(), errno);
    if (!S_ISREG(status.st_mode))
        return fail("file.not_regular", "This is not a regular file", path.native());
    return static_cast<std::uint64_t>(status.st_size);
}

Status replace_file(const fs::path& path, std::string_view bytes, mode_t mode) {
    WHEELYARD_ASSIGN(auto replacement, FileReplacement::begin(path, mode));
    WHEELYARD_TRY(replacement.write(bytes));
    return replacement.commit();
}

FileReplacement::FileReplacement(fs::path path, fs::path temporary, Fd fd)
    : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}

FileReplacement::FileReplacement(FileReplacement&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)), fd_(std::move(other.fd_)) {
    other.temporary_.clear();
}

FileReplacement::~FileReplacement() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<FileReplacement> FileReplacement::begin(const fs::path& path, mode_t mode) {
    auto temporary = temporary_name(path);
    WHEELYARD_ASSIGN(auto fd, create_new(temporary, mode));
    return FileReplacement(path, std::move(temporary), std::move(fd));
}

Status FileReplacement::write(std::string_view bytes) {
    auto written = write_all(fd_.get(), bytes);
    if (!written) written.error().value = path_.native();
    return written;
}

Status FileReplacement::commit() {
    if (temporary_.empty())
        return fail_for_now("file.committed", "This replacement is already committed", path_.native());
    WHEELYARD_TRY(fsync_file(fd_.get(), path_.native()));
    fd_.reset();
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) return fail_errno("rename", path_.native(), errno);
    temporary_.clear();
    return fsync_directory(folder_of(path_));
}

Status make_directories(const fs::path& path) {
    std::error_code ignored;
    if (path.empty() || fs::is_directory(path, ignored)) return {};
    const auto parent = path.parent_path();
    if (parent != path) WHEELYARD_TRY(make_directories(parent));
    if (::mkdir(path.c_str(), 0777) == 0) return fsync_directory(folder_of(path));
    const int why = errno;
    // Another process may create the folder concurrently, and "a/b/" leads to a second mkdir of a/b.
    if (why == EEXIST && fs::is_directory(path, ignored)) return {};
    return fail_errno("making the folder", path.native(), why);
}

Status rename_durably(const fs::path& from, const fs::path& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) return fail_errno("rename", to.native(), errno);
    return fsync_directory(folder_of(to));
}

Status remove_file(const fs::path& path) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return fail_errno("unlink", path.native(), errno);
    return {};
}

namespace {

tl::unexpected<Error> fail_truncated(std::uint64_t offset, std::size_t length, std::uint64_t size) {
    return fail_for_now("file.truncated", "The file ends at byte " + std::to_string(size) + ", before " +
                                              std::to_string(length) + " bytes at offset " +
                                              std::to_string(offset));
}

}  // namespace

Result<FileReader> FileReader::open(const fs::path& path) {
    // O_NONBLOCK: a FIFO, which a build can put in the place of its log, is refused instead of waited for.
    WHEELYARD_ASSIGN(auto fd, open_with(path, O_RDONLY | O_NONBLOCK, 0));
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return fail_errno("stat", path.native(), errno);
    if (!S_ISREG(status.st_mode))
        return fail("file.not_regular", "This is not a regular file", path.native());
    return FileReader(std::move(fd), static_cast<std::uint64_t>(status.st_size));
}

Status FileReader::read_at(std::uint64_t offset, char* into, std::size_t length) const {
    if (offset > size_ || length > size_ - offset) return fail_truncated(offset, length, size_);
    while (length > 0) {
        const auto got = again_when_interrupted(
            [&] { return ::pread(fd_.get(), into, length, static_cast<off_t>(offset)); });
        if (got < 0) return fail_errno("read", "", errno);
        if (got == 0) return fail_truncated(offset, length, offset);  // the file shrank after it was opened
        into += got;
        offset += static_cast<std::uint64_t>(got);
        length -= static_cast<std::size_t>(got);
    }
    return {};
}

Status for_each_piece(const Reader& from, std::size_t piece_bytes,
                      const std::function<Status(std::string_view)>& take) {
    std::vector<char> piece(static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, from.size())));
    for (std::uint64_t at = 0; at < from.size();) {
        const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), from.size() - at));
        WHEELYARD_TRY(from.read_at(at, piece.data(), length));
        WHEELYARD_TRY(take({piece.data(), length}));
        at += length;
    }
    return {};
}

Status MemoryReader::read_at(std::uint64_t offset, char* into, std::size_t length) const {
    if (offset > bytes_.size() || length > bytes_.size() - offset) {
        return fail_truncated(offset, length, bytes_.size());
    }
    if (length > 0) std::memcpy(into, bytes_.data() + offset, length);
    return {};
}

namespace {

constexpr mode_t of_others = S_IRWXG | S_IRWXO;
constexpr mode_t all_bits = 07777;

}  // namespace

Status make_private(const std::filesystem::path& path) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0)
        return errno == ENOENT ? Status{} : Status(fail_errno("lstat", path.native(), errno));
    if (S_ISLNK(info.st_mode) || (info.st_mode & of_others) == 0) return {};
    if (::chmod(path.c_str(), info.st_mode & all_bits & ~of_others) == 0 || errno == EPERM) return {};
    return fail_errno("chmod", path.native(), errno);
}

Status make_private_directories(const std::filesystem::path& path) {
    WHEELYARD_TRY(make_directories(path));
    return make_private(path);
}

Status create_private(const std::filesystem::path& path) {
    const auto created = create_new(path, S_IRUSR | S_IWUSR);
    if (created) return {};
    if (created.error().os_error != EEXIST) return fail(created.error());
    return make_private(path);
}

bool is_stand_in(const std::filesystem::path& file) {
    struct stat status {};
    return ::lstat(file.c_str(), &status) == 0 && is_stand_in(status);
}

Result<Fd> create_stand_in(const std::filesystem::path& path, std::uint64_t size_bytes) {
    WHEELYARD_ASSIGN(Fd file, create_new(path, 0));
    if (::ftruncate(file.get(), static_cast<off_t>(size_bytes)) == 0) return file;
    const int why = errno;
    ::unlink(path.c_str());
    return fail_errno("ftruncate", path.string(), why);
}

}  // namespace wheelyard::base
