// Limits of builder/governor/admission/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "builder/governor/memory/limits.hpp"

namespace wheelyard::governor {

// Interval between two samples of memory: short enough that compiles cannot fill the room in between, even if
// each allocates as fast as the kernel clears pages.
inline constexpr double fastest_growth_bytes_per_s = 2.0 * gib;  // per compile
inline constexpr std::int64_t min_sample_ms = 50;
inline constexpr std::int64_t max_sample_ms = 500;

// Standard deviations kept free for the summed prediction error of all running compiles. More leaves memory
// unused; less causes more stops and kills.
inline constexpr double margin_deviations = 1.5;

// A surprise: use plus expected growth exceeds the room by more than tolerated_fraction of the reserve, or
// compiles exceed their predictions by more than overrun_fraction of it in total. The limits below are parts of
// the room (surprise.hpp).
inline constexpr double tolerated_fraction = 0.25;
inline constexpr double overrun_fraction = 0.75;    // leads to a kill only, not to a stop
inline constexpr double stop_above = 0.95;          // stop the youngest …
inline constexpr unsigned max_stopped_divisor = 3;  // … or kill it, if more than 1/3 of them are stopped
inline constexpr double kill_above = 0.985;         // kill the youngest and queue it again
inline constexpr double resume_below = 0.85;        // resume the oldest stopped even if it may not fit
inline constexpr double min_retry_growth = 1.5;  // a compile killed at N bytes is retried with room for 1.5 N
inline constexpr unsigned max_memory_kills_shared = 2;  // after these it runs alone
inline constexpr unsigned max_unexplained_retries = 1;  // SIGKILL without a sign of memory pressure
inline constexpr unsigned max_tries = 6;                // for any reason

// A compile killed while alone, below this part of the room without other processes, may still fit later.
inline constexpr double conclusive_kill_fraction = 0.7;

// How long to wait for other processes to free memory when nothing waiting would fit otherwise.
inline constexpr double max_wait_for_others_s = 120;

// The waiting launchers may use at most 1/waiting_divisor of the limit.
inline constexpr std::uint64_t waiting_divisor = 20;

inline constexpr std::uint64_t waiting_launcher_bytes = 400 * kib;  // with the `sh -c` around it
inline constexpr std::uint64_t processes_per_waiting = 2;           // `sh -c` and the launcher
inline constexpr std::uint64_t processes_per_running = 6;           // also driver, front end, assembler …

// How many waiting compiles the broker chooses from. With 1.5 GiB per core or more, 32 per core come within
// 0.5 % of an unlimited choice in simulated builds; with less memory, a larger choice packs better. More
// would slow the build tool, which polls a pipe per child.
inline constexpr unsigned window_per_core = 32;
inline constexpr unsigned roomy_window = 64;    // minimum
inline constexpr unsigned tight_window = 1024;  // minimum with less than roomy_bytes_per_core
inline constexpr double roomy_bytes_per_core = 2.0 * gib;
inline constexpr unsigned max_window = 4096;
inline constexpr unsigned min_window = 2;

// After this many overtaking starts, two full windows, a compile becomes the head of the queue.
inline constexpr unsigned max_overtaken = 2 * max_window;

inline constexpr std::uint64_t max_history_bytes = 64 * mib;
inline constexpr std::size_t max_history_records = 200'000;
inline constexpr std::int64_t history_lock_stale_ms = 60'000;
inline constexpr std::int64_t history_lock_wait_ms = 3'000;

// Shims and libraries in kept_folder(): longer than any build, whose start marks them as used.
inline constexpr std::int64_t unused_days = 30;

}  // namespace wheelyard::governor
