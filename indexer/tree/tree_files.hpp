// Places wheels in a tree, with their METADATA, their provenance and their links in the flat view, and
// removes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "indexer/tree/disk.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::indexer {

// Removes the rows whose file the tree does not have; keeps the order.
[[nodiscard]] base::Status keep_files_in_tree(Disk& disk, const std::filesystem::path& tree,
                                              std::vector<catalog::FileRow>& rows);

class TreeFiles {
  public:
    // `keep_alive` is called now and then during long copies. The references must outlive this object.
    TreeFiles(Disk& disk, const blobs::BlobStore& blobs, const std::filesystem::path& tree,
              base::KeepAlive keep_alive)
        : disk_(disk), blobs_(blobs), tree_(tree), keep_alive_(std::move(keep_alive)) {}

    void show_flat(bool flat) { flat_ = flat; }

    // The files are in place and durable on return. `is_touched`: this run has an event of the file, so a
    // killed run may have placed it without syncing the folder.
    [[nodiscard]] base::Status place(const catalog::FileRow& row, bool is_touched);
    // Removes a file that no page lists any more. `keeps_name`: another file of the index has the same name
    // and so keeps the link in the flat view.
    [[nodiscard]] base::Status retract(const std::string& index, const TreeFile& gone, bool keeps_name);
    // Makes changes to the flat view durable.
    [[nodiscard]] base::Status sync_flat();

    [[nodiscard]] std::uint64_t linked() const { return linked_; }
    [[nodiscard]] std::uint64_t removed() const { return removed_; }

  private:
    [[nodiscard]] base::Result<bool> is_in_place(const std::string& file, std::uint64_t size_bytes);
    [[nodiscard]] base::Result<bool> exists(const std::filesystem::path& file);
    [[nodiscard]] base::Status show(const catalog::FileRow& row);
    [[nodiscard]] base::Status hide(const std::string& index, const TreeFile& gone);

    Disk& disk_;
    const blobs::BlobStore& blobs_;
    const std::filesystem::path& tree_;
    base::KeepAlive keep_alive_;
    bool flat_ = false;
    bool made_last_folder_ = false;       // for the last file
    std::set<std::string> cleaned_;       // folders whose leftovers were removed in this run
    std::set<std::string> flat_made_;     // indexes whose flat folder exists
    std::set<std::string> flat_changed_;  // indexes
    std::uint64_t linked_ = 0;
    std::uint64_t removed_ = 0;
};

}  // namespace wheelyard::indexer
