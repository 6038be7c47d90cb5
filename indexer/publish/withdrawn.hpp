// Indexes that may not be in a tree: private ones in a tree for everyone, public ones in a tree of private
// indexes.
#pragma once

#include <filesystem>

#include "indexer/tree/disk.hpp"
#include "indexer/tree/published_state.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/catalog/inheritance.hpp"

namespace wheelyard::indexer {

// Removes the folders of indexes that the readers of `inheritance` may not read, and their names from
// `state`. First the front page, which may name them; then everything of each index, also what a killed run
// has not renamed yet. A run after a kill finds the folder again and continues. Durable on return.
// "lock.held": the wheel lists of the tree are being updated.
[[nodiscard]] base::Status withdraw_indexes(Disk& disk, const std::filesystem::path& tree,
                                            const catalog::Inheritance& inheritance, PublishedState& state,
                                            const base::KeepAlive& keep_alive, const base::Clock& clock);

// Removes the names and titles of all other indexes.
void keep_readers(FarmText& farm, const catalog::Inheritance& inheritance);

// Creates the folder of a tree of private indexes, with mode 0700 before anything is in it.
[[nodiscard]] base::Status make_private_folder(Disk& disk, const std::filesystem::path& tree);

}  // namespace wheelyard::indexer
