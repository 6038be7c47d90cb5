// Limits of builder/attempt/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr std::size_t max_attempt_id_bytes = 15;           // PBS job names; also Slurm's and ours
inline constexpr std::int64_t max_memory_mib = 64 * 1024 * 1024;  // of one job: 64 TiB, a slip of the unit
inline constexpr std::size_t max_journal_files = 100'000;

// In the work folder; its absence says that another file system stands there than the one that holds the
// jobs.
inline constexpr const char* work_marker = ".wheelyard-work";
inline constexpr std::int64_t claim_grace_ms = 60'000;  // a claim without owner: the job died in between

// Between ticks that met a registry or index that is down.
inline constexpr std::int64_t wait_first_ms = 2'000;
inline constexpr std::int64_t max_wait_ms = 5 * 60'000;

// Attempts between their beginning and their submission: downloads and unpacked trees of one login node.
inline constexpr int max_preparing = 2;
// Attempts that wait for a source which does not answer: each costs a tick up to a connection's timeout.
inline constexpr int max_waiting_attempts = 50;
inline constexpr std::uint64_t max_record_bytes = base::mib;     // a journal file, an exit record, a claim
inline constexpr std::uint64_t log_tail_bytes = 64 * base::kib;  // read for progress
inline constexpr std::size_t max_error_line_bytes = 400;         // of a log, in a diagnosis
inline constexpr std::size_t max_claims = 1'000;                 // of one site at once: as many as jobs
inline constexpr std::int64_t default_login_minutes = 120;       // of one step: others work there, too

}  // namespace wheelyard::builder
