// Limits of builder/agent/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr int max_submits = 3;          // of one attempt whose job never began to run
inline constexpr int max_steps_per_tick = 16;  // of one attempt; greater than the number of states

// The age after which a lock of another host is stale if it is not refreshed.
inline constexpr std::int64_t lock_stale_after_ms = 15 * 60'000;
inline constexpr std::int64_t lock_refresh_every_ms = 30'000;  // during long transfers and copies

// After this time without a claim, the job is started again (harmless, see script.hpp).
inline constexpr std::int64_t submit_grace_ms = 5'000;

// The same if a batch system reports no job: an sbatch of a killed agent may still arrive.
inline constexpr std::int64_t queue_submit_grace_ms = 60'000;

// How long to wait for the scheduler to report why a job failed.
inline constexpr std::int64_t scheduler_status_grace_ms = 5 * 60'000;
inline constexpr std::int64_t submit_grace_growth = 8;  // factor from one start to the next
inline constexpr std::int64_t max_submit_grace_ms = 10 * 60'000;
inline constexpr std::int64_t end_grace_ms =
    60'000;                           // from the request to end until the kill of an overdue job
inline constexpr int max_sends = 10;  // of one wheel, whole or in part; then a person must act

// How long a page may lag behind an accepted upload.
inline constexpr std::int64_t upload_visible_ms = 60 * 60'000;

// How long the ticks of one `run` reuse the answers of the registry and the indexes.
inline constexpr std::int64_t world_fresh_ms = 30'000;

// Trees measured or removed: each may take a minute on a slow file system.
inline constexpr int max_trees_per_tick = 4;

// Lines of built_by: tools, requirements, and facts about the job's machine.
inline constexpr std::size_t max_provenance_lines = 1'000;
inline constexpr std::int64_t signs_of_life = 3;  // renewals per lease in a `run`: two may fail
inline constexpr std::uint64_t log_piece_bytes = 48 * base::kib;  // per request; the API accepts 64 KiB
inline constexpr int max_log_pieces_per_tick = 32;                // per task, to keep ticks short
inline constexpr std::size_t max_outcome_bytes =
    60 * base::kib;  // a larger outcome is sent without its provenance

// An attempt without a job fails after three days of errors that may pass.
inline constexpr std::int64_t max_error_wait_ms = std::int64_t{3} * 24 * 60 * 60'000;

// Tries while a step's log blames the network or the disk: about eight hours; then the attempt fails.
inline constexpr int max_login_waits = 100;

}  // namespace wheelyard::builder
