// The file operations of a publish run, behind an interface so that tests can stop a run before and after
// each of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/tree/hidden_folders.hpp"
#include "lib/base/files/fd.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "registry/blobs/store.hpp"

namespace wheelyard::indexer {

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
    // Hard-links `to` to the blob, or copies it where the store or the file system allows no link; a copy is checked
    // against `sha256`, fsynced and renamed. Replaces an existing `to`. Durable after the next
    // sync_directory.
    [[nodiscard]] virtual base::Status place_blob(const blobs::BlobStore& blobs, const std::string& sha256,
                                                  const std::string& to,
                                                  const base::KeepAlive& keep_alive) = 0;
    // Makes `to` a stand-in (lib/base/files/stand_in.hpp) for a blob of a store that serves files itself. Replaces an
    // existing `to`. Durable after the next sync_directory.
    [[nodiscard]] virtual base::Status place_stand_in(const std::string& to, std::uint64_t size_bytes) = 0;
    // As place_blob, for a file.
    [[nodiscard]] virtual base::Status link_or_copy(const std::string& from, const std::string& to,
                                                    const std::string& sha256,
                                                    const base::KeepAlive& keep_alive) = 0;
    [[nodiscard]] virtual base::Status sync_directory(const std::string& path) = 0;
    // Atomic: readers see the old bytes or the new ones. Durable after the next sync_directory.
    [[nodiscard]] virtual base::Status replace(const std::filesystem::path& path, std::string_view bytes) = 0;
    // As replace, for several files of one folder, which appear in this order. Durable on return.
    [[nodiscard]] virtual base::Status replace_together(const std::string& folder,
                                                        const std::vector<NamedBytes>& files) = 0;
    // Makes `path` a symbolic link to `target` (relative), or a hard link to its file where symbolic links
    // are impossible. False: it already was. Durable after the next sync_directory.
    [[nodiscard]] virtual base::Result<bool> symlink(const std::filesystem::path& path,
                                                     const std::filesystem::path& target) = 0;
    // As replace, with the temporary file at `temp`: a path in another folder of the same file system.
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
    [[nodiscard]] base::Status link_or_copy(const std::string& from, const std::string& to,
                                            const std::string& sha256,
                                            const base::KeepAlive& keep_alive) override;
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
    // A file to link to, or to copy.
    struct Source {
        std::function<base::Status(const AtPath&)> link;  // `os_error` is that of link(2)
        std::function<base::Result<std::unique_ptr<base::Reader>>()> open;
    };
    [[nodiscard]] base::Status link_or_copy(const Source& from, const std::string& to,
                                            const std::string& sha256,
                                            const base::KeepAlive& keep_alive) const;
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

// The copy that link_or_copy falls back to.
[[nodiscard]] base::Status copy_verified(const base::Reader& from, const std::filesystem::path& to,
                                         const std::string& sha256, const base::KeepAlive& keep_alive);

}  // namespace wheelyard::indexer
