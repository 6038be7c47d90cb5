// Limits of the task queue, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::tasks {

inline constexpr std::int64_t max_open_tasks_of_a_token = 1'000;  // no token can fill the queue alone
// Chosen so that a reply with the largest rows fits max_task_document.
inline constexpr std::size_t max_tasks_returned = 100;
inline constexpr std::int64_t max_log_bytes = 16 * base::mib;  // per build; torch's log has 5 MiB
inline constexpr std::int64_t max_log_pieces = 20'000;         // of it: a month of ticks, not of bytes
inline constexpr std::size_t log_piece_bytes = base::mib;      // size of one read
inline constexpr std::int64_t sweep_every_s = 3'600;           // between removals of old tasks
inline constexpr std::int64_t max_removed_at_once = 50;        // per transaction, which blocks other callers
inline constexpr std::int64_t max_log_bytes_removed_at_once =
    64 * base::mib;                                       // a removal run stops after this much
inline constexpr std::int64_t shown_after_end_days = 14;  // so long its readers see how a task ended

// Requests without a token that have not ended: nobody fills the queue with them.
inline constexpr std::int64_t max_open_of_a_stranger = 5;
inline constexpr std::int64_t max_open_of_strangers = 100;
inline constexpr std::int64_t approval_days = 30;  // after that it is refused

// Limits of the builds that sites report.
inline constexpr std::int64_t max_builds = 20'000;                  // older ones that are over make room
inline constexpr std::int64_t max_build_log_bytes = 8 * base::gib;  // of all builds: likewise, their logs
inline constexpr std::size_t max_builds_returned = 200;             // a page of them

}  // namespace wheelyard::tasks
