// What compiles took in earlier builds, in a text file (docs/reference/governor-history.md):
//
//   wheelyard.governor-history/1
//   9f86d081884c7d65 <TAB> 1915628 <TAB> 31991 <TAB> 0 <TAB> 3 <TAB> 20777 <TAB> c++ <TAB> g%2B%2B%2012.2.0
//   <TAB> <TAB> torch/x.cpp key, peak KiB, time ms, at-least KiB, runs, day, language, compiler, GPU
//   architectures, source
//
// It is replaced as a whole, under a lock, after reading it again: a build that dies loses at most its last
// 20 seconds, and two builds lose nothing of each other.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "builder/governor/admission/predict.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::governor {

using History = std::map<std::uint64_t, Record>;

[[nodiscard]] base::Result<History> parse_history(std::string_view text);
[[nodiscard]] std::string render_history(const History& history);

// One thing learnt, to be merged into whatever the file holds by then.
struct Observation {
    std::uint64_t key = 0;
    Record seen;  // peak_bytes and seconds of one run, or min_bytes
};
void merge_observation(History& history, const Observation& observation);
// `from` into `into`: for a key in both, the larger peak.
void merge_history(History& into, const History& from);

// Absent: empty. Unreadable content is moved aside to FILE.broken and named in `complaint`: a history is
// worth a warning, never a build.
[[nodiscard]] History load_history(const std::filesystem::path& file, std::string& complaint);
// Merges under the lock FILE.lock. "lock.held": another build writes just now; with `none` that is found out
// at once, for a loop that must look at memory meanwhile.
enum class LockPatience { none, some };
[[nodiscard]] base::Status store_observations(const std::filesystem::path& file,
                                              const std::vector<Observation>& observations,
                                              const base::Clock& clock,
                                              LockPatience patience = LockPatience::some);
[[nodiscard]] base::Status store_history(const std::filesystem::path& file, const History& added,
                                         const base::Clock& clock);

// `history show|export|import`.
int run_history(const std::vector<std::string>& arguments);
[[nodiscard]] std::filesystem::path default_history_file();

}  // namespace wheelyard::governor
