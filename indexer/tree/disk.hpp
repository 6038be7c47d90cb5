// The file operations of a publish run, behind an interface so that tests can stop a run before and after
// each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/files/fd.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/keep_alive.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"
#include "lib/store/blobs/store.hpp"

namespace wheelyard::indexer {

// A path for the *at() system calls: relative to an open folder.
struct AtPath {
    int folder;
    const char* path;  // points into the text that it was made from
};

class HiddenFolders {
  public:
    HiddenFolders() = default;
    HiddenFolders(const HiddenFolders&) = delete;
    HiddenFolders& operator=(const HiddenFolders&) = delete;
    ~HiddenFolders();  // removes what was not published

    // A unique temporary name for `folder`. The caller creates that folder, then calls add().
    [[nodiscard]] static std::string name_for(const std::string& folder);
    // From here on paths below `folder` lead to `actual`, which exists and is removed unless show() publishes
    // it.
    [[nodiscard]] base::Status add(const std::string& folder, std::string actual);
    // Renames the staged folder to `folder`, which must be an empty folder or not exist.
    [[nodiscard]] base::Status show(const std::string& folder);
    // Removes what killed runs staged for `folder`. The caller must hold the tree's lock.
    [[nodiscard]] static base::Status remove_leftovers(const std::string& folder,
                                                       const base::KeepAlive& keep_alive);

    [[nodiscard]] bool is_empty() const { return hidden_.empty(); }
    [[nodiscard]] bool has(const std::string& path) const;
    // Where `path` is inside the staged folder that contains it; its path is nullptr if none does.
    [[nodiscard]] AtPath at_path(const std::string& path) const;
    // `path` unchanged if it is not in a staged folder.
    [[nodiscard]] std::string actual(const std::string& path) const;

  private:
    struct Hidden {
        std::string prefix;  // the final path and "/"
        std::string actual;  // the temporary path
        base::Fd folder;
        // The part of `path` below this folder; "." for the folder itself, nullptr if `path` is elsewhere.
        [[nodiscard]] const char* rest_of(const std::string& path) const;
    };
    std::vector<Hidden> hidden_;
};

struct NamedBytes {
    std::string name;  // a file name, without a folder
    std::string bytes;
};

// Operations that run once per file take std::string: constructing a std::filesystem::path parses it.
class Disk {
  public:
    virtual ~Disk() = default;
    // nullopt: the path does not exist.
    [[nodiscard]] virtual base::Result<std::optional<std::uint64_t>> size_of(const std::string& path) = 0;
    [[nodiscard]] virtual base::Result<std::string> read(const std::filesystem::path& path,
                                                         std::uint64_t limit_bytes) = 0;

    // Also creates missing parents; each new directory is durable on return. True: the last one is new, and
    // so empty.
    [[nodiscard]] virtual base::Result<bool> make_directories(const std::string& path) = 0;
    // Hard-links `to` to the blob, or copies it where the store or the file system allows no link; a copy is
    // checked against `sha256`, fsynced and renamed. Replaces an existing `to`. Durable after the next
    // sync_directory.
    [[nodiscard]] virtual base::Status place_blob(const blobs::BlobStore& blobs, const std::string& sha256,
                                                  const std::string& to,
                                                  const base::KeepAlive& keep_alive) = 0;
    // Makes `to` a stand-in (lib/base/files/file.hpp) for a blob of a store that serves files itself.
    // Replaces an existing `to`. Durable after the next sync_directory.
    [[nodiscard]] virtual base::Status place_stand_in(const std::string& to, std::uint64_t size_bytes) = 0;
    [[nodiscard]] virtual base::Status sync_directory(const std::string& path) = 0;
    // Atomic: readers see the old bytes or the new ones. Durable after the next sync_directory.
    [[nodiscard]] virtual base::Status replace(const std::filesystem::path& path, std::string_view bytes) = 0;
    // Replaces several files of one folder, which appear in this order. Durable on return.
    [[nodiscard]] virtual base::Status replace_together(const std::string& folder,
                                                        const std::vector<NamedBytes>& files) = 0;
    // Makes `path` a symbolic link to `target` (relative), or a hard link to its file where symbolic links
    // are impossible. False: it already was. Durable after the next sync_directory.
    [[nodiscard]] virtual base::Result<bool> symlink(const std::filesystem::path& path,
                                                     const std::filesystem::path& target) = 0;
    // Replaces with the temporary file at `temp`: a path in another folder of the same file system.
    // Overwrites an existing `temp`, such as one that a killed run left.
    [[nodiscard]] virtual base::Status replace_via(const std::filesystem::path& temp,
                                                   const std::filesystem::path& path,
                                                   std::string_view bytes) = 0;
    // Removes a file or an empty folder. Succeeds if the path does not exist or the folder is not empty.
    // Durable after the next sync_directory.
    [[nodiscard]] virtual base::Status remove(const std::filesystem::path& path) = 0;
    // Removes temporary files of killed runs from this folder. The caller must hold the tree's lock.
    [[nodiscard]] virtual base::Status remove_leftovers(const std::filesystem::path& folder) = 0;

    // Creates a folder that does not exist yet under a temporary sibling name. Until publish_directory
    // renames it, paths below `folder` lead there. Readers do not see it, so its files are written under
    // their final names and synced as elsewhere. Removes what killed runs staged for the same name first.
    [[nodiscard]] virtual base::Status stage_directory(const std::string& folder,
                                                       const base::KeepAlive& keep_alive) = 0;
    // The contents must be durable, so not between begin_bulk and end_bulk. The new name is durable on
    // return.
    [[nodiscard]] virtual base::Status publish_directory(const std::string& folder) = 0;
    // Removes what killed runs staged for `folder`, which exists by now. The caller must hold the tree's
    // lock.
    [[nodiscard]] virtual base::Status remove_staged(const std::string& folder,
                                                     const base::KeepAlive& keep_alive) = 0;

    // Between begin_bulk and end_bulk nothing is synced singly. What replace_together wrote keeps its
    // temporary name until flush_pending(): one sync of the whole file system, then all renames in order. So
    // a page still appears only after its files are durable. end_bulk also flushes; everything is durable on
    // return.
    [[nodiscard]] virtual base::Status begin_bulk(const std::filesystem::path& tree) = 0;
    [[nodiscard]] virtual base::Status flush_pending() = 0;
    [[nodiscard]] virtual base::Status end_bulk() = 0;
};

class LocalDisk final : public Disk {
  public:
    LocalDisk() = default;
    LocalDisk(const LocalDisk&) = delete;
    LocalDisk& operator=(const LocalDisk&) = delete;
    ~LocalDisk() override;  // removes what was not flushed or published

    [[nodiscard]] base::Result<std::optional<std::uint64_t>> size_of(const std::string& path) override;
    [[nodiscard]] base::Result<std::string> read(const std::filesystem::path& path,
                                                 std::uint64_t limit_bytes) override;
    [[nodiscard]] base::Result<bool> make_directories(const std::string& path) override;
    [[nodiscard]] base::Status place_blob(const blobs::BlobStore& blobs, const std::string& sha256,
                                          const std::string& to, const base::KeepAlive& keep_alive) override;
    [[nodiscard]] base::Status place_stand_in(const std::string& to, std::uint64_t size_bytes) override;
    [[nodiscard]] base::Status sync_directory(const std::string& path) override;
    [[nodiscard]] base::Status replace(const std::filesystem::path& path, std::string_view bytes) override;
    [[nodiscard]] base::Status replace_together(const std::string& folder,
                                                const std::vector<NamedBytes>& files) override;
    [[nodiscard]] base::Result<bool> symlink(const std::filesystem::path& path,
                                             const std::filesystem::path& target) override;
    [[nodiscard]] base::Status replace_via(const std::filesystem::path& temp,
                                           const std::filesystem::path& path,
                                           std::string_view bytes) override;
    [[nodiscard]] base::Status remove(const std::filesystem::path& path) override;
    [[nodiscard]] base::Status remove_leftovers(const std::filesystem::path& folder) override;
    [[nodiscard]] base::Status stage_directory(const std::string& folder,
                                               const base::KeepAlive& keep_alive) override;
    [[nodiscard]] base::Status publish_directory(const std::string& folder) override;
    [[nodiscard]] base::Status remove_staged(const std::string& folder,
                                             const base::KeepAlive& keep_alive) override;
    [[nodiscard]] base::Status begin_bulk(const std::filesystem::path& tree) override;
    [[nodiscard]] base::Status flush_pending() override;
    [[nodiscard]] base::Status end_bulk() override;

  private:
    struct TempFile {
        std::string temp;  // empty: renamed
        std::string path;
    };
    // In bulk, paths of the tree are resolved from its open folder, and those of a staged folder from that
    // one. This saves the kernel a full path walk for each of millions of files.
    [[nodiscard]] AtPath at_path(const std::string& path) const;
    [[nodiscard]] base::Result<base::Fd> create(const std::string& path, int how) const;
    [[nodiscard]] base::Status write_staged(const std::string& folder,
                                            const std::vector<NamedBytes>& files) const;
    [[nodiscard]] base::Status write_temp(const std::string& folder, const NamedBytes& file,
                                          std::vector<TempFile>& temp_files,
                                          std::vector<base::Fd>& open_files);
    [[nodiscard]] base::Status write_together(const std::string& folder,
                                              const std::vector<NamedBytes>& files);
    [[nodiscard]] base::Status rename_all(std::vector<TempFile>& temp_files) const;
    void unlink_all(const std::vector<TempFile>& temp_files) const;

    base::Fd bulk_;            // the tree's folder; open only in bulk
    std::string bulk_prefix_;  // the tree's path and "/"
    std::vector<TempFile> pending_;
    bool has_renamed_ = false;  // in bulk, since the last sync
    HiddenFolders hidden_;
};

// The copy that place_blob falls back to.
[[nodiscard]] base::Status copy_verified(const base::Reader& from, const std::filesystem::path& to,
                                         const std::string& sha256, const base::KeepAlive& keep_alive);

// A larger page counts as changed without a comparison and is not checked.
inline constexpr std::uint64_t max_page_bytes = 256 * base::mib;

// Compressing a smaller text gains nothing, so it gets no copies.
inline constexpr std::size_t min_gzipped_bytes = 1'024;
// From here on a page gets them in every tree, because `serve` does not compress larger ones
// (max_cached_page_bytes).
inline constexpr std::size_t min_large_page_bytes = base::mib;

// published.json holds one number and some index names.
inline constexpr std::uint64_t max_state_bytes = base::mib;

// A lock of another host that is not renewed for this long is stale. It is renewed at a quarter of this time.
inline constexpr std::int64_t lock_stale_after_ms = 120'000;

// Interval and number of attempts of a command while another process holds the lock.
inline constexpr std::int64_t lock_poll_ms = 20;
inline constexpr int max_lock_polls = 1'000;

// Read and hashed per step when a blob is copied because it cannot be linked.
inline constexpr std::size_t copy_chunk_bytes = base::mib;

// The lock of a published tree: one writer at a time, across hosts (lib/base/files/lock_file.hpp).

class TreeLock {
  public:
    // The tree's state folder must exist. "lock.held": another process writes.
    [[nodiscard]] static base::Result<TreeLock> acquire(const std::filesystem::path& tree,
                                                        const base::Clock& clock);
    // The lock of the tree's wheel lists. Independent of the tree's own lock.
    [[nodiscard]] static base::Result<TreeLock> acquire_wheel_lists(const std::filesystem::path& tree,
                                                                    const base::Clock& clock);
    // Called often during long work; renews the lock only when due. "lock.lost": another process took it
    // over.
    [[nodiscard]] base::Status renew();

  private:
    [[nodiscard]] static base::Result<TreeLock> acquire_file(const std::filesystem::path& file,
                                                             const base::Clock& clock);
    TreeLock(base::LockFile lock, const base::Clock& clock)
        : lock_(std::move(lock)), clock_(clock), renewed_(clock.now()) {}

    base::LockFile lock_;
    const base::Clock& clock_;
    base::UnixMicros renewed_;
};

// The server and people's commands publish the same tree: calls `work` until no other process holds its lock,
// for at most max_lock_polls. The last answer is returned.
template <typename Work>
auto in_turn(base::Clock& clock, Work work) -> decltype(work()) {
    for (int polls = 0;; ++polls) {
        auto done = work();
        if (done || done.error().kind != base::ErrorKind::busy || polls == max_lock_polls) return done;
        clock.sleep_ms(lock_poll_ms);
    }
}

}  // namespace wheelyard::indexer
