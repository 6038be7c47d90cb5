// Limits of builder/, with units and reasons.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::builder {

// `run` returns if nothing has changed for this long.
inline constexpr std::int64_t run_patience_ms = 10 * 60'000;
// The interval between ticks of `run`, `reproduce` and `tick --stay`: a twentieth of the time without a
// change, within these. squeue(1) asks for no loops that load slurmctld, and a build of hours needs no tick each
// second.
inline constexpr std::int64_t run_poll_ms = 400;
inline constexpr std::int64_t max_run_poll_ms = 10'000;
inline constexpr std::int64_t run_poll_share = 20;
inline constexpr std::int64_t follow_poll_ms = 500;  // interval between reads of a followed log
// How long `retry`, `retest` and `cancel` wait for the lock of a tick.
inline constexpr std::int64_t max_lock_wait_ms = 30'000;
inline constexpr std::int64_t lock_poll_ms = 100;
inline constexpr std::int64_t max_interval_s = 86'400;            // `run --interval`
inline constexpr std::size_t max_answer_bytes = 4096;             // to a question of `site init`
inline constexpr std::uint64_t max_differences_bytes = 4u << 20;  // differences.txt or .json of an attempt
inline constexpr std::uint64_t max_site_bytes = 4u << 20;         // of a site file with errors

}  // namespace wheelyard::builder
