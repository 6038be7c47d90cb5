// What a batch system runs: job.sh, which starts the build script of one attempt in a process group of its
// own and passes on to it that its time is nearly up. The build script knows nothing of schedulers. Pure.
//
//     Slurm, PBS ─► job.sh ─► script.sh ─► the build
//                     └ a signal: the word into `cut`, then TERM to the whole group, so that script.sh can
//                       still write its exit record
//
// bash answers a signal only between two commands; job.sh waits for the build in the background, so it
// answers at once (sbatch(1), --signal=B:).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "builder/scheduler.hpp"

namespace wheelyard::builder {

struct JobScriptInput {
    const JobRequest& job;
    std::string header;         // the #SBATCH or #PBS lines
    bool warns_itself = false;  // the batch system cannot warn before the end: job.sh sets an alarm
};
[[nodiscard]] std::string render_job_script(const JobScriptInput& input);

// The job's environment as bash that job.sh reads; mode 0600, for an index's URL may hold a password. It does
// not depend on what a batch system passes on, and stands in nothing that other users can ask for.
[[nodiscard]] std::string render_job_environment(const EnvironmentMap& environment);

// How long before its time is up a job is told: a tenth of its time, at least long enough to end in order.
[[nodiscard]] std::int64_t warning_before_end_s(std::int64_t max_walltime_minutes);

// Writes both into the attempt's folder.
[[nodiscard]] base::Status write_job_script(const JobScriptInput& input);

}  // namespace wheelyard::builder
