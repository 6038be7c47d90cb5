// What the end of a job means: from its exit record, the reason for ending it, and the scheduler's status.
#pragma once

#include "builder/attempt/job_files.hpp"
#include "builder/steps/next.hpp"

namespace wheelyard::builder {

// Each returns what the attempt does next; a failed job is such a result. Errors: a file cannot be read or written.

// Whether the job is missing since a minute: one answer may come from an empty cache, and a network file system may show a
// record or a claim late. The first call notes the time in `job.ended`, and Ports::see_job() clears it.
[[nodiscard]] bool is_missing_for_long(Attempt& attempt, const Ports& ports);

// Records what the scheduler granted where it differs from the request; returns whether that is new.
[[nodiscard]] bool note_grant(Attempt& attempt, const Ports& ports, const JobView& job);

// A job in the queue waits, unless it can never run.
[[nodiscard]] base::Result<Next> judge_queued(Attempt& attempt, Ports& ports, const JobView& job);
// There is an exit record.
[[nodiscard]] base::Result<Next> judge_exit(Attempt& attempt, Ports& ports, const ExitRecord& record,
                                            const JobView& job);
// There is neither an exit record nor a job.
[[nodiscard]] base::Result<Next> judge_vanished(Attempt& attempt, Ports& ports, const JobView& job);

// What the file `cut` says: the agent or the batch system asked the job to end, because of its time limit or for a
// reason that the job cannot know.
inline constexpr std::string_view cut_by_time = "time_limit";
inline constexpr std::string_view cut_by_signal = "terminated";

}  // namespace wheelyard::builder
