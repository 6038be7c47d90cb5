// The file operations of a publish run, behind an interface so that tests can stop it before and after each
// of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/tree/hidden_folders.hpp"
#include "lib/base/fd.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

struct NamedBytes {
    std::string name;  // within a folder
    std::string bytes;
};

// Plain texts stand for paths where a run of every file makes them: std::filesystem::path takes each apart.
class Disk {
  public:
    virtual ~Disk() = default;
    // nullopt: nothing of that name.
    [[nodiscard]] virtual base::Result<std::optional<std::uint64_t>> size_of(const std::string& path) = 0;
    [[nodiscard]] virtual base::Result<std::string> read(const std::filesystem::path& path,
                                                         std::uint64_t limit_bytes) = 0;

    // Each new folder is durable when it returns. True: the last one is new, so that nothing is in it.
    [[nodiscard]] virtual base::Result<bool> make_directories(const std::string& path) = 0;
    // `to` names the blob's bytes: a hard link, or a copy (checked against `sha256`, fsynced, then renamed)
    // where the file system allows no link. An existing `to` is replaced. Durable with the next
    // sync_directory.
    [[nodiscard]] virtual base::Status link_or_copy(const std::string& blob, const std::string& to,
                                                    std::string_view sha256, const Meanwhile& meanwhile) = 0;
    [[nodiscard]] virtual base::Status sync_directory(const std::string& path) = 0;
    // Old bytes or new ones, never half. Durable with the next sync_directory.
    [[nodiscard]] virtual base::Status replace(const std::filesystem::path& path, std::string_view bytes) = 0;
    // The same for several files of one folder, which appear in this order; durable when it returns.
    [[nodiscard]] virtual base::Status replace_together(const std::string& folder,
                                                        const std::vector<NamedBytes>& files) = 0;
    // `path` becomes a symbolic link to `target` (relative), or a hard link to what that is where symbolic
    // ones are impossible. False: it was so already. Durable with the next sync_directory.
    [[nodiscard]] virtual base::Result<bool> point(const std::filesystem::path& path,
                                                   const std::filesystem::path& target) = 0;
    // As replace, but written under the name `aside`, in another folder of the same file system, whatever was
    // there; a killed run leaves it there for the next.
    [[nodiscard]] virtual base::Status replace_by_way_of(const std::filesystem::path& aside,
                                                         const std::filesystem::path& path,
                                                         std::string_view bytes) = 0;
    // A file, or a folder if it is empty; what is absent is fine. Durable with the next sync_directory.
    [[nodiscard]] virtual base::Status remove(const std::filesystem::path& path) = 0;
    // Removes what killed runs left aside in this folder. Only the holder of the tree's lock may call it.
    [[nodiscard]] virtual base::Status remove_leftovers(const std::filesystem::path& folder) = 0;

    // `folder` is not there yet: it is made under another name beside it, where its paths lead until
    // show_folder gives it its own. Nobody reads what is in it before that, so its files are written straight
    // under their names, and synced as elsewhere. What killed runs left of one is removed first.
    [[nodiscard]] virtual base::Status begin_folder(const std::string& folder,
                                                    const Meanwhile& meanwhile) = 0;
    // Not in bulk: what is in it must be durable. So is its name when this returns.
    [[nodiscard]] virtual base::Status show_folder(const std::string& folder) = 0;
    // Removes what killed runs left of such a folder, which is there now. Only the holder of the tree's lock
    // may call it.
    [[nodiscard]] virtual base::Status remove_begun(const std::string& folder,
                                                    const Meanwhile& meanwhile) = 0;

    // From begin_bulk to end_bulk nothing is synced singly, and what replace_together wrote stays aside until
    // settle(): one sync of the whole file system, then all the renames, in order. So a page still appears
    // only after its files are durable. end_bulk settles, and all is durable when it returns.
    [[nodiscard]] virtual base::Status begin_bulk(const std::filesystem::path& tree) = 0;
    [[nodiscard]] virtual base::Status settle() = 0;
    [[nodiscard]] virtual base::Status end_bulk() = 0;
};

class LocalDisk final : public Disk {
  public:
    LocalDisk() = default;
    LocalDisk(const LocalDisk&) = delete;
    LocalDisk& operator=(const LocalDisk&) = delete;
    ~LocalDisk() override;  // forgets what was not settled or shown

    [[nodiscard]] base::Result<std::optional<std::uint64_t>> size_of(const std::string& path) override;
    [[nodiscard]] base::Result<std::string> read(const std::filesystem::path& path,
                                                 std::uint64_t limit_bytes) override;
    [[nodiscard]] base::Result<bool> make_directories(const std::string& path) override;
    [[nodiscard]] base::Status link_or_copy(const std::string& blob, const std::string& to,
                                            std::string_view sha256, const Meanwhile& meanwhile) override;
    [[nodiscard]] base::Status sync_directory(const std::string& path) override;
    [[nodiscard]] base::Status replace(const std::filesystem::path& path, std::string_view bytes) override;
    [[nodiscard]] base::Status replace_together(const std::string& folder,
                                                const std::vector<NamedBytes>& files) override;
    [[nodiscard]] base::Result<bool> point(const std::filesystem::path& path,
                                           const std::filesystem::path& target) override;
    [[nodiscard]] base::Status replace_by_way_of(const std::filesystem::path& aside,
                                                 const std::filesystem::path& path,
                                                 std::string_view bytes) override;
    [[nodiscard]] base::Status remove(const std::filesystem::path& path) override;
    [[nodiscard]] base::Status remove_leftovers(const std::filesystem::path& folder) override;
    [[nodiscard]] base::Status begin_folder(const std::string& folder, const Meanwhile& meanwhile) override;
    [[nodiscard]] base::Status show_folder(const std::string& folder) override;
    [[nodiscard]] base::Status remove_begun(const std::string& folder, const Meanwhile& meanwhile) override;
    [[nodiscard]] base::Status begin_bulk(const std::filesystem::path& tree) override;
    [[nodiscard]] base::Status settle() override;
    [[nodiscard]] base::Status end_bulk() override;

  private:
    struct Aside {
        std::string aside;  // empty: it has its name
        std::string path;
    };
    // In bulk those of the tree are named from its folder, which is open, as those of a hidden folder are
    // from that: the kernel need not walk there for each of millions.
    [[nodiscard]] Place place_of(const std::string& path) const;
    [[nodiscard]] Place place_of_blob(const std::string& blob);
    [[nodiscard]] base::Result<base::Fd> create(const std::string& path, int how) const;
    [[nodiscard]] base::Status write_unseen(const std::string& folder,
                                            const std::vector<NamedBytes>& files) const;
    [[nodiscard]] base::Status write_aside(const std::string& folder, const NamedBytes& file,
                                           std::vector<Aside>& asides, std::vector<base::Fd>& open_files);
    [[nodiscard]] base::Status write_together(const std::string& folder,
                                              const std::vector<NamedBytes>& files);
    [[nodiscard]] base::Status rename_all(std::vector<Aside>& asides) const;
    void forget(const std::vector<Aside>& asides) const;

    base::Fd bulk_;            // the tree's folder, while in bulk
    std::string bulk_prefix_;  // its path and "/"
    base::Fd blobs_;           // where the last blob's folder lies, in bulk
    std::string blobs_prefix_;
    std::vector<Aside> pending_;
    bool has_renamed_ = false;  // in bulk, since the last sync
    HiddenFolders hidden_;
};

// The copy that link_or_copy falls back to.
[[nodiscard]] base::Status copy_verified(const std::filesystem::path& from, const std::filesystem::path& to,
                                         std::string_view sha256, const Meanwhile& meanwhile);

}  // namespace wheelyard::indexer
