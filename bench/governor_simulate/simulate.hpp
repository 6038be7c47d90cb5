// Estimates how long a build would take on another machine: replays a profile of compiles on given cores and
// memory, through the Dispatch that governs real builds or through the policies it is compared with.
//
// Model: a compile's memory grows linearly to its peak in the first half of its time and stays there. The
// governor samples memory at the same intervals as in a real build and applies find_remedy. If the limit is
// reached anyway, the kernel kills the largest compile, which is queued again; a fixed -j build dies there.
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

// CSV with the columns source, cpu_s and max_rss_kib, found by name in the first line; fields are not quoted.
[[nodiscard]] base::Result<std::vector<ProfileRow>> parse_profile(std::string_view text);
// `count` compiles drawn from `rows`, each varied by ±15 % in time and memory, with the largest among the
// last tenth. Deterministic for a given seed.
[[nodiscard]] std::vector<ProfileRow> scale_profile(const std::vector<ProfileRow>& rows, std::size_t count,
                                                    std::uint64_t seed);

enum class Policy { governed, fixed_j, fixed_then_j1, oracle };

struct SimulationPlan {
    unsigned cores = 1;
    double limit_bytes = 0;
    Policy policy = Policy::governed;
    unsigned jobs = 1;            // for fixed_j and fixed_then_j1
    bool history = true;          // governed: an earlier build was measured (±2 % memory, ±10 % time)
    double history_fraction = 1;  // part of the compiles that the history has
    std::size_t window = 0;       // compiles that wait at once, in the profile's order; 0: all
    std::uint64_t seed = 1;
};

struct SimulationResult {
    double makespan_s = 0;
    double bound_s = 0;  // max(Σ time / cores, Σ time × peak / limit, longest compile)
    double high_water_bytes = 0;
    std::uint64_t stops = 0;
    std::uint64_t kills = 0;         // then retried or failed
    std::uint64_t kernel_kills = 0;  // part of `kills`
    std::uint64_t failed = 0;        // compiles whose failure the build tool sees
    [[nodiscard]] double ratio() const { return bound_s > 0 ? makespan_s / bound_s : 0; }
    [[nodiscard]] bool survived() const { return failed == 0; }
};

[[nodiscard]] SimulationResult simulate(const std::vector<ProfileRow>& rows, const SimulationPlan& plan);

}  // namespace wheelyard::governor
