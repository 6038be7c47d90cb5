// Limits of builder/, each with its unit and its reason.
#pragma once

#include <cstdint>

namespace wheelyard::builder {

// `run` returns when nothing has moved for this long.
inline constexpr std::int64_t run_patience_ms = 10 * 60'000;
inline constexpr std::int64_t run_poll_ms = 400;                // between two looks at the jobs
inline constexpr std::int64_t follow_poll_ms = 500;             // between two looks at a log that is followed
inline constexpr std::int64_t max_interval_s = 86'400;          // of `run --interval`
inline constexpr std::int64_t task_answer_timeout_ms = 60'000;  // of one request to the task service
inline constexpr std::int64_t site_look_timeout_ms = 60'000;    // of one line of `site check`

}  // namespace wheelyard::builder
