// The state of a cell that follows from its attempts. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "builder/plan/plan.hpp"

namespace wheelyard::builder {

// The number of limits for failures: max_attempts, max_preemptions and max_node_failures of a site file, and
// max_network_failures.
inline constexpr std::size_t failure_bounds = 4;

// Attempts that `retry` or `retest` superseded do not count.
struct CellHistory {
    // By number, not by ID: IDs sort by the clock, and the clocks of two login nodes differ.
    const Attempt* last = nullptr;
    const Attempt* before_last = nullptr;           // the attempt before that one
    std::array<int, failure_bounds> failures = {};  // counted against each limit
    std::vector<std::int64_t> time_limits = {};     // in minutes, of the builds that reached theirs
    [[nodiscard]] int network_failures() const;
};
[[nodiscard]] CellHistory history_of(const std::string& cell, const std::vector<Attempt>& attempts);

// Sets the cell's attempt to the last one. If that is in progress, sets state and reason and returns true.
[[nodiscard]] bool judge_active(Cell& cell, const CellHistory& history);

// Sets the cell to wanted (with the reason `why` if no attempt failed), or to given up after a permanent
// failure, too many failures, the same error twice, or an unexplained failure after a long build. After
// failures of the network the cell is held, longer each time; `now` 0: whatever the time is.
void judge_failures(Cell& cell, const CellHistory& history, const Site& site, const std::string& why,
                    base::UnixMicros now = 0);

// The wheels that the attempts uploaded to the site's index: how many of them it shows, how many not, and of
// how many the page is not known.
struct Uploaded {
    std::size_t shown = 0;
    std::size_t lost = 0;
    std::size_t unknown = 0;
    // As the store of another registry would.
    [[nodiscard]] bool has_lost_all() const { return lost > 0 && shown == 0 && unknown == 0; }
};
[[nodiscard]] Uploaded uploaded_wheels(const World& world, const Site& site);

// What a person has to decide about a cell whose last attempt is `attempt`, with commands to paste; empty:
// nothing, or it is not the cell's last.
[[nodiscard]] std::string decision_for_person(const Attempt& attempt, const std::vector<Attempt>& attempts,
                                              const Site& site);

}  // namespace wheelyard::builder
