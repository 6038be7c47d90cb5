// How much the task queue takes, with the reason for each number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::tasks {

inline constexpr std::int64_t max_open_tasks = 10'000;  // a whole matrix; more is a slip of a script
inline constexpr std::int64_t max_open_tasks_of_a_token = 1'000;  // nobody fills the queue alone
// In one answer: rows of words at their longest, a reason of escapes, stay below max_task_document.
inline constexpr std::size_t max_tasks_returned = 100;
inline constexpr std::int64_t max_log_bytes = 16 * base::mib;  // of one attempt: torch's has 5
inline constexpr std::int64_t max_log_pieces = 20'000;         // of it: a month of ticks, not of bytes
inline constexpr std::size_t log_piece_bytes = base::mib;      // told at once
inline constexpr std::int64_t sweep_every_s = 3'600;     // between two looks for what is kept long enough
inline constexpr std::int64_t max_removed_at_once = 50;  // tasks of a transaction, which others wait for
inline constexpr std::int64_t max_log_bytes_removed_at_once = 64 * base::mib;  // no more begun after these
inline constexpr std::size_t max_reason_bytes = 500;

}  // namespace wheelyard::tasks
