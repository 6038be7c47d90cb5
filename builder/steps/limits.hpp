// Limits of builder/steps/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::builder {

// Lines of built_by: tools, requirements, and facts about the job's machine.
inline constexpr std::size_t max_provenance_lines = 1'000;

inline constexpr int max_submits = 3;  // of one attempt whose job never began to run

// After this time without a claim, the job is started again (harmless, see script.hpp).
inline constexpr std::int64_t submit_grace_ms = 5'000;
// The same if a batch system reports no job: an sbatch of a killed agent may still arrive.
inline constexpr std::int64_t queue_submit_grace_ms = 60'000;
inline constexpr std::int64_t submit_grace_growth = 8;  // factor from one start to the next
inline constexpr std::int64_t max_submit_grace_ms = 10 * 60'000;

// How long to wait for the scheduler to report why a job failed.
inline constexpr std::int64_t scheduler_status_grace_ms = 5 * 60'000;
// From the request to end until the kill of an overdue job.
inline constexpr std::int64_t end_grace_ms = 60'000;

inline constexpr int max_sends = 10;  // of one wheel, whole or in part; then a person must act
// How long a page may lag behind an accepted upload.
inline constexpr std::int64_t upload_visible_ms = 60 * 60'000;

}  // namespace wheelyard::builder
