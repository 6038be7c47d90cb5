// Limits of builder/schedule/, with units and reasons.
#pragma once

#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr std::int64_t batch_timeout_ms = 60'000;  // per call of squeue, qstat, sbatch …
inline constexpr std::int64_t machine_query_timeout_ms =
    60'000;                                       // one question of `site check` or `site init`
inline constexpr unsigned max_trial_queries = 3;  // of one job, while a busy batch system does not answer
inline constexpr std::uint64_t max_queue_bytes = 64 * base::mib;  // output of one call
inline constexpr int accounting_days = 60;                        // how far back sacct searches
inline constexpr std::int64_t min_warning_s = 30;                 // before a job's time limit
inline constexpr std::int64_t max_warning_s = 5 * 60;

}  // namespace wheelyard::builder
