// The lock is renewed at a quarter of the time after which others consider it stale.
#include "indexer/tree/tree_lock.hpp"

#include "indexer/tree/limits.hpp"
#include "indexer/tree/paths.hpp"

namespace wheelyard::indexer {

base::Result<TreeLock> TreeLock::acquire(const std::filesystem::path& tree, const base::Clock& clock) {
    return acquire_file(state_folder(tree) / "lock", clock);
}

base::Result<TreeLock> TreeLock::acquire_wheel_lists(const std::filesystem::path& tree,
                                                     const base::Clock& clock) {
    return acquire_file(wheel_lists_folder(tree) / "lock", clock);
}

base::Result<TreeLock> TreeLock::acquire_file(const std::filesystem::path& file, const base::Clock& clock) {
    WHEELYARD_ASSIGN(auto lock, base::LockFile::acquire(file, clock, lock_stale_after_ms));
    return TreeLock(std::move(lock), clock);
}

base::Status TreeLock::renew() {
    const auto since = clock_.now() - renewed_;
    if (since >= 0 && since < lock_stale_after_ms * 1000 / 4) return {};  // the clock may step back
    renewed_ = clock_.now();
    return lock_.refresh(clock_);
}

}  // namespace wheelyard::indexer
