// Files: bounded reads, whole writes, and replacement that is atomic and durable.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "lib/base/fd.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::base {

namespace fs = std::filesystem;

[[nodiscard]] Result<Fd> open_read(const fs::path& path);
// O_CREAT|O_EXCL: fails with os.EEXIST when the file is there. The process's umask applies to every mode
// here.
[[nodiscard]] Result<Fd> create_new(const fs::path& path, mode_t mode = 0644);
[[nodiscard]] Status write_all(int fd, std::string_view bytes);
[[nodiscard]] Status fsync_file(int fd, std::string_view name);
[[nodiscard]] Status fsync_directory(const fs::path& directory);
// A network file system says no sooner than now that bytes found no room (close(2)).
[[nodiscard]] Status close_file(Fd file, std::string_view name);

// The whole file; more than `limit_bytes` is an error ("file.too_large").
[[nodiscard]] Result<std::string> read_file(const fs::path& path, std::uint64_t limit_bytes);
// The same of one that is open; errors name `path`.
[[nodiscard]] Result<std::string> read_file(const Fd& file, const fs::path& path, std::uint64_t limit_bytes);
[[nodiscard]] Result<std::uint64_t> file_size(const fs::path& path);

// Atomic, durable replacement: write aside in the same folder, fsync, rename, fsync the folder. After a crash
// at any instruction a reader finds the old bytes or the new ones. Leftovers are named ".NAME.aside.*".
[[nodiscard]] Status replace_file(const fs::path& path, std::string_view bytes, mode_t mode = 0644);

// Like replace_file, for bytes produced piece by piece: nothing is visible until commit(); the destructor
// only undoes.
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
    FileReplacement(fs::path path, fs::path aside, Fd fd);
    fs::path path_;
    fs::path aside_;  // empty once committed or moved from
    Fd fd_;
};

// mkdir -p that makes each new folder durable (fsync of its parent).
[[nodiscard]] Status make_directories(const fs::path& path);
// rename(2) + fsync of the target's folder.
[[nodiscard]] Status rename_durably(const fs::path& from, const fs::path& to);
// unlink; an absent file is not an error.
[[nodiscard]] Status remove_file(const fs::path& path);

// A source of bytes at offsets, for parsers of untrusted files: pread, never mmap (a truncated file is then
// an error, not SIGBUS). Thread-safe: read_at may be called from several threads at once.
class Reader {
  public:
    virtual ~Reader() = default;
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    // Exactly `length` bytes at `offset` into `into`; fewer available → "file.truncated".
    [[nodiscard]] virtual Status read_at(std::uint64_t offset, char* into, std::size_t length) const = 0;
};

// Every byte of `from`, in order, as pieces of at most `piece_bytes` that live until `take` returns. Ends at
// the first error, the source's or `take`'s.
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
    explicit MemoryReader(std::string_view bytes) : bytes_(bytes) {}  // borrows
    [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }
    [[nodiscard]] Status read_at(std::uint64_t offset, char* into, std::size_t length) const override;

  private:
    std::string_view bytes_;
};

}  // namespace wheelyard::base
