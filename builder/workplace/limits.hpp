// Limits of builder/workplace/, with units and reasons.
#pragma once

#include <cstdint>

namespace wheelyard::builder {

inline constexpr std::int64_t task_answer_timeout_ms = 60'000;      // one request to the task service
inline constexpr std::int64_t report_timeout_ms = 20'000;           // one report to the registry
inline constexpr std::int64_t report_every_ms = 60'000;             // of a `run` in which nothing moves
inline constexpr std::uint64_t max_report_error_bytes = 16 * 1024;  // report_error.json

}  // namespace wheelyard::builder
