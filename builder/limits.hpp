// Limits of builder/, with units and reasons.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::builder {

// `run` returns if nothing has changed for this long.
inline constexpr std::int64_t run_patience_ms = 10 * 60'000;
inline constexpr std::int64_t run_poll_ms = 400;     // interval between ticks of `run`
inline constexpr std::int64_t follow_poll_ms = 500;  // interval between reads of a followed log
// How long `retry`, `retest` and `cancel` wait for the lock of a tick.
inline constexpr std::int64_t max_lock_wait_ms = 30'000;
inline constexpr std::int64_t lock_poll_ms = 100;
inline constexpr std::int64_t max_interval_s = 86'400;             // `run --interval`
inline constexpr std::int64_t task_answer_timeout_ms = 60'000;     // one request to the task service
inline constexpr std::int64_t site_look_timeout_ms = 60'000;       // one command of `site check --report`
inline constexpr std::int64_t report_timeout_ms = 20'000;          // one report to the registry
inline constexpr std::int64_t report_every_ms = 60'000;            // of a `run` in which nothing moves
inline constexpr std::size_t max_report_answer_bytes = 16 * 1024;  // of one command of `site check --report`
inline constexpr std::size_t max_answer_bytes = 4096;              // to a question of `site init`
inline constexpr std::size_t max_token_bytes = 4096;               // a token file that the report hides
inline constexpr std::uint64_t max_differences_bytes = 4u << 20;   // differences.txt or .json of an attempt
inline constexpr std::uint64_t max_site_bytes = 4u << 20;          // of a site file with errors

}  // namespace wheelyard::builder
