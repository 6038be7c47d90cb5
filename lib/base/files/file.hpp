// Files: bounded reads, complete writes, and atomic, durable replacement.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "lib/base/files/fd.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::base {

namespace fs = std::filesystem;

[[nodiscard]] Result<Fd> open_read(const fs::path& path);
// O_CREAT|O_EXCL: fails with os.EEXIST if the file exists. The process's umask applies to every mode in this
// file.
[[nodiscard]] Result<Fd> create_new(const fs::path& path, mode_t mode = 0644);
[[nodiscard]] Status write_all(int fd, std::string_view bytes);
[[nodiscard]] Status fsync_file(int fd, std::string_view name);
[[nodiscard]] Status fsync_directory(const fs::path& directory);
// Network file systems report a full disk as late as close(2); check this result.
[[nodiscard]] Status close_file(Fd file, std::string_view name);

// Reads the whole file; a file of more than `limit_bytes` is an error ("file.too_large").
[[nodiscard]] Result<std::string> read_file(const fs::path& path, std::uint64_t limit_bytes);
// Reads from an open file; `path` appears in errors.
[[nodiscard]] Result<std::string> read_file(const Fd& file, const fs::path& path, std::uint64_t limit_bytes);
[[nodiscard]] Result<std::uint64_t> file_size(const fs::path& path);

// Atomic, durable replacement: write a temporary file in the same folder, fsync it, rename it, fsync the
// folder. After a crash at any point a reader finds the old bytes or the new ones. Temporary files that a
// crash leaves behind are named ".NAME.tmp.*".
[[nodiscard]] Status replace_file(const fs::path& path, std::string_view bytes, mode_t mode = 0644);

// replace_file for bytes that are produced in pieces. Nothing is visible before commit(); the destructor
// removes the temporary file.
class FileReplacement {
  public:
    [[nodiscard]] static Result<FileReplacement> begin(const fs::path& path, mode_t mode = 0644);
    FileReplacement(FileReplacement&& other) noexcept;
    FileReplacement& operator=(FileReplacement&&) noexcept = delete;
    FileReplacement(const FileReplacement&) = delete;
    FileReplacement& operator=(const FileReplacement&) = delete;
    ~FileReplacement();

    [[nodiscard]] Status write(std::string_view bytes);
    [[nodiscard]] Status commit();
    [[nodiscard]] int fd() const { return fd_.get(); }

  private:
    FileReplacement(fs::path path, fs::path temporary, Fd fd);
    fs::path path_;
    fs::path temporary_;  // empty after commit or move
    Fd fd_;
};

// mkdir -p that makes each new folder durable (fsync of its parent).
[[nodiscard]] Status make_directories(const fs::path& path);
// rename(2) + fsync of the target's folder.
[[nodiscard]] Status rename_durably(const fs::path& from, const fs::path& to);
// unlink(2); a missing file is not an error.
[[nodiscard]] Status remove_file(const fs::path& path);

// Random access to bytes, for parsers of untrusted files. Uses pread(2), never mmap(2): a truncated file is
// an error, not SIGBUS. Thread-safe: several threads may call read_at at once.
class Reader {
  public:
    virtual ~Reader() = default;
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    // Reads exactly `length` bytes at `offset` into `into`; error "file.truncated" if fewer are available.
    [[nodiscard]] virtual Status read_at(std::uint64_t offset, char* into, std::size_t length) const = 0;
};

// Passes every byte of `from` to `take`, in order, in pieces of at most `piece_bytes`. A piece is valid until
// `take` returns. Stops at the first error of the reader or of `take`.
[[nodiscard]] Status for_each_piece(const Reader& from, std::size_t piece_bytes,
                                    const std::function<Status(std::string_view)>& take);

class FileReader final : public Reader {
  public:
    [[nodiscard]] static Result<FileReader> open(const fs::path& path);
    [[nodiscard]] std::uint64_t size() const override { return size_; }
    [[nodiscard]] Status read_at(std::uint64_t offset, char* into, std::size_t length) const override;

  private:
    FileReader(Fd fd, std::uint64_t size) : fd_(std::move(fd)), size_(size) {}
    Fd fd_;
    std::uint64_t size_;
};

class MemoryReader final : public Reader {
  public:
    explicit MemoryReader(std::string_view bytes) : bytes_(bytes) {}  // borrows `bytes`
    [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
    [[nodiscard]] Status read_at(std::uint64_t offset, char* into, std::size_t length) const override;

  private:
    std::string_view bytes_;
};

// Files and folders that only their owner may read: 0600 and 0700, whatever the umask, also for those that
// exist.
//
// Modes are changed by path, without opening the file: closing any descriptor of an SQLite database would
// release the locks that this process holds on it (POSIX fcntl locks).

inline constexpr mode_t private_file_mode = 0600;
// The rights that no file with a secret grants: with one of them, others can read or replace it. A service
// may read it by its group.
inline constexpr mode_t rights_of_strangers = S_IRWXO | S_IWGRP;

// make_directories(), then mode 0700. Folders above `path` keep their modes.
[[nodiscard]] Status make_private_directories(const std::filesystem::path& path);
// Takes the permissions of group and others from an existing file. A missing file, a symbolic link and a file
// of another owner are left as they are.
[[nodiscard]] Status make_private(const std::filesystem::path& path);
// Creates an empty file with mode 0600 if it is missing; an existing one becomes private.
[[nodiscard]] Status create_private(const std::filesystem::path& path);

// A file in place of bytes that are kept elsewhere: it has their size, takes no room, and nobody may read it
// (mode 0000), so no program takes its zeros for them.

[[nodiscard]] inline bool is_stand_in(const struct stat& file) {
    return S_ISREG(file.st_mode) && (file.st_mode & 07777) == 0;
}
[[nodiscard]] bool is_stand_in(const std::filesystem::path& file);  // false also if it is missing
// Creates one; `path` must not exist.
[[nodiscard]] Result<Fd> create_stand_in(const std::filesystem::path& path, std::uint64_t size_bytes);

}  // namespace wheelyard::base
