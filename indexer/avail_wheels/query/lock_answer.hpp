// What of a lock is here for a node, what is missing, and why. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/query/candidate.hpp"
#include "indexer/avail_wheels/query/fit.hpp"
#include "indexer/avail_wheels/query/query.hpp"
#include "lib/simple/lock.hpp"

namespace wheelyard::avail_wheels {

using simple::Lock;
using simple::LockedPackage;

enum class LockState {
    here,
    other_bytes,  // a wheel of this version runs here, but it is no file of the lock: installers take another
    does_not_run,  // there are wheels of this version, and none runs here
    missing,
    not_of_an_index  // a repository, a folder or an archive
};
[[nodiscard]] std::string_view lock_state_code(LockState state);  // "other_bytes"
[[nodiscard]] std::string_view lock_state_text(LockState state);  // "other bytes"

struct LockedHere {
    const LockedPackage* package = nullptr;
    LockState state = LockState::missing;
    const Candidate* wheel =
        nullptr;  // here and other_bytes: the wheel; does_not_run: the one that comes closest
    std::string why = {};
    bool may_be_built = false;  // a build for this node would bring it
};

// What a lock is asked for: a node and its Pythons (empty: unknown, so that every marker counts).
struct LockTarget {
    std::vector<Python> pythons;
    std::string machine;
};

// "torch==2.6.0", with its marker and the extras and groups that are chosen.
[[nodiscard]] Wanted wanted_of(const LockedPackage& package, const Lock& lock);

// The packages whose markers hold, with the extras and groups that are chosen.
[[nodiscard]] std::vector<const LockedPackage*> packages_for(const Lock& lock, const LockTarget& place);

// Says whether it has the version of one of `packages`.
[[nodiscard]] bool is_locked(const Candidate& wheel, const std::vector<const LockedPackage*>& packages);
[[nodiscard]] LockedVersions locked_versions(const std::vector<const LockedPackage*>& packages);

// One for each of `packages`. `judged`: the wheels of their versions, judged for the node; `others`: wheels
// of these projects of any version, newest first.
[[nodiscard]] std::vector<LockedHere> compare_lock(const std::vector<const LockedPackage*>& packages,
                                                   const LockTarget& place,
                                                   const std::vector<Candidate>& judged,
                                                   const std::vector<Candidate>& others);

// Why installers refuse the whole lock here: its Pythons or those of a package, its environments, two entries
// of one package.
[[nodiscard]] std::vector<std::string> refusals_of_lock(const Lock& lock,
                                                        const std::vector<const LockedPackage*>& packages,
                                                        const LockTarget& place);

// "4 packages of pylock.toml are for this node: 2 here, 1 missing, …; 2 are not (markers, extras, groups)"
[[nodiscard]] std::string summary_of_lock(const std::string& file, const std::vector<LockedHere>& packages,
                                          std::size_t left_out);

}  // namespace wheelyard::avail_wheels
