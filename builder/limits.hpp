// The builder's limits, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr std::size_t max_attempt_id_bytes = 15;  // PBS job names; also Slurm's and ours
inline constexpr int default_max_attempts = 3;           // of one task, then it is given up with its reason
inline constexpr int default_max_preemptions = 20;   // of one task: no fault of its own, and none for ever
inline constexpr int default_max_node_failures = 5;  // of one task: it may be what brings them down
inline constexpr std::int64_t default_max_walltime_minutes =
    24 * 60;  // of one job: a hung one must not hold its slot
inline constexpr std::int64_t max_walltime_minutes_limit = 30 * 24 * 60;
inline constexpr std::int64_t max_memory_mib = 64 * 1024 * 1024;  // of one job: 64 TiB, a slip of the unit
inline constexpr std::int64_t memory_raise_percent =
    150;  // of the limit or the peak that a build ran out of: few steps, little waste
inline constexpr int max_submits = 3;             // of one attempt whose job never showed a sign of life
inline constexpr int max_steps_per_tick = 16;     // of one attempt; more than there are states
inline constexpr std::size_t max_cells = 10'000;  // of one plan
inline constexpr std::size_t max_journal_files = 100'000;

// In the work folder; its absence says that another file system stands there than the one that holds the
// jobs.
inline constexpr const char* work_marker = ".wheelyard-work";

inline constexpr std::int64_t lock_stale_after_ms =
    15 * 60'000;  // a holder on another host that stopped refreshing
inline constexpr std::int64_t lock_refresh_every_ms = 30'000;  // during long transfers and copies
inline constexpr std::size_t copy_piece_bytes = base::mib;     // of a file, between two signs of life
inline constexpr std::int64_t submit_grace_ms =
    5'000;  // without a claim: the job is started again (harmless, see script.hpp)
inline constexpr std::int64_t queue_submit_grace_ms =
    60'000;  // the same where a batch system says that there is no job: an sbatch of a killed agent may be on
             // its way
inline constexpr std::int64_t word_grace_ms =
    5 * 60'000;  // a failed job's scheduler is waited for so long to say why
inline constexpr std::int64_t batch_timeout_ms = 60'000;          // of one squeue, qstat, sbatch …
inline constexpr std::uint64_t max_queue_bytes = 64 * base::mib;  // what one of them may print
inline constexpr int accounting_days = 60;                        // how far back sacct looks for a job
inline constexpr std::int64_t min_warning_s = 30;                 // before a job's time is up
inline constexpr std::int64_t max_warning_s = 5 * 60;
inline constexpr std::int64_t submit_grace_growth = 8;  // from one start to the next
inline constexpr std::int64_t max_submit_grace_ms = 10 * 60'000;
inline constexpr std::int64_t end_grace_ms = 60'000;    // from "end" to the kill of a job whose time is over
inline constexpr std::int64_t claim_grace_ms = 60'000;  // a claim without owner: the job died in between

inline constexpr int fence_wait_s = 120;  // for a job that a scheduler gave up, to leave the build tree

inline constexpr int max_sends = 10;  // of one wheel, whole or in part; then a person must look
inline constexpr std::uint64_t in_parts_from_bytes =
    8 * base::mib;  // smaller wheels go at once: two round trips less, and little to lose
inline constexpr int max_stuck_parts = 6;            // in a row, of one try: 8 s, a restart of the registry
inline constexpr std::int64_t stuck_pause_ms = 250;  // after the first of them; doubles
inline constexpr std::uint64_t min_moved_bytes = base::mib;  // a try that brought so much is not counted
inline constexpr std::size_t max_upload_id = 64;
inline constexpr std::int64_t upload_visible_ms =
    60 * 60'000;  // a page that lags behind what the registry took
inline constexpr std::int64_t wait_first_ms =
    2'000;  // between ticks that met a registry or index that is down
inline constexpr std::int64_t max_wait_ms = 5 * 60'000;
inline constexpr std::int64_t run_patience_ms =
    10 * 60'000;  // `run` returns when nothing has moved for this long
inline constexpr std::int64_t world_fresh_ms =
    30'000;  // how long an answer of registry and indexes serves the ticks of one `run`
inline constexpr std::int64_t run_poll_ms = 400;        // between two looks at the jobs
inline constexpr std::int64_t follow_poll_ms = 500;     // between two looks at a log that is followed
inline constexpr std::int64_t max_interval_s = 86'400;  // of `run --interval`

inline constexpr std::int64_t default_cache_gib = 50;  // of sources: a few clones of torch
inline constexpr std::int64_t max_cache_gib = 1024 * 1024;
inline constexpr std::int64_t default_trees_gib =
    50;  // of build trees that nobody goes on with: a few of torch
inline constexpr int max_trees_per_tick =
    4;  // measured or removed: one may take a minute on a slow file system
inline constexpr std::int64_t cache_rest_ms = 60 * 60'000;  // a source used since then is not removed
inline constexpr std::uint64_t max_source_bytes = 8 * base::gib;
inline constexpr std::uint64_t max_pyproject_bytes = base::mib;
inline constexpr std::uint64_t max_requirements_bytes =
    16 * base::mib;                                           // a lock with every platform's hashes
inline constexpr std::size_t max_requirements_files = 64;     // that one of a project's includes
inline constexpr std::uint64_t max_record_bytes = base::mib;  // a journal file, an exit record, a claim
inline constexpr std::uint64_t max_token_bytes = 4 * base::kib;
inline constexpr std::uint64_t log_tail_bytes = 64 * base::kib;  // read for progress
inline constexpr std::uint64_t log_scan_bytes = 2 * base::gib;   // read for the first error: seconds
inline constexpr std::size_t context_lines = 4;                  // of a log, before and after its first error
inline constexpr std::size_t max_provenance_lines =
    1'000;  // tools, requirements, and what the job says of its machine
inline constexpr std::size_t max_build_key_bytes = 128;
inline constexpr std::size_t max_log_line_bytes =
    64 * base::kib;                                       // the rest of a longer one is not looked at
inline constexpr std::size_t max_error_line_bytes = 400;  // of a log, in a diagnosis
inline constexpr std::int64_t venv_timeout_ms = 300'000;  // a new venv with pip, on a slow file system
inline constexpr std::int64_t probe_timeout_ms =
    30'000;  // asking a Python about itself, on a cold network file system

inline constexpr std::size_t max_claims = 1'000;  // of one site at once: as many as jobs
inline constexpr std::int64_t signs_of_life = 3;  // in one lease, of a `run`: two may get lost
inline constexpr std::uint64_t log_piece_bytes = 48 * base::kib;  // of one request; the API takes 64 KiB
inline constexpr int max_log_pieces_per_tick = 32;                // of one task: a tick stays short
inline constexpr std::size_t max_outcome_bytes = 60 * base::kib;  // then it goes without its provenance
inline constexpr std::int64_t task_answer_timeout_ms = 60'000;    // of one request to the task service

inline constexpr std::int64_t login_step_silent_ms =
    120'000;  // a step on the login node that has not touched its marker for so long is dead; it touches it
              // every 10 s
inline constexpr int login_step_touch_s = 10;
inline constexpr int login_step_looks = 20;  // of the tick that starts it
inline constexpr std::int64_t login_step_look_ms = 100;
inline constexpr std::uint64_t max_login_starts = 3;  // of one step that never came to an end
inline constexpr int max_login_waits =
    100;  // for a network or disk that a step's log blames: eight hours; then the attempt fails
inline constexpr std::int64_t default_login_minutes = 120;    // of one step: others work there, too
inline constexpr std::int64_t git_ask_timeout_ms = 20'000;    // whether a clone is still what the remote has
inline constexpr std::int64_t git_look_timeout_ms = 120'000;  // listing tags
inline constexpr std::int64_t git_check_timeout_ms =
    5 * 60'000;  // of every file of a clone, on a slow file system; less than lock_stale_after_ms
inline constexpr int max_test_nodes = 1024;                   // of one multi-node test
inline constexpr std::int64_t site_look_timeout_ms = 60'000;  // of one line of `site check`

}  // namespace wheelyard::builder
