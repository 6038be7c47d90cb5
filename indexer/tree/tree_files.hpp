// The wheels of a tree: where each is put, with its METADATA and its name in the flat view, and how it leaves
// again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>

#include "indexer/tree/disk.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"
#include "registry/blobs/store.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

class TreeFiles {
  public:
    // `meanwhile` is called now and then during long copies. Borrows all it is given.
    TreeFiles(Disk& disk, const blobs::BlobStore& blobs, const std::filesystem::path& tree,
              Meanwhile meanwhile)
        : disk_(disk), blobs_(blobs), tree_(tree), meanwhile_(std::move(meanwhile)) {}

    void show_flat(bool flat) { flat_ = flat; }

    // In place and durable when it returns. `is_touched`: of this run's events, so that a killed run may have
    // put it there and not come to sync the folder.
    [[nodiscard]] base::Status place(const catalog::FileRow& row, bool is_touched);
    // No page names it any more. `keeps_name`: another file of the index has its name, and so its place in
    // the flat view.
    [[nodiscard]] base::Status retract(const std::string& index, const TreeFile& gone, bool keeps_name);
    // Makes changes of the flat view durable.
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
    Meanwhile meanwhile_;
    bool flat_ = false;
    bool made_last_folder_ = false;       // of a file
    std::set<std::string> cleaned_;       // folders that this run has looked into, once
    std::set<std::string> flat_made_;     // indexes whose flat view has its folder
    std::set<std::string> flat_changed_;  // indexes
    std::uint64_t linked_ = 0;
    std::uint64_t removed_ = 0;
};

}  // namespace wheelyard::indexer
