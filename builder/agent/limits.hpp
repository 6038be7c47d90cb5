// Limits of builder/agent/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr int max_submits = 3;          // of one attempt whose job never showed a sign of life
inline constexpr int max_steps_per_tick = 16;  // of one attempt; more than there are states

// A holder on another host that stopped refreshing.
inline constexpr std::int64_t lock_stale_after_ms = 15 * 60'000;
inline constexpr std::int64_t lock_refresh_every_ms = 30'000;  // during long transfers and copies

// Without a claim: the job is started again (harmless, see script.hpp).
inline constexpr std::int64_t submit_grace_ms = 5'000;

// The same where a batch system says that there is no job: an sbatch of a killed agent may be on its way.
inline constexpr std::int64_t queue_submit_grace_ms = 60'000;

// A failed job's scheduler is waited for so long to say why.
inline constexpr std::int64_t word_grace_ms = 5 * 60'000;
inline constexpr std::int64_t submit_grace_growth = 8;  // from one start to the next
inline constexpr std::int64_t max_submit_grace_ms = 10 * 60'000;
inline constexpr std::int64_t end_grace_ms = 60'000;  // from "end" to the kill of a job whose time is over
inline constexpr int max_sends = 10;  // of one wheel, whole or in part; then a person must look

// A page that lags behind what the registry took.
inline constexpr std::int64_t upload_visible_ms = 60 * 60'000;

// How long an answer of registry and indexes serves the ticks of one `run`.
inline constexpr std::int64_t world_fresh_ms = 30'000;

// Measured or removed: one may take a minute on a slow file system.
inline constexpr int max_trees_per_tick = 4;

// Tools, requirements, and what the job says of its machine.
inline constexpr std::size_t max_provenance_lines = 1'000;
inline constexpr std::int64_t signs_of_life = 3;  // in one lease, of a `run`: two may get lost
inline constexpr std::uint64_t log_piece_bytes = 48 * base::kib;  // of one request; the API takes 64 KiB
inline constexpr int max_log_pieces_per_tick = 32;                // of one task: a tick stays short
inline constexpr std::size_t max_outcome_bytes = 60 * base::kib;  // then it goes without its provenance

// One error after another that may pass, of an attempt without a job: three days; then the attempt fails.
inline constexpr std::int64_t max_error_wait_ms = std::int64_t{3} * 24 * 60 * 60'000;

// For a network or disk that a step's log blames: eight hours; then the attempt fails.
inline constexpr int max_login_waits = 100;

}  // namespace wheelyard::builder
