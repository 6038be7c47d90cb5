// How long a build would take elsewhere: replays a profile of compiles on so many cores and so much memory,
// through the very Dispatch that governs real builds, and through the ways of building it is compared with.
//
// Model: a compile grows evenly to its peak in the first half of its time and stays there. The governor looks
// at memory as often as in life and does what find_remedy says; a kernel that meets the limit all the same
// kills the largest, which is queued again. A fixed -j dies there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::governor {

struct ProfileRow {
    std::string source;
    double seconds = 0;
    double peak_bytes = 0;
};

// CSV with the columns source, cpu_s, max_rss_kib by name; fields are not quoted.
[[nodiscard]] base::Result<std::vector<ProfileRow>> parse_profile(std::string_view text);
// `count` compiles drawn from `rows` (each ±15 % in time and memory), giants among the last tenth; the same
// for the same seed.
[[nodiscard]] std::vector<ProfileRow> scale_profile(const std::vector<ProfileRow>& rows, std::size_t count,
                                                    std::uint64_t seed);

enum class Policy { governed, fixed_j, fixed_then_j1, oracle };

struct SimulationPlan {
    unsigned cores = 1;
    double limit_bytes = 0;
    Policy policy = Policy::governed;
    unsigned jobs = 1;        // of fixed_j and fixed_then_j1
    bool history = true;      // governed: a build before this one was seen (±2 % memory, ±10 % time)
    double history_part = 1;  // how much of it is known
    std::size_t window = 0;   // so many wait at once, in the profile's order; 0: all
    std::uint64_t seed = 1;
};

struct SimulationResult {
    double makespan_s = 0;
    double bound_s = 0;  // max(Σ time / cores, Σ time × peak / limit, longest compile)
    double high_water_bytes = 0;
    std::uint64_t stops = 0;
    std::uint64_t kills = 0;         // run again, or failed
    std::uint64_t kernel_kills = 0;  // of these
    std::uint64_t failed = 0;        // compiles that the build tool saw fail
    [[nodiscard]] double ratio() const { return bound_s > 0 ? makespan_s / bound_s : 0; }
    [[nodiscard]] bool survived() const { return failed == 0; }
};

[[nodiscard]] SimulationResult simulate(const std::vector<ProfileRow>& rows, const SimulationPlan& plan);

}  // namespace wheelyard::governor
