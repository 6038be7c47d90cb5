// Limits of builder/schedule/, each with its unit and its reason.
#pragma once

#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr std::int64_t batch_timeout_ms = 60'000;          // of one squeue, qstat, sbatch …
inline constexpr std::uint64_t max_queue_bytes = 64 * base::mib;  // what one of them may print
inline constexpr int accounting_days = 60;                        // how far back sacct looks for a job
inline constexpr std::int64_t min_warning_s = 30;                 // before a job's time is up
inline constexpr std::int64_t max_warning_s = 5 * 60;

}  // namespace wheelyard::builder
