// What compiles used in earlier builds, in a text file (docs/reference/governor-history.md):
//
//   wheelyard.governor-history/1
//   9f86d081884c7d65 1915628 31991 0 3 20777 c++ g%2B%2B%2012.2.0  torch/x.cpp
//
// The fields are separated by one tab each: key, peak KiB, time ms, at-least KiB, runs, day, language,
// compiler, GPU architectures (empty here), source.
//
// A writer takes the lock, reads the file, merges and replaces it. Concurrent builds therefore keep each
// other's records, and a killed build loses at most flush_history_ms of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "builder/governor/admission/predict.hpp"
#include "builder/governor/memory/limits.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::governor {

inline constexpr std::uint64_t max_history_bytes = 64 * mib;
inline constexpr std::int64_t history_lock_stale_ms = 60'000;

using History = std::map<std::uint64_t, Record>;

[[nodiscard]] base::Result<History> parse_history(std::string_view text);
[[nodiscard]] std::string render_history(const History& history);

// One measurement, to be merged into the file.
struct Observation {
    std::uint64_t key = 0;
    Record seen;  // peak_bytes and seconds of one run, or min_bytes
};
void merge_observation(History& history, const Observation& observation);
// Merges `from` into `into`; the larger peak of a key wins.
void merge_history(History& into, const History& from);

// An absent file is an empty history. An unreadable file yields an empty history and a `warning`; one that
// does not parse is renamed to FILE.broken. A file of another version ("governor.history_version") stays as
// it is: store_observations() and store_history() do not replace it.
[[nodiscard]] History load_history(const std::filesystem::path& file, std::string& warning);
// Merge under the lock FILE.lock. Error "lock.held": another build is writing. With LockPatience::none that
// is reported at once, for a caller that must not block; otherwise after history_lock_wait_ms.
enum class LockPatience { none, some };
[[nodiscard]] base::Status store_observations(const std::filesystem::path& file,
                                              const std::vector<Observation>& observations,
                                              const base::Clock& clock,
                                              LockPatience patience = LockPatience::some);
[[nodiscard]] base::Status store_history(const std::filesystem::path& file, const History& added,
                                         const base::Clock& clock);

// The largest peak of a source that lies below `root`, the folder of the build; 0 if none is known.
[[nodiscard]] double largest_peak_below(const History& history, const std::filesystem::path& root);

// `history show|export|import`.
int run_history(const std::vector<std::string>& arguments);
[[nodiscard]] std::filesystem::path default_history_file();

// The folder of what the governor keeps between builds: its history, its shims and its library.

// The first of these that can be written, or created: wheelyard/governor in XDG_CACHE_HOME,
// .cache/wheelyard/governor in HOME. A node may have no HOME, or not mount it: then a private folder in /tmp.
// Ignores relative paths.
[[nodiscard]] std::filesystem::path kept_folder();

// "/tmp/wheelyard-1000": one for each user.
[[nodiscard]] std::filesystem::path private_folder();

// Creates the folder with mode 0700. Error "governor.folder": another user, or a link, has this name, or
// others can write there; the shims in it could then be another user's programs.
[[nodiscard]] base::Status make_private_folder(const std::filesystem::path& folder);

// Prepares the place of `kept`, a path in kept_folder(): make_private_folder, if it lies in private_folder().
[[nodiscard]] base::Status prepare_kept(const std::filesystem::path& kept);

// Says that a file or folder below it is in use, for remove_unused().
void mark_used(const std::filesystem::path& kept);
// Removes those of `folder` whose name begins with `prefix` and that no build has used for unused_days.
void remove_unused(const std::filesystem::path& folder, std::string_view prefix);

}  // namespace wheelyard::governor
