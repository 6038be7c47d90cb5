// Who writes a published tree: one at a time, on whatever host (lib/base/lock_file.hpp).
#pragma once

#include <filesystem>

#include "lib/base/clock.hpp"
#include "lib/base/lock_file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

class TreeLock {
  public:
    // The tree's state folder must be there. "lock.held": somebody else writes.
    [[nodiscard]] static base::Result<TreeLock> acquire(const std::filesystem::path& tree,
                                                        const base::Clock& clock);
    // Who writes the tree's catalogues, which lie beside its pages: neither waits for the other.
    [[nodiscard]] static base::Result<TreeLock> acquire_catalogues(const std::filesystem::path& tree,
                                                                   const base::Clock& clock);
    // Called often in long work: renews the lock when it is time to. "lock.lost": it is no longer ours.
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

}  // namespace wheelyard::indexer
