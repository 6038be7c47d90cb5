// Limits of builder/attempt/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr std::size_t max_attempt_id_bytes = 15;           // the limit of PBS for job names
inline constexpr std::int64_t max_memory_mib = 64 * 1024 * 1024;  // of one job; 64 TiB hints at a wrong unit

// A file in the work folder. If it is missing, the file system with the jobs is not mounted there.
inline constexpr const char* work_marker = ".wheelyard-work";
// A claim without owner, or a job that its scheduler does not know, for this long: the job is dead.
inline constexpr std::int64_t claim_grace_ms = 60'000;

// Backoff between ticks while a registry or index is down.
inline constexpr std::int64_t wait_first_ms = 2'000;
inline constexpr std::int64_t max_wait_ms = 5 * 60'000;
// An attempt without a job fails after three days of errors that may pass.
inline constexpr std::int64_t max_error_wait_ms = std::int64_t{3} * 24 * 60 * 60'000;
// A build that failed after longer than this, for a reason that no rule of the doctor knows, is not built
// again: the next hour would most likely be lost too.
inline constexpr std::int64_t max_unexplained_build_ms = std::int64_t{60} * 60'000;
// Tries while the log of a step on the login node blames the network or the machine: about eight hours; then
// the attempt fails.
inline constexpr int max_login_waits = 100;

// Failures of one cell for which its log blames the network: with a growing wait before each, weeks.
inline constexpr int max_network_failures = 40;
inline constexpr std::int64_t network_wait_first_ms = 60'000;
inline constexpr std::int64_t max_network_wait_ms = std::int64_t{12} * 60 * 60'000;

// A folder with less room is full: an error that follows is its consequence.
inline constexpr std::uint64_t min_free_bytes = base::mib;

// Attempts that are in preparation at once: downloads and unpacked trees on one login node.
inline constexpr int max_preparing = 2;
// Attempts that wait for a source that does not answer: each delays a tick by up to one connection timeout.
inline constexpr int max_waiting_attempts = 50;
inline constexpr std::uint64_t max_record_bytes = base::mib;       // a journal file, an exit record, a claim
inline constexpr std::uint64_t log_tail_bytes = 64 * base::kib;    // read to report progress
inline constexpr std::uint64_t course_log_bytes = 16 * base::mib;  // read to report phases and memory
inline constexpr std::size_t max_error_line_bytes = 400;           // of a log, in a diagnosis
inline constexpr std::size_t max_claims = 1'000;  // of one site at once; max_jobs has the same limit
inline constexpr std::int64_t default_login_minutes = 120;  // of one step: login nodes are shared

}  // namespace wheelyard::builder
