// The lock of a published tree: one writer at a time, across hosts (lib/base/files/lock_file.hpp).
#pragma once

#include <filesystem>

#include "indexer/tree/limits.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

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

// The server and people's commands publish the same tree: calls `work` until no other process holds its lock, for at
// most max_lock_polls. The last answer is returned.
template <typename Work>
auto in_turn(base::Clock& clock, Work work) -> decltype(work()) {
    for (int polls = 0;; ++polls) {
        auto done = work();
        if (done || done.error().kind != base::ErrorKind::busy || polls == max_lock_polls) return done;
        clock.sleep_ms(lock_poll_ms);
    }
}

}  // namespace wheelyard::indexer
