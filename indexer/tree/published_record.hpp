// published.json (published_state.hpp) as one run finds it and leaves it.
#pragma once

#include <filesystem>

#include "indexer/tree/disk.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

class PublishedRecord {
  public:
    PublishedRecord(Disk& disk, const std::filesystem::path& tree) : disk_(disk), tree_(tree) {}

    // That of an empty tree where there is none. What a killed run left beside it is removed.
    [[nodiscard]] base::Result<PublishedState> read();
    // What it says already is not written: a run without news costs no fsync. Durable with the next
    // sync_directory of the tree's state folder.
    [[nodiscard]] base::Status write(const PublishedState& state);
    [[nodiscard]] bool says(const PublishedState& state) const { return state == written_; }

  private:
    Disk& disk_;
    const std::filesystem::path& tree_;
    PublishedState written_;
};

}  // namespace wheelyard::indexer
