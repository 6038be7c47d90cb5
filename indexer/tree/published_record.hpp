// Reads and writes published.json (published_state.hpp) for one run.
#pragma once

#include <filesystem>

#include "indexer/tree/disk.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

class PublishedRecord {
  public:
    PublishedRecord(Disk& disk, const std::filesystem::path& tree) : disk_(disk), tree_(tree) {}

    // An empty state if the file does not exist. Also removes temporary files of killed runs.
    // Errors: those of parse_published_state and of the disk.
    [[nodiscard]] base::Result<PublishedState> read();
    // Does not write an unchanged state, so a run without events costs no fsync. Durable after the next
    // sync_directory of the tree's state folder.
    [[nodiscard]] base::Status write(const PublishedState& state);
    [[nodiscard]] bool says(const PublishedState& state) const { return state == written_; }

  private:
    Disk& disk_;
    const std::filesystem::path& tree_;
    PublishedState written_;
};

}  // namespace wheelyard::indexer
